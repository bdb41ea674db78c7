import type { Problem } from '../../kernel/errors.ts'
import { nearest } from '../../kernel/suggest.ts'
import { parseUntil } from '../rule/until.ts'

/**
 * Collects the comments above a line, and gives the line the moment that one of them names. Reads
 * `# postern: until TIME`. Whatever looks like an attempt to write one is an error: read as an
 * ordinary comment, it would leave a permanent grant that its author believes to be temporary.
 */
export function createUntilComments(file: string, report: (problem: Problem) => void) {
  let pending: { readonly until: number; readonly line: number } | undefined

  return {
    /** Takes a comment, from its `#` on. */
    take(comment: string, line: number) {
      if (!looksLikeUntil(comment)) return
      const [, text] = exactForm.exec(comment) ?? []
      const until = text === undefined ? wrongForm : parseUntil(text)
      if (typeof until === 'string') report({ file, line, message: until })
      else if (pending !== undefined) report({ file, line, message: twice(pending.line) })
      else pending = { until, line }
    },
    /** The moment for the line below the comments, and where it was named. */
    claim() {
      const claimed = pending
      pending = undefined
      return claimed
    },
    /** Reports a comment that has no line below it. */
    drop() {
      if (pending !== undefined) report({ file, line: pending.line, message: nothingBelow })
      pending = undefined
    },
  }
}

const exactForm = /^#\s*postern:\s*until\s+(\S+)$/

/**
 * Whether the author of a comment probably meant that a line expires, or a reader would believe so:
 * letters that only look like "postern" must not make a grant permanent that looks temporary.
 */
export function looksLikeUntil(comment: string): boolean {
  // Cut before it is normalized, which can make a text eighteen times longer.
  const start = comment.replaceAll(invisible, '').replace(/^[#;\s]+/, '')
  const visible = start.replaceAll(/\s+/g, ' ').slice(0, 200).normalize('NFKC')
  const [, name = '', colon = '', text = ''] = directive.exec(visible) ?? []
  const [word = ''] = text.toLowerCase().split(/[\s:=]/)
  if (name.toLowerCase() !== 'postern') return colon !== '' && word === 'until' && isLookalike(name)
  if (word === 'until') return true
  if (colon === '' || word === 'ignore' || word === 'empty') return false
  return nearest(word, ['until']) !== undefined || otherWords.test(text)
}

const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const directive = /^([^\s:=]+)\s*([:=]?)\s*(.*)$/s
const otherWords = /^(?:till?\b|expir|\d{4}-)|\buntil\b/i

function isLookalike(name: string): boolean {
  return nearest(name, ['postern']) !== undefined || /[^\p{ASCII}]/u.test(name)
}

const wrongForm =
  'invalid comment: write exactly "# postern: until 2026-12-01", or a time such as 2026-12-01T18:00:00Z, and nothing else on the line'
const nothingBelow =
  '"# postern: until" has no line below it that could expire: write it directly above a p line, a g line or an exclusion, without a blank line between'

function twice(line: number): string {
  return `line ${line} already says until when the line below is valid: keep one of the two comments`
}

/** Reports an attempt at the end of a line, or in a file without lines that can expire. */
export const onlyAboveLines =
  '"# postern: until" needs a line of its own, directly above a p line, a g line or an exclusion'

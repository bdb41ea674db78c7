import type { Problem } from '../../kernel/errors.ts'
import { createUntilComments, looksLikeUntil, onlyAboveLines } from './until-comments.ts'

/**
 * Reads the comments `# postern: until TIME` of an exclusion list: the moment for each line on which
 * an entry begins. Goes by lines, because YAML attaches a comment to whatever follows it.
 */
export function exclusionExpiry(
  { name, text }: { readonly name: string; readonly text: string },
  entryLines: readonly number[],
  report: (problem: Problem) => void,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  const comments = createUntilComments(name, report)
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const line = index + 1
    const content = raw.trim()
    if (content.startsWith('#')) {
      comments.take(content, line)
      continue
    }
    const hash = content.indexOf('#')
    if (hash !== -1 && looksLikeUntil(content.slice(hash))) {
      report({ file: name, line, message: onlyAboveLines })
    }
    // The mapping of an entry may begin on the line below its dash.
    if (content === '-') continue
    const isEntry = entryLines.filter((each) => each === line).length === 1
    if (!isEntry) comments.drop()
    else {
      const limit = comments.claim()
      if (limit !== undefined) found.set(line, limit.until)
    }
  }
  comments.drop()
  return found
}

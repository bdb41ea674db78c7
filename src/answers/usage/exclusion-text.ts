import { isSeq, type Node, parseDocument } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import type { Exclusion } from '../../policy/rule/rule.ts'
import { parseExclusions } from '../../policy/set/exclusions.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { withoutLines } from './removed-lines.ts'

/**
 * An exclusion list without some of its entries. Removes whole lines where each entry has lines of its
 * own, so that the rest stays as it was written; other styles of YAML are written anew.
 */
export function withoutEntries(
  file: PolicyFile,
  isGone: (entry: Exclusion) => boolean,
): PolicyFile {
  const entries = parseExclusions(file, () => {})
  const gone = entries.filter(isGone)
  if (gone.length === 0) return file
  const document = parseDocument(file.text, { schema: 'failsafe' })
  const { contents } = document
  if (!isSeq(contents)) return file
  const isGoneAt = (index: number) => gone.some((each) => each === entries[index])

  const text = withoutLines(
    file.text,
    linesOf(
      file.text,
      contents.items.filter((_, at) => isGoneAt(at)),
    ),
  )
  const problems: Problem[] = []
  const left = parseExclusions({ ...file, text }, (problem) => problems.push(problem))
  const isRight = problems.length === 0 && left.length === entries.length - gone.length
  if (isRight) return { ...file, text }
  contents.items = contents.items.filter((_, at) => !isGoneAt(at))
  return { ...file, text: String(document) }
}

/** The numbers of the lines that these nodes are on, with the line above that has only their dash. */
function linesOf(text: string, nodes: readonly unknown[]): ReadonlySet<number> {
  const texts = text.split('\n')
  const lines = new Set<number>()
  for (const node of nodes) {
    const [start, end] = (node as Partial<Node>).range ?? [0, 0]
    const first = lineAt(text, start)
    const last = lineAt(text, start + text.slice(start, end).trimEnd().length)
    for (let line = first; line <= last; line++) lines.add(line)
    if (texts[first - 2]?.trim() === '-') lines.add(first - 1)
  }
  return lines
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    line++
  return line
}

import { InvalidInput } from '../../../operations/invalid-input.ts'
import type { policyMatrix } from '../../../operations/policy/descriptions.ts'
import { json, printable } from '../../format.ts'
import { noteLines, type ViewOf } from '../../view.ts'
import { formatCsv } from '../csv.ts'
import { formatHtml } from './html.ts'
import { accessWords, cellsOf, legend, type Sheet } from './sheet.ts'
import { formatText } from './text.ts'

type View = ViewOf<typeof policyMatrix, string>

/** With `hasNotes`, the text has the notes inside. */
function shownBy(format: (sheet: Sheet) => string, hasNotes = false): View['text'] {
  return ({ document, shown = '' }, { compact }) => {
    if (compact) throw new InvalidInput(undefined, '--compact is for --output json')
    const out = format({ ...document, policy: shown })
    return { out, err: hasNotes ? '' : noteLines(document.notes) }
  }
}

export const policyMatrixView: View = {
  json: ({ document }) => json(document),
  text: shownBy(formatText),
  csv: shownBy(formatLines),
  markdown: shownBy(formatMarkdown, true),
  html: shownBy(formatHtml, true),
}

/** A line for each operation, and a column for each role. */
function formatLines(sheet: Sheet): string {
  const { roles, operations } = sheet
  const titles = ['method', 'path', 'access', 'served by', 'exact', ...roles]
  const rows = operations.map((operation) => [
    operation.method,
    operation.path,
    [...operation.access, ...(operation.isFixedResponse ? ['fixed-response'] : [])].join(' '),
    operation.servedBy.join(' '),
    operation.isExact ? 'yes' : 'no',
    ...cellsOf(operation, sheet),
  ])
  return formatCsv([titles, ...rows])
}

/** A table with a row for each operation. All text from files is in code, where nothing is markup. */
function formatMarkdown(sheet: Sheet): string {
  const { policy, roles, operations, notes } = sheet
  const titles = ['Operation', 'Access', ...roles.map(code)]
  const rows = operations.map((operation) => [
    code(`${operation.method} ${operation.path}`),
    accessWords(operation).join(', '),
    ...cellsOf(operation, sheet).map((word) => (word === 'no' ? '' : word)),
  ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [
    `### Access matrix\n\nPolicy ${code(policy)}.\n\n`,
    line(titles),
    line(titles.map(() => '---')),
    ...rows.map(line),
    '\n',
    ...legend.map(([word, { meaning }]) => `- ${word === 'no' ? 'empty' : word}: ${meaning}\n`),
    ...notes.map((note) => `- Note: ${code(note)}\n`),
  ].join('')
}

/** A code span that its text cannot end. A table also splits at a pipe in code. */
function code(text: string): string {
  const shown = printable(text).replaceAll('|', '\\|')
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  return longest === 0 ? `${ticks}${shown}${ticks}` : `${ticks} ${shown} ${ticks}`
}

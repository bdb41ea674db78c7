import { printable } from '../../format.ts'
import { accessWords, cellsOf, legend, type Sheet } from './sheet.ts'

/** A table with a row for each operation. All text from files is in code, where nothing is markup. */
export function formatMarkdown(sheet: Sheet): string {
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

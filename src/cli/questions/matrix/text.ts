import { count, formatTable, printable } from '../../format.ts'
import { accessWords, cellForms, cellsOf, legend, type Sheet } from './sheet.ts'

/** Wide enough for most terminals; more roles go into another block of the same operations. */
const width = 120

/** Tables of operations and roles, as many side by side as fit on a line. */
export function formatText(sheet: Sheet): string {
  const { policy, roles, operations } = sheet
  const cells = operations.map((operation) => cellsOf(operation, sheet))
  const titles = operations.map((operation) => [
    operation.method,
    operation.path,
    accessWords(operation).join(', '),
  ])
  const blocks = blocksOf(sheet).map(({ from, to }) =>
    formatTable(
      [
        ['METHOD', 'PATH', 'ACCESS', ...roles.slice(from, to)],
        ...titles.map((title, at) => [
          ...title,
          ...(cells[at] ?? []).slice(from, to).map((word) => cellForms[word].text),
        ]),
      ],
      '  ',
    ),
  )
  const used = new Set(cells.flat())
  return [
    `${count(roles.length - 1, 'role')} and admin, ${count(operations.length, 'operation')}\n`,
    formatTable([['policy', policy]], '  '),
    blocks.join('\n'),
    formatTable(legendRows(used), '  '),
  ].join('')
}

/** One row for a mark, although three kinds share `part`. */
function legendRows(used: ReadonlySet<string>): string[][] {
  const rows = new Map<string, string>()
  for (const [word, { text, meaning }] of legend) {
    if (used.has(word)) rows.set(text, text === 'part' ? 'some of the calls' : meaning)
  }
  return [...rows]
}

function blocksOf({ roles, operations }: Sheet): { readonly from: number; readonly to: number }[] {
  const widest = (texts: readonly string[]) => Math.max(4, ...texts.map((text) => text.length))
  const paths = operations.map(({ path }) => path)
  const needs = operations.map((operation) => accessWords(operation).join(', '))
  const room = Math.max(20, width - widest(paths) - widest(needs) - 14)
  const blocks: { from: number; to: number }[] = []
  let left = 0
  for (const [at, roleKey] of roles.entries()) {
    const taken = Math.max(4, printable(roleKey).length) + 2
    const block = blocks.at(-1)
    if (block === undefined || left < taken) {
      blocks.push({ from: at, to: at + 1 })
      left = room - taken
    } else {
      block.to = at + 1
      left -= taken
    }
  }
  return blocks
}

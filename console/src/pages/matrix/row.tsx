import { Component } from 'preact'
import type { CompactMatrix, CompactOperation } from '#client'
import type { MatrixRole } from '../../lib/matrix-filters.ts'
import type { Window } from '../../lib/window.ts'
import { type CellWord, marks } from './marks.ts'

interface RowProps {
  readonly row: number
  readonly operation: CompactOperation
  readonly roles: readonly MatrixRole[]
  readonly letters: CompactMatrix['cells']
  readonly columns: Window
  /** The column that the keyboard is at; -1: it is in another row. */
  readonly active: number
  readonly words: Readonly<Record<CellWord, string>>
}

/** One operation. A class, because only it can skip rendering: scrolling down leaves most rows as they are. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, operation, roles, columns, active, letters, words } = this.props
    return (
      next.row !== row ||
      next.operation !== operation ||
      next.roles !== roles ||
      next.columns.from !== columns.from ||
      next.columns.to !== columns.to ||
      next.active !== active ||
      next.letters !== letters ||
      next.words !== words
    )
  }

  override render({ row, operation, roles, columns, active, letters, words }: RowProps) {
    const { method, path, access, cells } = operation
    return (
      <tr data-row={row} aria-rowindex={row + 2}>
        <th scope="row" aria-colindex={1} title={`${method} ${path} (${access.join(', ')})`}>
          <span class="matrix-method">{method}</span> {path}
        </th>
        <td aria-hidden="true" />
        {roles.slice(columns.from, columns.to).map(({ place }, at) => {
          const column = columns.from + at
          const word = letters[cells[place] ?? ''] ?? 'no'
          const [sign, name] = marks[word]
          return (
            <td
              key={column}
              // The only one that something refers to: thousands would slow down scrolling.
              id={column === active ? `matrix-${row}-${column}` : undefined}
              class={column === active ? `${name} active` : name}
              data-column={column}
              aria-colindex={column + 2}
              aria-label={words[word]}
            >
              {sign}
            </td>
          )
        })}
        <td aria-hidden="true" />
      </tr>
    )
  }
}

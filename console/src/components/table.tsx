import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { nextSorting, type Sorting, sorted } from '../lib/sorting.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** What the column sorts by. Absent: it does not sort. */
  readonly sort?: (row: Row) => string | number | undefined
  readonly isNumeric?: boolean
}

interface TableProps<Row> {
  /** Says what the table lists, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row, index: number) => string | number
  readonly initial?: Sorting
}

/** More rows would make each change of the page slow. */
const rowsAtOnce = 100

/** A table that sorts by its headings. The arrow keys move between the links and buttons of its rows. */
export function Table<Row>({ caption, columns, rows, keyOf, initial }: TableProps<Row>) {
  const texts = useTexts(commonTexts)
  const [sorting, setSorting] = useState(initial)
  const [shown, setShown] = useState(rowsAtOnce)
  const ordered = useMemo(() => {
    const sortValue = columns.find(({ id }) => id === sorting?.column)?.sort
    return sortValue === undefined ? rows : sorted(rows, sortValue, sorting?.isDescending === true)
  }, [rows, columns, sorting])
  const more = Math.min(rowsAtOnce, ordered.length - shown)

  return (
    <div class="table-frame">
      <table class="table">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading
                key={column.id}
                column={column}
                sorting={sorting}
                onSort={() => setSorting(nextSorting(sorting, column.id))}
              />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={moveByArrows}>
          {ordered.slice(0, shown).map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map(({ id, title, cell, isNumeric }) => (
                <td key={id} data-label={title} class={isNumeric ? 'number' : undefined}>
                  <div class="cell">{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + rowsAtOnce)}>
          {texts.showMore(more)}
        </button>
      )}
    </div>
  )
}

interface HeadingProps<Row> {
  readonly column: Column<Row>
  readonly sorting: Sorting | undefined
  readonly onSort: () => void
}

function Heading<Row>({ column, sorting, onSort }: HeadingProps<Row>) {
  const { id, title, sort, isNumeric } = column
  const order = sorting?.column !== id ? 'none' : sorting.isDescending ? 'descending' : 'ascending'
  const className = isNumeric ? 'number' : undefined
  if (sort === undefined) {
    return (
      <th scope="col" class={className}>
        {title}
      </th>
    )
  }
  return (
    <th scope="col" class={className} aria-sort={order}>
      <button type="button" class="sort" onClick={onSort}>
        {title}
      </button>
    </th>
  )
}

const moves: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 }

function moveByArrows(event: KeyboardEvent): void {
  const step = moves[event.key]
  const from = event.target
  if (step === undefined || !(from instanceof HTMLElement) || !from.matches(stops)) return
  const row = from.closest('tr')
  const place = row === null ? -1 : [...row.querySelectorAll(stops)].indexOf(from)
  let next = row
  // Rows without a stop are skipped.
  do {
    next = (step === 1 ? next?.nextElementSibling : next?.previousElementSibling) as typeof next
    const targets = [...(next?.querySelectorAll<HTMLElement>(stops) ?? [])]
    const target = targets[place] ?? targets.at(-1)
    if (target === undefined) continue
    target.focus()
    event.preventDefault()
    return
  } while (next !== null && next !== undefined)
}

const stops = 'a[href], button:not(:disabled)'

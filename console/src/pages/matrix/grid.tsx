import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { CompactMatrix, CompactOperation } from '#client'
import { type Cell, movedCell } from '../../lib/grid-keys.ts'
import { exampleCall, type MatrixRole } from '../../lib/matrix-filters.ts'
import { revealOffset, type Window, windowOf } from '../../lib/window.ts'
import { open } from '../../router.ts'
import { useTexts } from '../../texts/texts.ts'
import { Row } from './row.tsx'
import { texts as bilingual } from './texts.ts'

interface GridProps {
  readonly operations: readonly CompactOperation[]
  readonly roles: readonly MatrixRole[]
  readonly letters: CompactMatrix['cells']
  readonly host: string | undefined
}

/** Pixels, equal to those in the style sheet. */
const size = { row: 24, column: 26, head: 136 }

/** Only the cells on the screen exist, however many roles and operations the policy has. */
export function Grid({ operations, roles, letters, host }: GridProps) {
  const texts = useTexts(bilingual)
  const frame = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  const { rows, columns } = useWindows(frame, operations.length, roles.length)
  const last = { row: operations.length - 1, column: roles.length - 1 }
  const current = {
    row: Math.min(active.row, last.row),
    column: Math.min(active.column, last.column),
  }

  const explain = useCallback(
    ({ row, column }: Cell) => {
      const [operation, role] = [operations[row], roles[column]?.role]
      if (operation !== undefined) open('can', { role, ...exampleCall(operation), host })
    },
    [operations, roles, host],
  )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      explain(current)
      return
    }
    const page = Math.max(1, rows.to - rows.from - 8)
    const next = movedCell(current, event, last, page)
    if (next === undefined) return
    event.preventDefault()
    setActive(next)
    if (frame.current !== null) reveal(frame.current, next)
  }
  const onClick = (event: Event) => {
    const cell = (event.target as Element).closest('td[data-column]')
    const row = Number(cell?.parentElement?.dataset['row'] ?? Number.NaN)
    const column = Number((cell as HTMLElement | null)?.dataset['column'] ?? Number.NaN)
    if (Number.isInteger(row) && Number.isInteger(column)) explain({ row, column })
  }

  // A small matrix needs no empty space; the style sheet limits the height. 20 is for the scroll bar.
  const whole = size.head + operations.length * size.row + 20
  const before = columns.from * size.column
  const after = (roles.length - columns.to) * size.column
  return (
    <div class="matrix-frame" ref={frame} style={{ height: `${whole}px` }}>
      <table
        class="matrix"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table with keys.
        role="grid"
        tabIndex={0}
        aria-label={texts.caption}
        aria-rowcount={operations.length + 1}
        aria-colcount={roles.length + 1}
        aria-activedescendant={`matrix-${current.row}-${current.column}`}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onPointerOver={nameCell}
      >
        <colgroup>
          <col class="operation" />
          <col style={{ width: `${before}px` }} />
          {roles.slice(columns.from, columns.to).map(({ role }) => (
            <col key={role} class="role" />
          ))}
          <col style={{ width: `${after}px` }} />
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" aria-colindex={1}>
              {texts.operation}
            </th>
            <td aria-hidden="true" />
            {roles.slice(columns.from, columns.to).map(({ role }, at) => (
              <th key={role} scope="col" title={role} aria-colindex={columns.from + at + 2}>
                <span>{role}</span>
              </th>
            ))}
            <td aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          <Spacer height={rows.from * size.row} />
          {operations.slice(rows.from, rows.to).map((operation, at) => (
            <Row
              key={rows.from + at}
              row={rows.from + at}
              operation={operation}
              roles={roles}
              columns={columns}
              active={rows.from + at === current.row ? current.column : -1}
              letters={letters}
              words={texts.cells}
            />
          ))}
          <Spacer height={(operations.length - rows.to) * size.row} />
        </tbody>
      </table>
    </div>
  )
}

/** Gives the cell under the pointer its tooltip: thousands of them would slow down scrolling. */
function nameCell({ target }: Event): void {
  const cell = (target as Element).closest<HTMLElement>('td[data-column]')
  if (cell !== null) cell.title = cell.ariaLabel ?? ''
}

function Spacer({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus.
    <tr aria-hidden="true">
      <td style={{ height: `${height}px` }} />
    </tr>
  )
}

function reveal(frame: HTMLElement, { row, column }: Cell): void {
  const heading = frame.querySelector('th')?.offsetWidth ?? 0
  const { scrollTop, scrollLeft, clientHeight, clientWidth } = frame
  frame.scrollTop = revealOffset(row, scrollTop, clientHeight - size.head, size.row)
  frame.scrollLeft = revealOffset(column, scrollLeft, clientWidth - heading, size.column)
}

interface Windows {
  readonly rows: Window
  readonly columns: Window
}

/** The rows and columns on the screen. Follows scrolling once for each frame that the browser paints. */
function useWindows(
  frame: { readonly current: HTMLElement | null },
  rowCount: number,
  columnCount: number,
): Windows {
  const [place, setPlace] = useState({ top: 0, left: 0, height: 0, width: 0 })
  const [beyond, setBeyond] = useState(0)
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    let waiting = 0
    let heading = 0
    const read = () => {
      waiting = 0
      const { scrollTop, scrollLeft } = element
      // Headings stay in view and cover cells.
      const height = element.clientHeight - size.head
      const width = element.clientWidth - heading
      // In steps of a few cells, so that most frames of a slow scroll change nothing.
      const top = Math.floor(scrollTop / (4 * size.row)) * 4 * size.row
      const left = Math.floor(scrollLeft / (4 * size.column)) * 4 * size.column
      setPlace((last) => {
        const isSame =
          last.top === top && last.left === left && last.height === height && last.width === width
        return isSame ? last : { top, left, height, width }
      })
    }
    const onScroll = () => {
      waiting ||= requestAnimationFrame(read)
    }
    const measure = () => {
      heading = element.querySelector('th')?.offsetWidth ?? 0
    }
    const onResize = () => {
      measure()
      onScroll()
    }
    // Measured before the first frame: a guess makes cells outside the screen.
    measure()
    read()
    // The cells beyond the edges are for scrolling: they wait for the first frame.
    let timer = 0
    const first = requestAnimationFrame(() => {
      timer = setTimeout(() => setBeyond(6))
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    const observer = new ResizeObserver(onResize)
    observer.observe(element)
    return () => {
      cancelAnimationFrame(first)
      clearTimeout(timer)
      cancelAnimationFrame(waiting)
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [frame])
  return {
    rows: windowOf(place.top, place.height, { size: size.row, count: rowCount, beyond }),
    columns: windowOf(place.left, place.width, { size: size.column, count: columnCount, beyond }),
  }
}

export interface Cell {
  readonly row: number
  readonly column: number
}

interface Pressed {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
}

/** Where a key moves the active cell of a grid, by the keys of the ARIA practices; `undefined`: nowhere. */
export function movedCell(
  { row, column }: Cell,
  { key, ctrlKey, metaKey }: Pressed,
  last: Cell,
  page: number,
): Cell | undefined {
  const isFar = ctrlKey || metaKey
  const to = (nextRow: number, nextColumn: number) => ({
    row: Math.min(last.row, Math.max(0, nextRow)),
    column: Math.min(last.column, Math.max(0, nextColumn)),
  })
  switch (key) {
    case 'ArrowDown':
      return to(row + 1, column)
    case 'ArrowUp':
      return to(row - 1, column)
    case 'ArrowRight':
      return to(row, column + 1)
    case 'ArrowLeft':
      return to(row, column - 1)
    case 'PageDown':
      return to(row + page, column)
    case 'PageUp':
      return to(row - page, column)
    case 'Home':
      return to(isFar ? 0 : row, 0)
    case 'End':
      return to(isFar ? last.row : row, last.column)
    default:
      return undefined
  }
}

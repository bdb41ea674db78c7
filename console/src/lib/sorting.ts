export interface Sorting {
  readonly column: string
  readonly isDescending: boolean
}

type SortValue = string | number | undefined

/** A sorted copy. Rows without a value come last, and equal rows keep their order. */
export function sorted<Row>(
  rows: readonly Row[],
  sortValue: (row: Row) => SortValue,
  isDescending: boolean,
): readonly Row[] {
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  const sign = isDescending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [sortValue(one), sortValue(other)]
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b))
    return order * sign
  })
}

/** A second click on a column turns its order round. */
export function nextSorting(current: Sorting | undefined, column: string): Sorting {
  return { column, isDescending: current?.column === column && !current.isDescending }
}

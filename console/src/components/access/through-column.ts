import type { en } from '../../texts/en.ts'
import type { Column } from '../table.tsx'

/** The roles between the asked one and that of the rule. */
export function throughColumn<Row extends { readonly via: readonly string[] }>(
  texts: typeof en.through,
): Column<Row> {
  return {
    id: 'through',
    title: texts.title,
    cell: ({ via }) => (via.length === 0 ? texts.own : texts.inherited(via.join(' ← '))),
    sort: ({ via }) => via.length,
  }
}

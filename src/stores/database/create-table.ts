import type { Column, ColumnKind, Table } from './tables.ts'

/** What a database calls the kinds of columns and their defaults. */
type ColumnTexts = Readonly<Record<ColumnKind | NonNullable<Column['default']>, string>>

/** The columns of `create table`, without the key. */
export function columnLines({ columns }: Table, texts: ColumnTexts): string[] {
  return Object.entries(columns).map(([name, { kind, length, nullable, default: value }]) => {
    const type = length === undefined ? texts[kind] : `${texts[kind]}(${length})`
    const filled = value === undefined ? '' : ` default ${texts[value]}`
    return `"${name}" ${type}${nullable ? '' : ' not null'}${filled}`
  })
}

export function quotedNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

import type { AliasableExpression, Kysely } from 'kysely'
import type { RowType } from './backend.ts'
import type { Db } from './database.ts'
import { tableOf } from './dialect.ts'
import { type ColumnKind, everyTable, type Schema, type Table } from './tables.ts'

const rowTypes: Readonly<Record<ColumnKind, RowType>> = {
  ...{ serial: 'bigint', counter: 'bigint', bigint: 'bigint', integer: 'int', boolean: 'boolean' },
  ...{ varchar: 'text', text: 'text', uuid: 'uuid' },
  ...{ time: 'timestamptz', mark: 'timestamptz', date: 'date' },
}

type Column<Name extends keyof Schema> = keyof Schema[Name] & string

interface InsertOptions<Name extends keyof Schema> {
  /** Further columns, as expressions, also of what `using` names. */
  readonly computed?: Partial<Readonly<Record<Column<Name>, AliasableExpression<unknown>>>>
  /** Values of the rows that are not columns of the table. */
  readonly using?: Readonly<Record<string, RowType>>
  /** What happens to a row whose key is there: it stays, or gets these columns of the new one. */
  readonly ifThere?: 'keep' | readonly Column<Name>[]
}

/** Inserts rows with the same columns, in one statement however many they are; none: no statement. */
export async function insertRows<Name extends keyof Schema>(
  db: Db,
  table: Name,
  rows: readonly Readonly<Record<string, unknown>>[],
  { computed = {}, using = {}, ifThere }: InsertOptions<Name> = {},
): Promise<void> {
  if (rows.length === 0) return
  const { columns, key }: Table = everyTable[table]
  const copied = Object.keys(rows[0] ?? {}).filter((name) => !(name in using))
  const types = copied.map((name) => [name, rowTypes[columns[name]?.kind ?? 'text']] as const)
  const incoming = tableOf('incoming', { ...Object.fromEntries(types), ...using }, rows)
  const added = Object.entries(computed as Record<string, AliasableExpression<unknown>>)
  const anyTable = db as unknown as Kysely<Record<string, Record<string, unknown>>>
  const insert = anyTable
    .insertInto(table as string)
    .columns([...copied, ...added.map(([name]) => name)])
    .expression(
      anyTable.selectFrom(incoming).select([...copied, ...added.map(([name, of]) => of.as(name))]),
    )
  const upsert = insert.onConflict((conflict) => {
    const there = conflict.columns([...key])
    if (ifThere === undefined || ifThere === 'keep') return there.doNothing()
    return there.doUpdateSet(({ ref }) =>
      Object.fromEntries(ifThere.map((name) => [name, ref(`excluded.${name}`)])),
    )
  })
  await (ifThere === undefined ? insert : upsert).execute()
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import { Invalid } from '../../../kernel/errors.ts'
import { withFaults } from '../../database/database.ts'
import { rowDigest } from '../../database/dialect.ts'
import { type CasbinTable, findCasbinTables, readCasbinTable } from '../casbin-rows.ts'

/** A policy table that changes while we look. */
export type WatchedTable = ReturnType<typeof watchCasbinTable>

/** An operator or an upgrade may add a table or a column. */
const lookAgainMs = 60_000

/** Columns that say nothing about what a row means. */
const harmless = /^(?:id|ptype|v[0-7]|created_at|updated_at|create_by|update_by)$/

/**
 * Watches the tables of go-admin, or the one that is named. Throws `Invalid` for a table with a column
 * of unknown meaning: a column such as `deleted_at` could say that a row does not count.
 */
export function watchCasbinTable<Schema>(db: Kysely<Schema>, named?: string) {
  let known: { readonly tables: readonly CasbinTable[]; readonly until: number } | undefined

  async function tables(): Promise<readonly CasbinTable[]> {
    if (known === undefined || performance.now() > known.until) {
      const found = await findCasbinTables(db, named)
      rejectUnknownColumns(found)
      known = { tables: found, until: performance.now() + lookAgainMs }
    }
    return known.tables
  }

  return {
    /** Equal as long as the rows are: one query that transfers one row for each table. */
    fingerprint: () =>
      withFaults(async () => {
        try {
          const each = (await tables()).map((table) => digestOf(table))
          const { rows } = await sql<
            Record<string, unknown>
          >`${sql.join(each, sql` union all `)}`.execute(db)
          return JSON.stringify(rows.map((row) => Object.values(row).map(String)).sort())
        } catch (error) {
          known = undefined
          throw error
        }
      }),
    rows: () => readCasbinTable(db, named),
  }
}

function rejectUnknownColumns(tables: readonly CasbinTable[]): void {
  const problems = tables.flatMap(({ name, columns }) => {
    const unknown = [...columns].filter((column) => !harmless.test(column))
    if (unknown.length === 0) return []
    return [{ file: name, message: `has columns of unknown meaning: ${unknown.join(', ')}` }]
  })
  if (problems.length > 0) throw new Invalid(problems)
}

/**
 * Count, and the sum of 60 bits of each row's digest: in any order of rows the same, and computed where
 * the rows are. It need not resist attacks: those who write the table decide what it allows anyway.
 */
function digestOf({ name, columns }: CasbinTable): RawBuilder<unknown> {
  const values = ['ptype', ...[...columns].filter((column) => /^v\d$/.test(column)).sort()]
  const texts = values.map((value) => sql`coalesce(${sql.ref(value)}, '')`)
  const total = sql`coalesce(sum(${rowDigest(texts)}), 0)`
  return sql`select ${sql.lit(name)} as name, count(*) as number, ${total} as digest from ${sql.table(name)}`
}

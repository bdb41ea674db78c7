import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { clock, nowMs } from './dialect.ts'

/**
 * How a table marks a row as deleted: go-admin up to v2.4 leaves `deleted_at` NULL in a live row,
 * later versions write the number 0. Testing for the wrong one locks out every user, so the column's
 * type decides.
 */
export type SoftDelete = 'null-is-live' | 'zero-is-live'

/** The condition under which a row of this table, or of its alias, is live. */
export function live(table: string, softDelete: SoftDelete): RawBuilder<SqlBool> {
  const column = sql.ref(`${table}.deleted_at`)
  return softDelete === 'null-is-live' ? sql`${column} is null` : sql`${column} = 0`
}

/** What a new, live row has in `deleted_at`. */
export function liveMark(softDelete: SoftDelete): 0 | null {
  return softDelete === 'null-is-live' ? null : 0
}

/** What go-admin writes in `deleted_at` to delete a row: the time, or its milliseconds. */
export function deletedMark(softDelete: SoftDelete): RawBuilder<unknown> {
  return softDelete === 'null-is-live' ? clock : nowMs
}

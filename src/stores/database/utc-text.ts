import { type RawBuilder, sql } from 'kysely'

/**
 * A time of either type as RFC 3339 in UTC. Text, because the embedded database of another process
 * does not return dates.
 */
export function utcText(column: string): RawBuilder<string | null> {
  return sql`to_char(${sql.ref(column)}::timestamptz at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

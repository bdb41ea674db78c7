import { type RawBuilder, sql } from 'kysely'
import { timeText } from './dialect.ts'

/**
 * A time of either type as RFC 3339 in UTC. Text, because the embedded database of another process
 * does not return dates.
 */
export function utcText(column: string): RawBuilder<string | null> {
  return timeText(sql.ref(column))
}

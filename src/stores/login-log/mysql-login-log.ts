import { type Kysely, sql } from 'kysely'
import { before, listOf, lockUntilCommit, now, tableOf } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import type { Schema } from '../database/schema.ts'

const columns = {
  place: 'int',
  attempt_id: 'uuid',
  username: 'text',
  status: 'text',
  ipaddr: 'text',
  browser: 'text',
  os: 'text',
  platform: 'text',
  remark: 'text',
  msg: 'text',
  login_time: 'timestamptz',
} as const

export type LoginLogRow = Readonly<Record<keyof typeof columns, unknown>> & {
  readonly attempt_id: string
}

const retentionMs = 7 * 86_400_000
const maxDeletedAtOnce = 1000

/**
 * Inserts the rows whose attempt ID is new, and returns how many those are. MySQL returns no rows from
 * an insert, so the IDs are read first, and of two writers of the same batch the second waits.
 */
export function insertOnMysql(
  db: Kysely<Schema>,
  records: readonly LoginLogRow[],
): Promise<number> {
  const first = new Map(records.toReversed().map((row) => [row.attempt_id.toLowerCase(), row]))
  const ids = [...first.keys()]
  return inTransaction(db, async (inside) => {
    await lockUntilCommit('postern_login_attempt').execute(inside)
    const { rows: known } = await sql<{ id: string }>`
      select attempt_id as id from postern_login_attempt
      where attempt_id in ${listOf(ids)}`.execute(inside)
    const present = new Set(known.map(({ id }) => id))
    const fresh = ids.filter((id) => !present.has(id)).flatMap((id) => first.get(id) ?? [])
    if (fresh.length > 0) {
      await sql`
        insert into postern_login_attempt (attempt_id)
        select attempt_id from ${tableOf('incoming', columns, fresh)}`.execute(inside)
      await sql`
        insert into sys_login_log (
          username, status, ipaddr, login_location, browser, os, platform, login_time, remark, msg,
          created_at, updated_at, create_by, update_by)
        select username, status, ipaddr, '', browser, os, platform, login_time, remark, msg,
          ${now}, ${now}, 0, 0
        from ${tableOf('incoming', columns, fresh)} order by place`.execute(inside)
    }
    await sql`
      delete from postern_login_attempt where attempt_id in (select attempt_id from (
        select attempt_id from postern_login_attempt
        where recorded_at < ${before(now, retentionMs)}
        order by recorded_at limit ${maxDeletedAtOnce} for update skip locked) as old)`.execute(
      inside,
    )
    return fresh.length
  })
}

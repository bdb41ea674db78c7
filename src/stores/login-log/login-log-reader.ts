import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { either, epochMs, same, timeAt } from '../database/dialect.ts'
import { isStorable } from '../database/storable-text.ts'

/** Which rows of the login log are asked for; what is unset matches every row. */
interface LoginLogQuery {
  readonly sinceMs: number
  readonly limit: number
  /** Letter case does not matter. */
  readonly user?: string | undefined
  /** One of these. */
  readonly messages?: readonly string[] | undefined
  readonly isAddress?: ((address: string) => boolean) | undefined
}

/** A row of `sys_login_log`, which go-admin may have written. */
export interface LoginLogEntry {
  readonly atMs: number
  /** The name as typed. */
  readonly username: string
  readonly succeeded: boolean
  readonly message: string
  readonly address: string
  readonly client: string
  readonly userAgent: string
}

interface LoginLogAnswer {
  /** Newest first: in the reverse order of writing. */
  readonly entries: readonly LoginLogEntry[]
  /** Whether older ones match too. */
  readonly more: boolean
}

/** The embedded database answers on the event loop of a gateway, so each statement reads only so much. */
const pageRows = 5000
const afterAll = String(2n ** 63n - 1n)

/**
 * Reads the newest matching rows, page by page along the primary key: go-admin's table has no other
 * index. A page that was written before `sinceMs` is the last one.
 */
export async function readLoginLog(
  { db, shapes }: Database,
  query: LoginLogQuery,
): Promise<LoginLogAnswer> {
  const { limit, user = '', isAddress = () => true } = query
  // No row can hold such a name, and the server would report an error.
  if (!isStorable(user)) return { entries: [], more: false }
  await withFaults(shapes)
  const found: LoginLogEntry[] = []
  let before: string | null = afterAll
  while (before !== null && found.length <= limit) {
    const { rows } = await withFaults(() => page(query, before ?? afterAll).execute(db))
    for (const row of rows) {
      if (row.at_ms !== null && isAddress(row.ipaddr ?? '')) found.push(toEntry(row, row.at_ms))
    }
    before = rows[0]?.is_recent === true ? rows[0].last_id : null
  }
  return { entries: found.slice(0, limit), more: found.length > limit }
}

interface Row {
  readonly last_id: string | null
  readonly is_recent: boolean | null
  /** The other columns are NULL in the one row of a page in which nothing matches. */
  readonly at_ms: string | null
  readonly username: string | null
  readonly status: string | null
  readonly msg: string | null
  readonly ipaddr: string | null
  readonly browser: string | null
  readonly os: string | null
  readonly remark: string | null
}

function page({ sinceMs, limit, user, messages, isAddress }: LoginLogQuery, before: string) {
  const since = timeAt(sinceMs)
  const matches: RawBuilder<SqlBool>[] = [sql<SqlBool>`at >= ${since}`]
  if (user !== undefined) matches.push(sql<SqlBool>`lower(username) = lower(${user}::text)`)
  if (messages !== undefined) {
    const each = messages.map((message) => same('msg', message))
    matches.push(sql<SqlBool>`(${sql.join(each, sql` or `)})`)
  }
  // Addresses are compared here, because a row of another program may hold any text.
  const most = isAddress === undefined ? limit + 1 : pageRows
  return sql<Row>`
    with page as (
      select id, username, status, msg, ipaddr, browser, os, remark,
        ${dated('login_time', 'created_at')} as at,
        ${dated('created_at', 'login_time')} as written_at
      from sys_login_log where id < ${before}::bigint order by id desc limit ${pageRows}::int
    ), found as (
      select * from page where ${sql.join(matches, sql` and `)} order by id desc limit ${most}::int
    )
    select bounds.last_id::text as last_id, bounds.is_recent, username, status, msg, ipaddr, browser, os, remark,
      ${epochMs(sql.ref('at'))} as at_ms
    from (select min(id) as last_id, max(written_at) >= ${since} as is_recent from page) bounds
    left join found on true
    order by found.id desc`
}

/** The first of these times that is one. */
function dated(first: string, second: string): RawBuilder<unknown> {
  const time = sql`coalesce(${datable(first)}, ${datable(second)})`
  return either(sql`${time}::timestamptz`, time)
}

/** A row of another program may have a time that no calendar shows, such as infinity: as if it had none. */
function datable(column: string): RawBuilder<unknown> {
  const time = sql.ref(column)
  return sql`case when ${time} between '0001-01-02' and '9999-12-30' then ${time} end`
}

function toEntry(row: Row, atMs: string): LoginLogEntry {
  return {
    atMs: Number(atMs),
    username: row.username ?? '',
    succeeded: row.status === '2',
    message: row.msg ?? '',
    address: row.ipaddr ?? '',
    client: [row.browser, row.os].filter(Boolean).join(', '),
    userAgent: row.remark ?? '',
  }
}

import { expressionBuilder, sql } from 'kysely'
import { type Database, type Db, withFaults } from '../database/database.ts'
import { epochMs, isStorable, same, timeAt } from '../database/dialect.ts'
import type { Schema } from '../database/tables.ts'

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

/** The embedded database answers on the event loop of a gateway, so each statement reads only so much. */
const pageRows = 5000
const afterAll = String(2n ** 63n - 1n)

/**
 * Reads the newest matching rows, page by page along the primary key: go-admin's table has no other
 * index. A page that was written before `sinceMs` is the last one. `more`: older ones match too.
 */
export async function readLoginLog({ db, shapes }: Database, query: LoginLogQuery) {
  const { limit, user = '', isAddress = () => true } = query
  // No row can hold such a name, and the server would report an error.
  if (!isStorable(user)) return { entries: [], more: false }
  await withFaults(shapes)
  const found: LoginLogEntry[] = []
  let before: string | null = afterAll
  while (before !== null && found.length <= limit) {
    const rows = await withFaults(() => page(db, query, before ?? afterAll).execute())
    for (const row of rows) {
      if (row.at_ms !== null && isAddress(row.ipaddr ?? '')) found.push(toEntry(row, row.at_ms))
    }
    before = rows[0]?.is_recent ? rows[0].last_id : null
  }
  return { entries: found.slice(0, limit), more: found.length > limit }
}

function page(
  db: Db,
  { sinceMs, limit, user, messages, isAddress }: LoginLogQuery,
  before: string,
) {
  const since = timeAt(sinceMs)
  const texts = ['username', 'status', 'msg', 'ipaddr', 'browser', 'os', 'remark'] as const
  return (
    db
      .with('page', (inner) =>
        inner
          .selectFrom('sys_login_log')
          .select(['id', ...texts])
          .select(dated('login_time', 'created_at').as('at'))
          .select(dated('created_at', 'login_time').as('written_at'))
          .where('id', '<', before)
          .orderBy('id', 'desc')
          .limit(pageRows),
      )
      .with('found', (inner) =>
        inner
          .selectFrom('page')
          .selectAll()
          .where('at', '>=', since)
          .$if(user !== undefined, (all) =>
            all.where(({ eb, fn, val }) =>
              eb(fn('lower', ['username']), '=', fn('lower', [val(user ?? '')])),
            ),
          )
          .$if(messages !== undefined, (all) =>
            all.where(({ or }) => or((messages ?? []).map((message) => same('msg', message)))),
          )
          .orderBy('id', 'desc')
          // Addresses are compared here, because a row of another program may hold any text.
          .limit(isAddress === undefined ? limit + 1 : pageRows),
      )
      .selectFrom(({ selectFrom }) =>
        selectFrom('page')
          .select(({ eb, fn }) => [
            fn.min('id').as('last_id'),
            eb(fn.max('written_at'), '>=', since).as('is_recent'),
          ])
          .as('bounds'),
      )
      .leftJoin('found', (join) => join.onTrue())
      .select(['bounds.last_id', 'bounds.is_recent', ...texts])
      // NULL, as the texts, in the one row of a page in which nothing matches.
      .select(epochMs(sql.ref('at')).$castTo<string | null>().as('at_ms'))
      .orderBy('found.id', 'desc')
  )
}

type TimeColumn = 'login_time' | 'created_at'

/** The first of these times that is one. */
function dated(first: TimeColumn, second: TimeColumn) {
  const { fn } = expressionBuilder<Schema, 'sys_login_log'>()
  return fn.coalesce(datable(first), datable(second))
}

/** A row of another program may have a time that no calendar shows, such as infinity: as if it had none. */
function datable(column: TimeColumn) {
  const { between, case: when, ref } = expressionBuilder<Schema, 'sys_login_log'>()
  const isDate = between(column, sql<Date>`'0001-01-02'`, sql<Date>`'9999-12-30'`)
  return when().when(isDate).then(ref(column)).end()
}

type LoginRow = Readonly<
  Record<'username' | 'status' | 'msg' | 'ipaddr' | 'browser' | 'os' | 'remark', string | null>
>

function toEntry(row: LoginRow, atMs: string): LoginLogEntry {
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

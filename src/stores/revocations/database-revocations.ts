import { type Kysely, sql } from 'kysely'
import type { Revocation } from '../../token/revocations.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { either, isMysql, lockUntilCommit } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import type { Schema } from '../database/schema.ts'
import { appendOnMysql } from './mysql-revocations.ts'
import {
  fromRow,
  MAX_AHEAD_MS,
  PAGE,
  type Position,
  type RevocationStore,
  toRow,
} from './revocation-store.ts'

type Column = 'name' | 'user' | 'moment' | 'until' | 'at'

/**
 * The revocation list in a table, for gateways without Redis. The table's file node identifies the
 * list: a restored or truncated table starts a new list, whose sequences begin again.
 */
export function createDatabaseRevocations({ db, shapes }: Database): RevocationStore {
  return {
    name: 'database',
    read: (after) =>
      withFaults(async () => {
        await shapes()
        const sequence = after?.sequence ?? '0'
        const { rows: found } = await sql<{ list: string } & Record<Column, string | null>>`
          select one.list as "list", page.*
          from (select ${listName} as list) one left join (
            select name, user_id as "user", moment_ms::text as "moment", until_ms::text as "until",
                   sequence::text as "at"
            from postern_revocation where sequence > ${sequence}::bigint
            order by sequence limit ${PAGE}::int) page on true`.execute(db)
        const list = found[0]?.list ?? ''
        if (after !== undefined && after.list !== list) return undefined
        const rows = found.filter((row): row is Record<Column | 'list', string> => row.at !== null)
        return {
          revocations: rows.flatMap(({ name, user, moment, until }) => {
            const row = { name, userId: user, moment: Number(moment), until: Number(until) }
            return fromRow(row) ?? []
          }),
          position: { list, sequence: rows.at(-1)?.at ?? sequence },
          more: rows.length === PAGE,
        }
      }),
    append: (revocations, made) =>
      withFaults(async () => {
        await shapes()
        await inTransaction(db, (inside) => appendInside(inside, revocations, made))
      }),
    end: () =>
      withFaults(async () => {
        await shapes()
        const { rows } = await sql<Position>`
          select ${listName} as "list",
                 coalesce(max(sequence), 0)::text as "sequence"
          from postern_revocation`.execute(db)
        return rows[0] ?? { list: '', sequence: '0' }
      }),
    watch() {},
    async check() {},
    async close() {},
  }
}

/** MySQL creates a table anew to restore or truncate it. */
const listName = either(
  sql`pg_relation_filenode('postern_revocation')::text`,
  sql`(select cast(unix_timestamp(create_time) as char) from information_schema.tables
    where table_schema = database() and table_name = 'postern_revocation')`,
)

/** Adds to the list in a transaction. */
export async function appendInside(
  inside: Kysely<Schema>,
  revocations: readonly Revocation[],
  made: 'now' | 'before',
): Promise<void> {
  await lock.execute(inside)
  if (isMysql(inside)) return appendOnMysql(inside, revocations.map(toRow), made === 'now')
  await insert(JSON.stringify(revocations.map(toRow)), made === 'now').execute(inside)
}

/**
 * Makes sequences visible in order: a reader would skip one that is committed late. A statement of its
 * own, because the next one must see what the previous holder wrote.
 */
const lock = lockUntilCommit('postern_revocation')

/** Names sort so that an exception (k) gets a lower sequence than its mark (u). */
function insert(rows: string, isNew: boolean) {
  return sql`
    with clock as materialized (
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as now
    ), forgotten as (
      delete from postern_revocation where name in (
        select name from postern_revocation where until_ms < (select now from clock)
        order by until_ms limit ${PAGE}::int for update skip locked)
    ), incoming as (
      select distinct on (name) *
      from json_to_recordset(${rows}::json) as row (
        name text, "userId" text, moment bigint, until bigint)
      order by name, moment desc
    ), mark as (
      select incoming.name, "userId", until, known.moment_ms as earlier,
             case when ${isNew}
               then greatest(least(greatest(moment, now), now + ${MAX_AHEAD_MS}::int),
                             known.moment_ms + 1)
               else moment end as moment
      from incoming cross join clock left join postern_revocation known using (name)
      where incoming.name like 'u:%'
    ), kept as (
      select incoming.name, "userId", incoming.until, mark.moment,
             coalesce(earlier >= split_part(incoming.name, ':', 2)::bigint
                      and known.moment_ms is distinct from earlier, false) as refused
      from incoming join mark using ("userId")
      left join postern_revocation known on known.name = incoming.name
      where incoming.name like 'k:%' and (${isNew} or incoming.moment = mark.moment)
    ), outgoing as (
      select name, "userId", moment, until from kept where not refused
      union all
      select name, "userId", moment + case when exists (
        select from kept where refused and kept."userId" = mark."userId") then 1 else 0 end, until
      from mark
      union all
      select name, "userId", moment, until from incoming
      where name not like 'u:%' and name not like 'k:%'
    )
    insert into postern_revocation as known (name, user_id, moment_ms, until_ms)
    select name, "userId", moment, until from outgoing order by name
    on conflict (name) do update
    set moment_ms = excluded.moment_ms, until_ms = excluded.until_ms, sequence = excluded.sequence
    where excluded.moment_ms > known.moment_ms`
}

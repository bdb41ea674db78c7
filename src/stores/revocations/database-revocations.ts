import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
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
          select pg_relation_filenode('postern_revocation')::text as "list", page.*
          from (values (1)) one left join lateral (
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
        await insert(JSON.stringify(revocations.map(toRow)), made === 'now').execute(db)
      }),
    end: () =>
      withFaults(async () => {
        await shapes()
        const { rows } = await sql<Position>`
          select pg_relation_filenode('postern_revocation')::text as "list",
                 coalesce(max(sequence), 0)::text as "sequence"
          from postern_revocation`.execute(db)
        return rows[0] ?? { list: '', sequence: '0' }
      }),
    watch() {},
    async check() {},
    async close() {},
  }
}

/** The lock makes sequences visible in order: a reader would skip one that is committed late. */
function insert(rows: string, isNew: boolean) {
  const clock = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`
  return sql`
    with locked as materialized (
      select pg_advisory_xact_lock(hashtextextended('postern_revocation', 0)) as lock
    ), forgotten as (
      delete from postern_revocation where name in (
        select name from postern_revocation where until_ms < ${clock}
        order by until_ms limit ${PAGE}::int for update skip locked)
    ), incoming as (
      select distinct on (name) *
      from json_to_recordset(${rows}::json) as row (
        name text, "userId" text, moment bigint, until bigint)
      order by name, moment desc
    )
    insert into postern_revocation as known (name, user_id, moment_ms, until_ms)
    select name, "userId",
           case when ${isNew} and name like 'u:%'
             then least(greatest(moment, ${clock}), ${clock} + ${MAX_AHEAD_MS}::int)
             else moment end,
           until
    from incoming cross join locked
    on conflict (name) do update
    set moment_ms = excluded.moment_ms, until_ms = excluded.until_ms, sequence = excluded.sequence
    where excluded.moment_ms > known.moment_ms`
}

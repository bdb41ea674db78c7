import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { toStorable } from '../database/storable-text.ts'
import { requireTable } from '../database/table-shapes.ts'
import { longest, MOST_SESSIONS, type Session, type SessionStore } from './session-store.ts'

/** Sessions in the table `postern_session`, for gateways without Redis. */
export function createDatabaseSessions({ db, shapes }: Database): SessionStore {
  function withTable<Result>(work: () => Promise<Result>): Promise<Result> {
    return withFaults(async () => {
      requireTable(await shapes(), 'postern_session')
      return work()
    })
  }

  return {
    add: (sessions) =>
      withTable(async () => {
        await insert(JSON.stringify(sessions.map(storable))).execute(db)
        await trim([...new Set(sessions.map(({ userId }) => userId))]).execute(db)
      }),
    markSeen: (seen) =>
      withTable(async () => {
        await update(JSON.stringify(seen)).execute(db)
      }),
    remove: (sessions) =>
      withTable(async () => {
        const ids = JSON.stringify(sessions.map(({ id }) => id))
        await sql`
          delete from postern_session
          where token_id in (select json_array_elements_text(${ids}::json))`.execute(db)
      }),
    list: (userId) =>
      withTable(async () => {
        const { rows } = await sql<Record<keyof Session, string>>`
          select token_id as "id", user_id as "userId", username, role_key as "roleKey", address,
                 agent, issued_ms::text as "issuedAt", expires_ms::text as "expiresAt",
                 seen_ms::text as "seenAt"
          from postern_session
          where expires_ms > ${clock} and (${userId ?? null}::text is null or user_id = ${userId ?? ''})
        `.execute(db)
        return rows.map(({ issuedAt, expiresAt, seenAt, ...texts }) => ({
          ...{ ...texts, issuedAt: Number(issuedAt) },
          ...{ expiresAt: Number(expiresAt), seenAt: Number(seenAt) },
        }))
      }),
  }
}

const clock = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

function storable(session: Session): Session {
  const { username, roleKey, address, agent } = session
  return {
    ...session,
    username: toStorable(username, longest.username),
    roleKey: toStorable(roleKey, longest.roleKey),
    address: toStorable(address, longest.address),
    agent: toStorable(agent, longest.agent),
  }
}

function insert(sessions: string) {
  return sql`
    insert into postern_session (token_id, user_id, username, role_key, address, agent,
                                 issued_ms, expires_ms, seen_ms)
    select id, "userId", username, "roleKey", address, agent, "issuedAt", "expiresAt", "seenAt"
    from json_to_recordset(${sessions}::json) as session (
      id text, "userId" text, username text, "roleKey" text, address text, agent text,
      "issuedAt" bigint, "expiresAt" bigint, "seenAt" bigint)
    on conflict (token_id) do nothing`
}

/** Deletes what expired, unless another gateway does so now, and what exceeds the limit of these users. */
function trim(userIds: readonly string[]) {
  return sql`
    with expired as materialized (
      select token_id from postern_session where expires_ms <= ${clock}
      order by expires_ms limit ${MOST_SESSIONS}::int for update skip locked
    ), surplus as (
      select own.token_id
      from json_array_elements_text(${JSON.stringify(userIds)}::json) as named (id)
      cross join lateral (
        select token_id from postern_session where user_id = named.id
        order by issued_ms desc offset ${MOST_SESSIONS}::int) own
    )
    delete from postern_session
    where token_id in (select token_id from expired union all select token_id from surplus)`
}

/** Skips rows that another gateway updates at this moment: two must not wait for each other. */
function update(seen: string) {
  return sql`
    with seen as (
      select id, max("seenAt") as at
      from json_to_recordset(${seen}::json) as entry (id text, "seenAt" bigint) group by id
    ), known as (
      select token_id, at from postern_session join seen on token_id = id
      where seen_ms < at for update of postern_session skip locked
    )
    update postern_session as session set seen_ms = known.at
    from known where session.token_id = known.token_id`
}

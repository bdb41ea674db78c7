import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { listOf, nowMs, orKeep, tableOf } from '../database/dialect.ts'
import { markSeen } from '../database/mark-seen.ts'
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
        await insert(sessions.map(storable)).execute(db)
        await trim([...new Set(sessions.map(({ userId }) => userId))]).execute(db)
      }),
    markSeen: (seen) =>
      withTable(async () => {
        await markSeen(db, 'postern_session', seen)
      }),
    remove: (sessions) =>
      withTable(async () => {
        const ids = sessions.map(({ id }) => id)
        await sql`
          delete from postern_session
          where token_id in ${listOf(ids)}`.execute(db)
      }),
    list: (userId) =>
      withTable(async () => {
        const { rows } = await sql<Record<keyof Session, string>>`
          select token_id as "id", user_id as "userId", username, role_key as "roleKey", address,
                 agent, issued_ms::text as "issuedAt", expires_ms::text as "expiresAt",
                 seen_ms::text as "seenAt"
          from postern_session
          where expires_ms > ${nowMs} and (${userId ?? null}::text is null or user_id = ${userId ?? ''})
        `.execute(db)
        return rows.map(({ issuedAt, expiresAt, seenAt, ...texts }) => ({
          ...{ ...texts, issuedAt: Number(issuedAt) },
          ...{ expiresAt: Number(expiresAt), seenAt: Number(seenAt) },
        }))
      }),
  }
}

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

const columns = {
  id: 'text',
  userId: 'text',
  username: 'text',
  roleKey: 'text',
  address: 'text',
  agent: 'text',
  issuedAt: 'bigint',
  expiresAt: 'bigint',
  seenAt: 'bigint',
} as const

function insert(sessions: readonly Session[]) {
  return sql`
    insert into postern_session (token_id, user_id, username, role_key, address, agent,
                                 issued_ms, expires_ms, seen_ms)
    select id, "userId", username, "roleKey", address, agent, "issuedAt", "expiresAt", "seenAt"
    from ${tableOf('session', columns, sessions)}
    ${orKeep('postern_session', 'token_id')}`
}

/** Deletes what expired, unless another gateway does so now, and what exceeds the limit of these users. */
function trim(userIds: readonly string[]) {
  return sql`
    delete from postern_session where token_id in (
      select token_id from (
        select token_id from postern_session where expires_ms <= ${nowMs}
        order by expires_ms limit ${MOST_SESSIONS}::int for update skip locked) as expired
      union all
      select token_id from (
        select token_id, row_number() over (partition by user_id order by issued_ms desc) as place
        from postern_session where user_id in ${listOf(userIds)}) as own
      where place > ${MOST_SESSIONS}::int)`
}

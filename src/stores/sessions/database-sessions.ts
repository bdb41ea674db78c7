import { type Database, type Db, requireTables, withFaults } from '../database/database.ts'
import { listOf, nowMs, toStorable } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'
import { markSeen } from '../database/mark-seen.ts'
import { longest, MOST_SESSIONS, type Session, type SessionStore } from './session-store.ts'

/** Sessions in the table `postern_session`, for gateways without Redis. */
export function createDatabaseSessions({ db, shapes }: Database): SessionStore {
  function withTable<Result>(work: () => Promise<Result>): Promise<Result> {
    return withFaults(async () => {
      requireTables(await shapes(), 'postern_session')
      return work()
    })
  }

  return {
    add: (sessions) =>
      withTable(async () => {
        await insertRows(db, 'postern_session', sessions.map(toRow), { ifThere: 'keep' })
        await trim(db, [...new Set(sessions.map(({ userId }) => userId))])
      }),
    markSeen: (seen) =>
      withTable(async () => {
        await markSeen({ db, shapes }, 'postern_session', seen)
      }),
    remove: (sessions) =>
      withTable(async () => {
        const ids = sessions.map(({ id }) => id)
        await db.deleteFrom('postern_session').where('token_id', 'in', listOf(ids)).execute()
      }),
    list: (userId) =>
      withTable(async () => {
        const rows = await db
          .selectFrom('postern_session')
          .select(['token_id as id', 'user_id as userId', 'username', 'role_key as roleKey'])
          .select(['address', 'agent', 'issued_ms as issuedAt', 'expires_ms as expiresAt'])
          .select('seen_ms as seenAt')
          .where('expires_ms', '>', nowMs)
          .$if(userId !== undefined, (all) => all.where('user_id', '=', userId ?? ''))
          .execute()
        return rows.map(({ issuedAt, expiresAt, seenAt, ...texts }) => ({
          ...{ ...texts, issuedAt: Number(issuedAt) },
          ...{ expiresAt: Number(expiresAt), seenAt: Number(seenAt) },
        }))
      }),
  }
}

function toRow(session: Session) {
  const { id, userId, username, roleKey, address, agent, issuedAt, expiresAt, seenAt } = session
  return {
    ...{ token_id: id, user_id: userId },
    username: toStorable(username, longest.username),
    role_key: toStorable(roleKey, longest.roleKey),
    address: toStorable(address, longest.address),
    agent: toStorable(agent, longest.agent),
    ...{ issued_ms: issuedAt, expires_ms: expiresAt, seen_ms: seenAt },
  }
}

/** Deletes what expired, unless another gateway does so now, and what exceeds the limit of these users. */
async function trim(db: Db, userIds: readonly string[]): Promise<void> {
  const tokens = db.selectFrom('postern_session').select('token_id')
  const oldest = tokens.where('expires_ms', '<=', nowMs).orderBy('expires_ms')
  const expired = oldest.limit(MOST_SESSIONS).forUpdate().skipLocked()
  const place = db.fn.agg<number>('row_number').over((rows) => {
    return rows.partitionBy('postern_session.user_id').orderBy('postern_session.issued_ms', 'desc')
  })
  const own = tokens.select(place.as('place')).where('user_id', 'in', listOf(userIds))
  const surplus = db.selectFrom(own.as('own')).select('token_id').where('place', '>', MOST_SESSIONS)
  const deleted = db.selectFrom(expired.as('expired')).select('token_id').unionAll(surplus)
  await db.deleteFrom('postern_session').where('token_id', 'in', deleted).execute()
}

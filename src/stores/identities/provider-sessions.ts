import { setTimeout as pause } from 'node:timers/promises'
import { failureText } from '../../background/failure-text.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import type { ProviderSessionRow, ProviderSessions } from '../../login/redirect-login.ts'
import { createBounded } from '../accounts/bounded.ts'
import { type Database, type Db, requireTables } from '../database/database.ts'
import { allRows, isStorable, nowMs } from '../database/dialect.ts'

/** How many tokens of one person are remembered, as in the list of sessions. */
const mostOfSubject = 1000
const attempts = 5
const retryMs = 2000

/** The table `postern_provider_session`. */
export function createProviderSessions(
  { db, shapes }: Database,
  { log, timeoutMs }: { readonly log: FeedLog; readonly timeoutMs: number },
): ProviderSessions {
  const bounded = createBounded(timeoutMs)
  const withTable = <Result>(work: () => Promise<Result>) =>
    bounded(async () => {
      requireTables(await shapes(), 'postern_provider_session')
      return work()
    })

  async function add(row: ProviderSessionRow): Promise<void> {
    await withTable(async () => {
      await db
        .insertInto('postern_provider_session')
        .values(toRow(row))
        .onConflict((conflict) => conflict.column('token_id').doNothing())
        .execute()
      await trim(db, row)
    })
  }

  return {
    async remember(row) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await add(row)
        } catch (error) {
          if (attempt === attempts) {
            const fields = { provider: row.provider, reason: failureText(error) }
            return log.warn(fields, 'provider session not recorded; logouts there do not end it')
          }
        }
        await pause(retryMs, undefined, { ref: false })
      }
    },
    find: (tokenId) =>
      withTable(() => {
        const own = db.selectFrom('postern_provider_session').where('token_id', '=', tokenId)
        return own.select(['provider', 'sealed']).executeTakeFirst()
      }),
    tokensOf: ({ provider, subject, session }) =>
      withTable(async () => {
        if (![subject, session].every((text) => text === undefined || isStorable(text))) return []
        const rows = await db
          .selectFrom('postern_provider_session')
          .select(['token_id as id', 'user_id as userId', 'issued_ms as issuedAt'])
          .select('expires_ms as until')
          .where('provider', '=', provider)
          .where('expires_ms', '>', nowMs)
          .$if(session !== undefined, (all) => all.where('session', '=', session ?? ''))
          .$if(subject !== undefined, (all) => all.where('subject', '=', subject ?? ''))
          .execute()
        return rows.map(({ id, userId, issuedAt, until }) => ({
          ...{ kind: 'token' as const, id, userId },
          ...{ issuedAt: Number(issuedAt), until: Number(until) },
        }))
      }),
  }
}

function toRow(row: ProviderSessionRow) {
  const { tokenId, userId, issuedAt, expiresAt, provider, subject, session, sealed } = row
  return {
    ...{ token_id: tokenId, user_id: userId, issued_ms: issuedAt, expires_ms: expiresAt },
    ...{ provider, subject, session: session ?? null, sealed: sealed ?? null },
  }
}

/** Deletes what expired, unless another gateway does so now, and what exceeds the limit of this person. */
async function trim(db: Db, { provider, subject }: ProviderSessionRow): Promise<void> {
  const tokens = db.selectFrom('postern_provider_session').select('token_id')
  const oldest = tokens.where('expires_ms', '<=', nowMs).orderBy('expires_ms')
  const expired = oldest.limit(100).forUpdate().skipLocked()
  const own = tokens.where('provider', '=', provider).where('subject', '=', subject)
  const surplus = own.orderBy('issued_ms', 'desc').limit(allRows).offset(mostOfSubject)
  const deleted = db
    .selectFrom(expired.as('expired'))
    .select('token_id')
    .unionAll(db.selectFrom(surplus.as('surplus')).select('token_id'))
  await db.deleteFrom('postern_provider_session').where('token_id', 'in', deleted).execute()
}

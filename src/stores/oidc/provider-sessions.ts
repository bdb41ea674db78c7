import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { failureText } from '../../background/failure-text.ts'
import { createBounded } from '../accounts/bounded.ts'
import type { Database } from '../database/database.ts'
import { allRows, nowMs, orKeep } from '../database/dialect.ts'
import { isStorable } from '../database/storable-text.ts'
import { requireTable } from '../database/table-shapes.ts'
import type { FeedLog } from '../feed/feed-log.ts'

/** A token of ours, and the session at a provider that it came from. Times are milliseconds. */
interface ProviderSessionRow {
  readonly tokenId: string
  readonly userId: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly provider: string
  readonly subject: string
  readonly session: string | undefined
  /** The sealed ID token, which names the session at logout. */
  readonly sealed: string | undefined
}

interface NamedSession {
  readonly provider: string
  readonly subject: string | undefined
  readonly session: string | undefined
}

/** How many tokens of one person are remembered, as in the list of sessions. */
const mostOfSubject = 1000
const attempts = 5
const retryMs = 2000

/** The table `postern_provider_session`. Every method but `remember` throws a Fault when it fails. */
export function createProviderSessions(
  { db, shapes }: Database,
  { log, timeoutMs }: { readonly log: FeedLog; readonly timeoutMs: number },
) {
  const bounded = createBounded(timeoutMs)
  const withTable = <Result>(work: () => Promise<Result>) =>
    bounded(async () => {
      requireTable(await shapes(), 'postern_provider_session')
      return work()
    })

  async function add(row: ProviderSessionRow): Promise<void> {
    await withTable(async () => {
      await insert(row).execute(db)
      await trim(row).execute(db)
    })
  }

  return {
    /** Stores a row beside the login, which does not wait for it. */
    async remember(row: ProviderSessionRow): Promise<void> {
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
    /** The session of a token, if it came from a provider. */
    find: (tokenId: string) =>
      withTable(async () => {
        const { rows } = await sql<{ provider: string; sealed: string | null }>`
          select provider, sealed from postern_provider_session
          where token_id = ${tokenId}`.execute(db)
        return rows[0]
      }),
    /** The tokens of one session, or of every session of a person if the session is not named. */
    tokensOf: ({ provider, subject, session }: NamedSession) =>
      withTable(async () => {
        if (![subject, session].every((text) => text === undefined || isStorable(text))) return []
        const { rows } = await sql<Record<'id' | 'userId' | 'issuedAt' | 'until', string>>`
          select token_id as "id", user_id as "userId", issued_ms::text as "issuedAt",
                 expires_ms::text as "until"
          from postern_provider_session
          where provider = ${provider} and expires_ms > ${nowMs}
            and (${session ?? null}::text is null or session = ${session ?? ''})
            and (${subject ?? null}::text is null or subject = ${subject ?? ''})`.execute(db)
        return rows.map(({ id, userId, issuedAt, until }) => ({
          ...{ kind: 'token' as const, id, userId },
          ...{ issuedAt: Number(issuedAt), until: Number(until) },
        }))
      }),
  }
}

function insert(row: ProviderSessionRow) {
  const { tokenId, userId, issuedAt, expiresAt, provider, subject, session, sealed } = row
  return sql`
    insert into postern_provider_session
      (token_id, user_id, issued_ms, expires_ms, provider, subject, session, sealed)
    values (${tokenId}, ${userId}, ${issuedAt}::bigint, ${expiresAt}::bigint, ${provider},
      ${subject}, ${session ?? null}, ${sealed ?? null})
    ${orKeep('postern_provider_session', 'token_id')}`
}

/** Deletes what expired, unless another gateway does so now, and what exceeds the limit of this person. */
function trim({ provider, subject }: ProviderSessionRow) {
  return sql`
    delete from postern_provider_session where token_id in (
      select token_id from (
        select token_id from postern_provider_session where expires_ms <= ${nowMs}
        order by expires_ms limit 100 for update skip locked) as expired
      union all
      select token_id from (
        select token_id from postern_provider_session
        where provider = ${provider} and subject = ${subject}
        order by issued_ms desc limit ${allRows} offset ${mostOfSubject}::int) as surplus)`
}

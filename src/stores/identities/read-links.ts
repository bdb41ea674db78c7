import type { Kysely } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import type { Schema } from '../database/tables.ts'

/** What an account is linked to, as operators see it. */
interface AccountLink {
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  readonly linkedBy: string
  readonly linkedAt: string
  /** The last login through it, to the hour; `null`: never. */
  readonly seenAt: string | null
}

/** The links of one account, the oldest first. None where the table is missing. */
export async function linksOf(
  { db, shapes }: Database,
  userId: string,
): Promise<readonly AccountLink[]> {
  return withFaults(async () =>
    (await shapes()).optional.has('postern_identity') ? readLinks(db, userId) : [],
  )
}

/** Reads links where the table is known to exist, also in a transaction. */
export async function readLinks(
  db: Kysely<Schema>,
  userId: string,
): Promise<readonly AccountLink[]> {
  const rows = await db
    .selectFrom('postern_identity')
    .select(['provider', 'issuer', 'subject', 'linked_by as linkedBy', 'linked_at as linkedAt'])
    .select('seen_ms as seenMs')
    .where('user_id', '=', userId)
    .orderBy('linked_at')
    .orderBy('issuer')
    .orderBy('subject')
    .execute()
  return rows.map(({ linkedAt, seenMs, ...link }) => ({
    ...link,
    linkedAt: linkedAt.toISOString(),
    seenAt: seenMs === null ? null : new Date(Number(seenMs)).toISOString(),
  }))
}

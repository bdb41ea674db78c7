import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import type { Schema } from '../database/schema.ts'

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

/** The same where the table is known to exist, also in a transaction. */
export async function readLinks(
  db: Kysely<Schema>,
  userId: string,
): Promise<readonly AccountLink[]> {
  const { rows } = await sql<Row>`
    select provider, issuer, subject, linked_by as "linkedBy", linked_at as "linkedAt",
      seen_ms::text as "seenMs"
    from postern_identity where user_id = ${userId}::bigint
    order by linked_at, issuer, subject`.execute(db)
  return rows.map(({ linkedAt, seenMs, ...link }) => ({
    ...link,
    linkedAt: linkedAt.toISOString(),
    seenAt: seenMs === null ? null : new Date(Number(seenMs)).toISOString(),
  }))
}

interface Row extends Omit<AccountLink, 'linkedAt' | 'seenAt'> {
  readonly linkedAt: Date
  readonly seenMs: string | null
}

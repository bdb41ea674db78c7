import { type Database, type Db, withFaults } from '../database/database.ts'

/** The links of one account, the oldest first. None where the table is missing. */
export async function linksOf({ db, shapes }: Database, userId: string) {
  return withFaults(async () =>
    (await shapes()).optional.has('postern_identity') ? readLinks(db, userId) : [],
  )
}

/** Reads links where the table is known to exist, also in a transaction. */
export async function readLinks(db: Db, userId: string) {
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
    /** The last login through it, to the hour; `null`: never. */
    seenAt: seenMs === null ? null : new Date(Number(seenMs)).toISOString(),
  }))
}

import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { markSeen } from '../database/mark-seen.ts'

interface SeenToken {
  readonly id: string
  /** Milliseconds since the epoch, to the minute. */
  readonly seenAt: number
}

/**
 * Stores when service tokens were last used. Skips rows that another gateway updates at this moment: two
 * must not wait for each other. Does nothing without the table: a gateway runs without it.
 */
export async function markServiceTokens(
  { db, shapes }: Database,
  seen: readonly SeenToken[],
): Promise<void> {
  await withFaults(async () => {
    const { optional } = await shapes()
    if (!optional.has('postern_service_token')) return
    await markSeen(db, 'postern_service_token', seen)
  })
}

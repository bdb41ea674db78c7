import type { Revocations } from '../../token/revocations.ts'
import type { Session, SessionStore } from './session-store.ts'

/**
 * The sessions whose tokens gateways accept, those seen last first. A revocation by any way hides its
 * session, whether or not the record was removed.
 */
export async function liveSessions(
  store: Pick<SessionStore, 'list'>,
  revocations: Pick<Revocations, 'check'>,
  userId?: string,
): Promise<readonly Session[]> {
  const found = await store.list(userId)
  return found
    .filter((session) => revocations.check({ ...session, kind: 'user' }) !== 'revoked')
    .sort((a, b) => b.seenAt - a.seenAt || b.issuedAt - a.issuedAt)
}

import type { Session } from '../../stores/sessions/session-store.ts'
import { liveSessions } from '../../stores/sessions/session-store.ts'
import { consoleIdPrefix } from '../../token/token-id.ts'
import { accountSettings, withExistingDatabase } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import type { sessionList } from './descriptions.ts'
import { withSessions } from './open-sessions.ts'

/** Lists who is logged in. */
export const run: RunOf<typeof sessionList> = async ({ user, limit }, context) => {
  const settings = accountSettings(context.configFile, context)
  const live = await withSessions(settings, withExistingDatabase, (opened) =>
    liveSessions(opened.sessions, opened.revocations),
  )
  const found = live.filter(
    ({ userId, username }) => user === undefined || user === userId || user === username,
  )
  return { document: { total: found.length, sessions: found.slice(0, limit).map(described) } }
}

function described({ issuedAt, expiresAt, seenAt, ...session }: Session) {
  const via = session.id.startsWith(consoleIdPrefix) ? ('console' as const) : ('gateway' as const)
  return {
    ...session,
    via,
    issuedAt: rfc3339(issuedAt),
    expiresAt: rfc3339(expiresAt),
    seenAt: rfc3339(seenAt),
  }
}

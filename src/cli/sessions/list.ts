import { accountSettings, withExistingDatabase } from '../../operations/configured-database.ts'
import { withSessions } from '../../operations/sessions/open-sessions.ts'
import { latestTime } from '../../stores/latest-time.ts'
import { readUserAgent } from '../../stores/login-log/user-agent.ts'
import { liveSessions } from '../../stores/sessions/live-sessions.ts'
import type { Session } from '../../stores/sessions/session-store.ts'
import { consoleIdPrefix } from '../../token/token-id.ts'
import type { Run } from '../command.ts'
import { count, formatTable, json, printable } from '../format.ts'
import type { listSpec } from './specs.ts'

/** Lists who is logged in. */
export const sessionList: Run<typeof listSpec> = async ({ options }, io) => {
  const { user, limit, output } = options
  const settings = accountSettings(options.config, io)
  const live = await withSessions(settings, withExistingDatabase, (opened) =>
    liveSessions(opened.sessions, opened.revocations),
  )
  const found = live.filter(
    ({ userId, username }) => user === undefined || user === userId || user === username,
  )
  const shown = found.slice(0, limit)
  if (output === 'json') {
    io.out(json({ total: found.length, sessions: shown.map(toJson) }))
    return 0
  }
  if (shown.length > 0) io.out(formatTable([titles, ...shown.map(toRow)]))
  const of = user === undefined ? '' : ` of ${printable(JSON.stringify(user))}`
  if (found.length === 0) io.err(`postern: no sessions${of}\n`)
  if (found.length > limit) {
    io.err(`postern: ${limit} of ${count(found.length, 'session')}: raise --limit to see more\n`)
  }
  return 0
}

const titles = ['ID', 'USER', 'ROLE', 'ADDRESS', 'AGENT', 'ISSUED', 'EXPIRES', 'LAST SEEN']

function toRow(session: Session): readonly string[] {
  const { id, username, roleKey, address, agent, issuedAt, expiresAt, seenAt } = session
  const { browser, os } = readUserAgent(agent)
  const client = [browser, os].filter((part) => part !== '').join(', ') || agent.slice(0, 40)
  const times = [toSecond(issuedAt), toSecond(expiresAt), toMinute(seenAt)]
  return [id, username, roleKey, address, client, ...times]
}

function toJson({ issuedAt, expiresAt, seenAt, ...session }: Session) {
  return {
    ...session,
    via: session.id.startsWith(consoleIdPrefix) ? 'console' : 'gateway',
    issuedAt: rfc3339(issuedAt),
    expiresAt: rfc3339(expiresAt),
    seenAt: rfc3339(seenAt),
  }
}

function rfc3339(ms: number): string {
  return new Date(Math.min(ms, latestTime)).toISOString()
}

function toSecond(ms: number): string {
  return rfc3339(ms).replace(/\.\d+Z$/, 'Z')
}

function toMinute(ms: number): string {
  return rfc3339(ms).replace(/:\d\d\.\d+Z$/, 'Z')
}

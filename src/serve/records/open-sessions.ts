import type { OnIdentified } from '../../gateway/pipeline.ts'
import type { OnIssued } from '../../login/login.ts'
import type { Database } from '../../stores/database/database.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import { markServiceTokens } from '../../stores/services/service-tokens.ts'
import { openSessionStore } from '../../stores/sessions/open-session-store.ts'
import {
  createSessionRecorder,
  type SessionRecorder,
} from '../../stores/sessions/session-recorder.ts'
import type { Assembly } from '../assembly.ts'
import { clock, type ServeOptions } from '../options.ts'

/** Records who is logged in, where revocations are stored. */
export function openSessions(
  { log, now = clock }: ServeOptions,
  stores: {
    readonly redis: RedisClient | undefined
    readonly database: Database
  },
  assembly: Assembly,
): SessionRecorder {
  const recorder = createSessionRecorder({
    store: openSessionStore(stores),
    markServices: (seen) => markServiceTokens(stores.database, seen),
    now: () => now() * 1000,
    log,
  })
  assembly.add({
    close: recorder.close,
    metrics(registry) {
      registry.readCounter({
        name: 'postern_session_write_failures_total',
        help: 'Failed writes of session records; they are retried.',
        read: () => recorder.state().failures,
      })
      registry.readCounter({
        name: 'postern_session_records_dropped_total',
        help: 'Session records dropped because too many waited for the store.',
        read: () => recorder.state().dropped,
      })
    },
  })
  return recorder
}

/** Makes a session of every token that a login issues. */
export function recordLogins({ opened }: SessionRecorder): OnIssued {
  return ({ id, issuedAt, expiresAt }, { caller }, { address, userAgent }) => {
    const { userId, username, roleKey } = caller
    opened({
      ...{ id, userId, username, roleKey, address, agent: userAgent },
      ...{ issuedAt, expiresAt: expiresAt.getTime() },
    })
  }
}

/** Notes the token of every identified caller, then does `next`. */
export function noteCallers(
  { seen }: SessionRecorder,
  next: OnIdentified = () => {},
): OnIdentified {
  return (identified) => {
    if (identified.token !== undefined) seen(identified.token)
    next(identified)
  }
}

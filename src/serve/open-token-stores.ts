import { dirname, join } from 'node:path'
import type { Closing } from '../closing.ts'
import type { OnIdentified } from '../gateway/pipeline.ts'
import type { OnIssued } from '../login/login.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Database } from '../stores/database/database.ts'
import type { RedisClient } from '../stores/redis/redis.ts'
import { openRevocations } from '../stores/revocations/open-revocations.ts'
import type { RevocationFeed } from '../stores/revocations/revocation-feed.ts'
import type { SnapshotLocation } from '../stores/revocations/revocation-files.ts'
import { markServiceTokens } from '../stores/services/seen-tokens.ts'
import { openSessionStore } from '../stores/sessions/open-session-store.ts'
import { createSessionRecorder, type SessionRecorder } from '../stores/sessions/session-recorder.ts'
import type { Revocations } from '../token/revocations.ts'
import { clock, type ServeOptions } from './options.ts'

/** Keeps the revocation list of this gateway in step with the store that replicas share. */
export async function openRevocationFeed(
  options: ServeOptions,
  stores: {
    redis: RedisClient | undefined
    database: Database
    revocations: Revocations
  },
  closing: Closing,
): Promise<RevocationFeed> {
  const { config, log, now = clock } = options
  const feed = await openRevocations({
    ...stores,
    redisSettings: config.redis,
    ...config.revocation,
    snapshot: snapshotLocation(options),
    log,
    now: () => now() * 1000,
  })
  closing.add(feed.close)
  return feed
}

/** On by default: without it, a gateway that restarts while Redis is unreachable accepts revoked tokens. */
function snapshotLocation({
  config: { application, policy, revocation },
  asWorker,
}: ServeOptions): SnapshotLocation {
  const directory =
    policy.snapshot === undefined ? application.dataDirectory : dirname(policy.snapshot)
  const file = revocation.snapshot ?? join(directory, 'revocations.snapshot')
  return { file, worker: asWorker?.number }
}

/** Records who is logged in, where revocations are stored. */
export function openSessions(
  { log, now = clock }: ServeOptions,
  stores: {
    readonly redis: RedisClient | undefined
    readonly database: Database
    readonly registry: MetricRegistry
  },
  closing: Closing,
): SessionRecorder {
  const recorder = createSessionRecorder({
    store: openSessionStore(stores),
    markServices: (seen) => markServiceTokens(stores.database, seen),
    now: () => now() * 1000,
    log,
  })
  closing.add(recorder.close)
  const { registry } = stores
  registry.readCounter(
    {
      name: 'postern_session_write_failures_total',
      help: 'Failed writes of session records; they are retried.',
    },
    () => [{ value: recorder.state().failures }],
  )
  registry.readCounter(
    {
      name: 'postern_session_records_dropped_total',
      help: 'Session records dropped because too many waited for the store.',
    },
    () => [{ value: recorder.state().dropped }],
  )
  return recorder
}

/** Makes a session of every token that a login issues. */
export function recordLogins({ opened }: SessionRecorder): OnIssued {
  return ({ id, issuedAt, expiresAt }, { userId, username, roleKey }, { address, userAgent }) =>
    opened({
      ...{ id, userId, username, roleKey, address, agent: userAgent },
      ...{ issuedAt, expiresAt: expiresAt.getTime() },
    })
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

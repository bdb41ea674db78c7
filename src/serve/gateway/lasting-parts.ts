import type { Config } from '../../config/schema/schema.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import type { createDecisionWatch } from '../../gateway/evidence/decision-watch.ts'
import { createBodyMemory } from '../../gateway/exchange/body-memory.ts'
import { createEventStreams } from '../../gateway/exchange/event-streams.ts'
import { createOpenExchanges } from '../../gateway/exchange/open-exchanges.ts'
import { createStillAllowed } from '../../gateway/exchange/still-allowed.ts'
import type { Tunnels } from '../../gateway/exchange/tunnels.ts'
import type { AdmitParts, OwnResponses } from '../../gateway/pipeline.ts'
import { createRouteLimits } from '../../gateway/route/route-limits.ts'
import type { TokenCookie } from '../../http/token-cookie.ts'
import type { Log, WriteDecision } from '../../log/log.ts'
import { addressBlock } from '../../login/address-block.ts'
import type { Messages } from '../../messages/messages.ts'
import { createClientContexts } from '../../stores/keys/client-contexts.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import { createRedisSharedCounters } from '../../stores/limits/redis-shared-counters.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import type { RevocationFeed } from '../../stores/revocations/revocation-feed.ts'
import type { SessionRecorder } from '../../stores/sessions/session-recorder.ts'
import type { Tokens } from '../../token/tokens.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Assembly } from '../assembly.ts'
import type { ResponseSettings } from '../login/build-page.ts'

/** What the gateway is built on. */
export interface GatewayParts {
  readonly tokens: Tokens
  readonly revocations: RevocationFeed
  readonly sessions: SessionRecorder
  readonly policies: AdmitParts['policies']
  readonly responsesWith: (
    current: ResponseSettings & { readonly messages: Messages },
  ) => OwnResponses
  readonly redis: RedisClient | undefined
  readonly tunnels: Tunnels
  readonly now: () => number
  readonly keys: OpenKeys['current']
  readonly cookie: TokenCookie
  readonly crossSite: FindCrossSite
  readonly tracing: Tracing | undefined
  readonly record: WriteDecision | undefined
  readonly watchDecisions: ReturnType<typeof createDecisionWatch>['wrap']
  readonly usage: Pick<AdmitParts, 'observe' | 'onIdentified'> | undefined
  readonly shadow: AdmitParts['observe']
  readonly log: Log
  /** Whether the shutdown has begun. */
  readonly isDraining: () => boolean
}

/** What every generation of the gateway shares: a reload neither closes nor resets it. */
export type LastingParts = ReturnType<typeof openLastingParts>

export function openLastingParts(config: Config, parts: GatewayParts, assembly: Assembly) {
  const { tokens, policies, now, redis, tunnels } = parts
  const limits = createRouteLimits({
    addressBlock,
    now: () => now() * 1000,
    share: redis && createRedisSharedCounters(redis),
  })
  assembly.add({ close: async () => limits.close() })
  const stillAllowed = createStillAllowed({ problemOf: tokens.problemOf, policies })
  const openExchanges = createOpenExchanges(stillAllowed, config.revocation.sweepMs)
  assembly.add({ close: openExchanges.close })
  const eventStreams = createEventStreams()
  assembly.registry.readGauge({
    name: 'postern_open_streams',
    aggregate: 'sum',
    help: 'Open upgraded connections and event streams.',
    labels: ['kind'],
    read: () => [
      [tunnels.count(), 'upgrade'],
      [eventStreams.count(), 'events'],
    ],
  })
  return {
    ...parts,
    limits,
    openExchanges,
    eventStreams,
    bodyMemory: createBodyMemory(maxBodyMemory),
    readContext: createClientContexts(),
  }
}

/** Body starts that wait for a connection; beyond this, requests take a connection at once. */
const maxBodyMemory = 33_554_432

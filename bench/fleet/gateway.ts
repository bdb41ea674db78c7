import { createLivePolicies } from '../../src/policy/live.ts'
import { createMemoryCounters } from '../../src/stores/limits/memory-counters.ts'
import { createRedisCounters } from '../../src/stores/limits/redis-counters.ts'
import { createRedisSharedCounters } from '../../src/stores/limits/redis-shared-counters.ts'
import { openPolicySource } from '../../src/stores/policies/open-policy-source.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createRedisRevocations } from '../../src/stores/revocations/redis-revocations.ts'
import { createRevocationFeed } from '../../src/stores/revocations/revocation-feed.ts'
import { createRevocations } from '../../src/token/revocations.ts'

/** What one gateway does with Redis, and nothing else of it: no ports, no requests, no database. */
export interface FleetGateway {
  readonly revision: () => string | undefined
  /** Whether Redis has confirmed both the policy and the list of revoked tokens. */
  readonly isCurrent: () => boolean
  /** One login attempt counted, and the counts of four route limits shared. */
  readonly count: (second: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface FleetGatewayParts {
  readonly url: string
  readonly prefix: string
  readonly number: number
  readonly onPolicy: (revision: string) => void
  readonly onRevoked: (id: string) => void
}

const limit = { hits: 1000, windowSeconds: 60, lockoutSeconds: 1, maxLockoutSeconds: 60 }
const silent = { info() {}, warn() {} }

export async function startFleetGateway(parts: FleetGatewayParts): Promise<FleetGateway> {
  const { url, prefix, number, onPolicy, onRevoked } = parts
  // The defaults of a gateway.
  const settings = { url, prefix, connectTimeoutMs: 1500, commandTimeoutMs: 300 }
  const log = {
    info(fields: object, text: string) {
      if (text === 'policy loaded' && 'revision' in fields) onPolicy(String(fields.revision))
    },
    warn() {},
  }
  const policies = await openPolicySource({
    policy: { source: 'redis', directory: '', pollSeconds: 3, replicaMemory: 86_400 },
    redis: settings,
    live: createLivePolicies(),
    log,
    version: 'fleet',
  })

  const redis = createRedis(settings)
  await redis.connect().catch(() => {})
  const list = createRevocations(Date.now)
  const revocations = createRevocationFeed({
    store: createRedisRevocations(redis, settings),
    revocations: {
      ...list,
      add(revocation) {
        const isNew = !list.has(revocation)
        list.add(revocation)
        if (isNew && revocation.kind === 'token') onRevoked(revocation.id)
      },
    },
    log: silent,
    now: Date.now,
    maxAgeMs: 5000,
    whenStale: 'serve',
  })
  await revocations.start()
  const counters = createRedisCounters({ redis, local: createMemoryCounters(), onUnreachable() {} })
  const addToShared = createRedisSharedCounters(redis)

  return {
    revision: policies.revision,
    isCurrent: () => !policies.state().stale && revocations.state().lastError === undefined,
    async count(second) {
      await counters.hit([{ key: `login:address:${number % 100}`, limit }])
      const names = [0, 1, 2, 3].map((route) => `route-${route}`)
      await addToShared(names.map((name) => ({ name, window: second, seconds: 60, count: 5 })))
    },
    async close() {
      await policies.close()
      await revocations.close()
      await redis.close()
    },
  }
}

import type { Evidence } from '../../src/policy/shadow/evidence.ts'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createShadowReports } from '../../src/stores/policies/shadow/shadow-reports.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { prefix } from '../support/published-policies.ts'
import type { RedisServer } from '../support/redis-server.ts'

/** What a replica says about itself and the shadow. */
export interface Said {
  readonly id: string
  readonly evaluatingMs?: number
  readonly problem?: string
  readonly evidence?: Partial<Evidence>
  /** Whether it still runs, and for how long it has been silent. */
  readonly runs?: false
  readonly silentSeconds?: number
}

/** Says it once; without the sequence of a shadow, as a replica that knows nothing of shadows. */
export async function sayAs(
  redis: Pick<RedisServer, 'url' | 'client'>,
  sequence: number | undefined,
  { id, silentSeconds = 0, ...said }: Said,
) {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  const { runs = true, evidence, evaluatingMs = 7_200_000, problem } = said
  const own = { revision: 'r-000000000000', sequence: 1, stale: false, version: '0.2.0' }
  if (runs) await createReplicas(client, 86_400_000).report({ id, ...own })
  await redis.client.zincrby(`${prefix}replicas:known`, -silentSeconds * 1000, id)
  if (!runs) await redis.client.zrem(`${prefix}replicas:known`, id)
  const nothing = { evaluated: 0, wouldDeny: 0, wouldAllow: 0, failed: 0 }
  const whole = { ...nothing, against: [], disagreements: [], ...evidence }
  const report = { id, evaluatingMs, evidence: whole, ...(problem !== undefined && { problem }) }
  if (sequence !== undefined) await createShadowReports(client).report(report, sequence)
  await client.close()
}

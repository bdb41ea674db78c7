import type { Config } from '../../config/schema/schema.ts'
import { addUpstreamMetrics } from '../../gateway/upstream/upstream-metrics.ts'
import type { Assembly } from '../assembly.ts'
import { upstreamFacts } from '../own-facts.ts'
import { buildGeneration } from './build-gateway.ts'
import { type GatewayParts, openLastingParts } from './lasting-parts.ts'

/**
 * The gateway, whose configuration can be replaced while it serves: requests in progress keep theirs.
 * If a file that the new one names cannot be used, the current generation stays.
 */
export type OpenGateway = Awaited<ReturnType<typeof openGateway>>

export async function openGateway(config: Config, parts: GatewayParts, assembly: Assembly) {
  const lasting = openLastingParts(config, parts, assembly)
  let current = await buildGeneration(config, lasting)
  let isClosed = false
  assembly.add({
    metrics: (registry) => addUpstreamMetrics(registry, () => current.upstreams.all),
    facts: () => ({ upstreams: upstreamFacts(current.upstreams.all) }),
    async apply(next) {
      const before = current
      const built = await buildGeneration(next, lasting, before)
      if (isClosed) return built.close()
      current = built
      before.upstreams.retireUnlessIn(current.upstreams)
    },
    async close() {
      isClosed = true
      await current.close()
    },
  })
  return {
    /** What requests that begin now are served by. */
    current: () => current,
  }
}

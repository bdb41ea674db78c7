import type { Config } from '../../config/schema/schema.ts'
import type { Closing } from '../../kernel/closing.ts'
import { addUpstreamMetrics } from '../../metrics/upstream-metrics.ts'
import { buildGeneration, type Generation } from './build-gateway.ts'
import { type GatewayParts, openLastingParts } from './lasting-parts.ts'

/** The gateway, whose configuration can be replaced while it serves. */
export interface OpenGateway {
  /** What requests that begin now are served by. */
  readonly current: () => Generation
  /**
   * Serves new requests by this configuration. Requests in progress keep theirs. Throws when a file
   * that it names cannot be used; the current generation then stays.
   */
  readonly apply: (config: Config) => Promise<void>
}

export async function openGateway(
  config: Config,
  parts: GatewayParts,
  closing: Closing,
): Promise<OpenGateway> {
  const lasting = openLastingParts(config, parts, closing)
  let current = await buildGeneration(config, lasting)
  let isClosed = false
  closing.add(async () => {
    isClosed = true
    await current.close()
  })
  addUpstreamMetrics(parts.registry, () => current.upstreams.all)

  return {
    current: () => current,
    async apply(next) {
      const before = current
      const built = await buildGeneration(next, lasting, before)
      if (isClosed) return built.close()
      current = built
      before.upstreams.retireUnlessIn(current.upstreams)
    },
  }
}

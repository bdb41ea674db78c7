import type { Tunnels } from '../../gateway/exchange/tunnels.ts'
import { outcomes } from '../../http/ended-request.ts'
import { createDrain } from '../../http/port/drain.ts'
import { createListeners } from '../../http/port/listeners.ts'
import { createOverload } from '../../http/port/overload.ts'
import { createPublicServer } from '../../http/public-server.ts'
import { shutdownProblems } from '../../http/readiness.ts'
import { addOverloadMetrics } from '../../metrics/gateway-metrics.ts'
import { createRequestMetrics } from '../../metrics/request-metrics.ts'
import { openCertificate } from '../../stores/keys/certificate-feed.ts'
import { addCertificateMetrics } from '../../stores/keys/certificate-metrics.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Assembly } from '../assembly.ts'
import type { OpenGateway } from '../gateway/open-gateway.ts'
import type { ServeOptions } from '../options.ts'
import { certificateFacts } from '../own-facts.ts'
import { createClientPorts } from './client-ports.ts'
import { drainOptions, drainTimes, listenerSettings } from './draining.ts'
import { openForwardAuth } from './open-forward-auth.ts'

interface PortParts {
  readonly gateway: OpenGateway
  readonly tracing: Tracing | undefined
  readonly tls: Awaited<ReturnType<typeof openTls>>
  readonly tunnels: Tunnels
}

/** The public port and the forward-auth port. They take no connections until `open`. */
export function buildPorts(options: ServeOptions, parts: PortParts, assembly: Assembly) {
  const { config, log } = options
  const { gateway, tracing, tls, tunnels } = parts
  const overload = createOverload(config.overload, log)
  assembly.add({
    metrics: (registry) => addOverloadMetrics(registry, overload.share),
    close: async () => overload.close(),
  })
  const metrics = createRequestMetrics(assembly.registry, {
    outcomes,
    limitedRoutes: config.routes.filter(({ limit }) => limit !== undefined).map(({ path }) => path),
    upstreams: Object.keys(config.upstreams),
  })
  const { faults, clients, proxies } = createClientPorts(options, assembly.registry, (address) =>
    gateway.current().isTrustedProxy(address),
  )
  const { plainRequests, http2, h2c } = config.application
  const { limits } = config
  const common = { log, metrics, overload, tracing, limits, faults, plainRequests }
  const maxStreams = limits.streamsPerConnection
  const publicServer = createPublicServer({
    ...common,
    clients,
    current: () => gateway.current().requests,
    upgrades: config.upgrades.protocols,
    http2: { enabled: http2, plain: h2c, maxStreams },
    tls,
  })
  const listeners = createListeners(publicServer, clients, listenerSettings(options))
  const drain = createDrain(publicServer, listeners, drainTimes(config), {
    ...drainOptions(options),
    closeTunnels: () => tunnels.closeAll(1001),
  })

  assembly.add({
    checks: shutdownProblems.map(({ name, problem }) => ({
      name,
      problem: () => (drain.isDraining() ? problem : undefined),
    })),
  })

  return {
    isDraining: drain.isDraining,
    async open() {
      const forwardAuth = await openForwardAuth(options, proxies, () =>
        createPublicServer({
          ...common,
          clients: proxies,
          current: () => gateway.current().forwardAuth,
          upgrades: [],
          // Envoy asks over gRPC.
          http2: { enabled: false, plain: true, maxStreams },
        }),
      )
      assembly.add({ close: forwardAuth.close })
      const publicPort = await listeners.open(config.application)
      // Together, so that proxies and clients notice the shutdown at the same time.
      assembly.add({ close: () => Promise.all([drain.close(), forwardAuth.close()]) })
      return { publicPort, forwardAuthPort: forwardAuth.port }
    },
  }
}

/** The certificate of the public port, if `tls` is configured. */
export async function openTls({ config, log, asWorker }: ServeOptions, assembly: Assembly) {
  if (config.tls === undefined) return undefined
  const certificate = await openCertificate({ ...config.tls, log })
  assembly.add({
    details: { tls: certificate.state },
    facts: () => ({ certificate: certificateFacts(certificate.state()) }),
    close: certificate.close,
  })
  const failed = addCertificateMetrics(assembly.registry, certificate.state)
  return { ...certificate, minVersion: config.tls.minVersion, failed, ...asWorker }
}

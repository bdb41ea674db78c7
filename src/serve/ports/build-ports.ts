import type { Server } from 'node:http'
import type { Tunnels } from '../../gateway/exchange/tunnels.ts'
import {
  type ClientConnections,
  type ConnectionLimits,
  createClientConnections,
} from '../../http/connections/client-connections.ts'
import { createClientFaults } from '../../http/connections/client-faults.ts'
import { outcomes } from '../../http/ended-request.ts'
import { createDrain } from '../../http/port/drain.ts'
import { readListenOverflows } from '../../http/port/listen-overflows.ts'
import { createListeners } from '../../http/port/listeners.ts'
import { createOverload } from '../../http/port/overload.ts'
import { createPublicServer } from '../../http/public-server.ts'
import { shutdownProblems } from '../../http/readiness.ts'
import { flushMs } from '../../kernel/closing.ts'
import {
  addConnectionGauge,
  addListenOverflows,
  createConnectionMetrics,
} from '../../metrics/connection-metrics.ts'
import { addOverloadMetrics } from '../../metrics/gateway-metrics.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { createRequestMetrics } from '../../metrics/request-metrics.ts'
import { openCertificate } from '../../stores/keys/certificate-feed.ts'
import { addCertificateMetrics } from '../../stores/keys/key-metrics.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { firstReserved } from '../../workers/descriptors.ts'
import type { Assembly } from '../assembly.ts'
import type { OpenGateway } from '../gateway/open-gateway.ts'
import type { ServeOptions } from '../options.ts'
import { certificateFacts } from '../own-facts.ts'

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
  const { listeners, drain } = createDraining(publicServer, clients, options, () =>
    tunnels.closeAll(1001),
  )

  assembly.add({
    checks: shutdownProblems.map(({ name, problem }) => ({
      name,
      problem: () => (drain.isDraining() ? problem : undefined),
    })),
  })

  return {
    isDraining: drain.isDraining,
    async open() {
      const forwardAuth = config.forwardAuth.enabled
        ? createDraining(
            createPublicServer({
              ...common,
              clients: proxies,
              current: () => gateway.current().forwardAuth,
              upgrades: [],
              // Envoy asks over gRPC.
              http2: { enabled: false, plain: true, maxStreams },
            }),
            proxies,
            options,
          )
        : undefined
      const forwardAuthPort = await forwardAuth?.listeners.open(config.forwardAuth)
      let closed: Promise<void> | undefined
      const closeForwardAuth = async () => {
        closed ??= forwardAuth?.drain.close()
        await closed
      }
      assembly.add({ close: closeForwardAuth })
      const publicPort = await listeners.open(config.application)
      // Together, so that proxies and clients notice the shutdown at the same time.
      assembly.add({ close: () => Promise.all([drain.close(), closeForwardAuth()]) })
      return { publicPort, forwardAuthPort }
    },
  }
}

/** The listeners of a server, and its shutdown. */
function createDraining(
  server: Server,
  clients: ClientConnections,
  { config, log, abortSignal, asWorker }: ServeOptions,
  closeTunnels = () => {},
) {
  const { graceMs, idleMs, deadlineMs } = config.shutdown
  const listeners = createListeners(server, clients, { single: asWorker !== undefined })
  // Requests have the deadline, less the time that stores need to flush after them.
  const times = { graceMs, idleMs, deadlineMs: deadlineMs - flushMs(deadlineMs) }
  const onCut = (connections: number) =>
    log.warn({ connections }, 'connections closed before their responses were complete')
  const drain = createDrain(server, listeners, times, { abortSignal, onCut, closeTunnels })
  return { listeners, drain }
}

/** Client connections of the ports that take requests, with limits, log and metrics. */
function createClientPorts(
  { config, log, asWorker }: ServeOptions,
  registry: MetricRegistry,
  isExempt: (address: string) => boolean,
) {
  const { limits, tls } = config
  const faults = createClientFaults(log, createConnectionMetrics(registry))
  const common: ConnectionLimits = { most: limits.connections, descriptors: firstReserved(config) }
  const clients = createClientConnections(
    { ...common, perAddress: limits.connectionsPerAddress, isExempt, tls: tls !== undefined },
    faults,
  )
  // Clients of the forward-auth port are proxies, so no address has a limit of its own.
  const proxies = createClientConnections(common, faults)
  addConnectionGauge(registry, () => [clients.counts(), proxies.counts()])
  if (asWorker === undefined) addListenOverflows(registry, readListenOverflows)
  return { faults, clients, proxies }
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

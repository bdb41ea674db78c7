import {
  type ClientConnections,
  type ConnectionLimits,
  createClientConnections,
} from '../../http/connections/client-connections.ts'
import { type ClientFaults, createClientFaults } from '../../http/connections/client-faults.ts'
import { readListenOverflows } from '../../http/port/listen-overflows.ts'
import {
  addConnectionGauge,
  addListenOverflows,
  createConnectionMetrics,
} from '../../metrics/connection-metrics.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { firstReserved } from '../../workers/descriptors.ts'
import type { ServeOptions } from '../options.ts'

/** Client connections of the ports that take requests, with limits, log and metrics. */
interface ClientPorts {
  readonly faults: ClientFaults
  /** Of the public port. */
  readonly clients: ClientConnections
  /** Of the forward-auth port. Its clients are proxies, so no address has a limit of its own. */
  readonly proxies: ClientConnections
}

export function createClientPorts(
  { config, log, asWorker }: ServeOptions,
  registry: MetricRegistry,
  isExempt: (address: string) => boolean,
): ClientPorts {
  const { limits, tls } = config
  const faults = createClientFaults(log, createConnectionMetrics(registry))
  const common: ConnectionLimits = { most: limits.connections, descriptors: firstReserved(config) }
  const clients = createClientConnections(
    { ...common, perAddress: limits.connectionsPerAddress, isExempt, tls: tls !== undefined },
    faults,
  )
  const proxies = createClientConnections(common, faults)
  addConnectionGauge(registry, () => [clients.counts(), proxies.counts()])
  if (asWorker === undefined) addListenOverflows(registry, readListenOverflows)
  return { faults, clients, proxies }
}

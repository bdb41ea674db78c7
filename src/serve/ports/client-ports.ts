import {
  type ConnectionLimits,
  createClientConnections,
} from '../../http/connections/client-connections.ts'
import { createClientFaults } from '../../http/connections/client-faults.ts'
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
export function createClientPorts(
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

import type { MetricRegistry } from './registry.ts'

function countByReason<Reason extends string>(
  registry: MetricRegistry,
  reasons: readonly Reason[],
  metric: { readonly name: string; readonly help: string },
): (reason: Reason) => void {
  const fromZero = reasons.map((reason) => [reason])
  return registry.counter({ ...metric, labels: ['reason'], fromZero })
}

/** Limits that can reject a new connection. */
const connectionBounds = ['connections', 'address', 'descriptors'] as const
export type ConnectionBound = (typeof connectionBounds)[number]

/** Why the gateway closed an open connection. */
const closeReasons = [
  ...connectionBounds,
  'unread-body',
  'unread-response',
  'broken-body',
  'flood',
] as const
export type CloseReason = (typeof closeReasons)[number]

/** Why bytes were rejected before they became a request with a log line. */
const requestRejections = [
  'malformed',
  'incomplete',
  'headers-too-large',
  'chunk-extensions-too-large',
  'timeout',
  'client-left',
  'http2',
  'refused',
  'method',
  'upgrade',
] as const
export type RequestRejection = (typeof requestRejections)[number]

export type ConnectionMetrics = ReturnType<typeof createConnectionMetrics>

/** What happens to client connections, on all ports that take requests. */
export function createConnectionMetrics(registry: MetricRegistry) {
  return {
    rejected: countByReason(registry, connectionBounds, {
      name: 'postern_connections_rejected_total',
      help: 'New client connections refused because a limit was reached and no idle connection could be closed instead.',
    }),
    closed: countByReason(registry, closeReasons, {
      name: 'postern_connections_closed_total',
      help: 'Open client connections closed by the gateway: idle ones at a limit, and those with an unread body, an unread response, a body that broke after its response had begun, or a flood of HTTP/2 frames.',
    }),
    requestRejected: countByReason(registry, requestRejections, {
      name: 'postern_requests_rejected_total',
      help: 'Requests rejected while they were read, before routing; they are not in postern_requests_total.',
    }),
  }
}

/** Open connections of clients, of all ports together. */
export function addConnectionGauge(
  registry: MetricRegistry,
  ports: () => readonly { readonly idle: number; readonly active: number }[],
): void {
  registry.readGauge({
    name: 'postern_client_connections',
    help: 'Open client connections; active ones have a request in flight.',
    labels: ['state'],
    aggregate: 'sum',
    read: () =>
      (['idle', 'active'] as const).map((state) => [
        ports().reduce((sum, counts) => sum + counts[state], 0),
        state,
      ]),
  })
}

/** Connections that never reached the gateway. The supervisor alone reports them: the system counts for all workers. */
export function addListenOverflows(registry: MetricRegistry, read: () => number | undefined): void {
  const before = read() ?? 0
  registry.readCounter({
    name: 'postern_listen_overflows_total',
    help: 'Connections the operating system dropped since the start because an accept queue was full, of all processes in the network namespace.',
    read: () => (read() ?? before) - before,
  })
}

import type { Figures } from './registry.ts'

function countByReason<Reason extends string>(
  figures: Figures,
  reasons: readonly Reason[],
  figure: { readonly name: string; readonly help: string },
): (reason: Reason) => void {
  const fromZero = reasons.map((reason) => [reason])
  return figures.counter({ ...figure, labels: ['reason'], fromZero })
}

/** The bounds that a new connection can meet. */
const connectionBounds = ['connections', 'address', 'descriptors'] as const
export type ConnectionBound = (typeof connectionBounds)[number]

/** Why the gateway closed a connection that was open. */
const closeReasons = [...connectionBounds, 'unread-body', 'unread-response', 'broken-body'] as const
export type CloseReason = (typeof closeReasons)[number]

/** Why bytes were rejected before there was a request to log. */
const requestRejections = [
  'malformed',
  'incomplete',
  'headers-too-large',
  'chunk-extensions-too-large',
  'timeout',
  'client-left',
  'http2',
  'method',
  'upgrade',
] as const
export type RequestRejection = (typeof requestRejections)[number]

export interface ConnectionMetrics {
  readonly rejected: (bound: ConnectionBound) => void
  readonly closed: (reason: CloseReason) => void
  readonly requestRejected: (reason: RequestRejection) => void
}

/** What happens to clients before and besides their requests, on all ports that take requests. */
export function createConnectionMetrics(figures: Figures): ConnectionMetrics {
  return {
    rejected: countByReason(figures, connectionBounds, {
      name: 'postern_connections_rejected_total',
      help: 'New client connections refused because a limit was reached and no idle connection could be closed instead.',
    }),
    closed: countByReason(figures, closeReasons, {
      name: 'postern_connections_closed_total',
      help: 'Open client connections closed by the gateway: idle ones at a limit, and those with an unread body, an unread response, or a body that broke after its response had begun.',
    }),
    requestRejected: countByReason(figures, requestRejections, {
      name: 'postern_requests_rejected_total',
      help: 'Requests rejected while they were read, before routing; they are not in postern_requests_total.',
    }),
  }
}

/** Open connections of clients, of all ports together. */
export function addConnectionGauge(
  figures: Figures,
  ports: () => readonly { readonly idle: number; readonly active: number }[],
): void {
  figures.readGauge(
    {
      name: 'postern_client_connections',
      help: 'Open client connections; active ones have a request in flight.',
      labels: ['state'],
      whole: 'sum',
    },
    () =>
      (['idle', 'active'] as const).map((state) => ({
        value: ports().reduce((sum, counts) => sum + counts[state], 0),
        labels: { state },
      })),
  )
}

/** Connections that never reached the gateway. Once for all workers: the system counts for all. */
export function addListenOverflows(figures: Figures, read: () => number | undefined): void {
  const before = read() ?? 0
  figures.readCounter(
    {
      name: 'postern_listen_overflows_total',
      help: 'Connections the operating system dropped since the start because an accept queue was full, of all processes in the network namespace.',
    },
    () => [{ value: (read() ?? before) - before }],
  )
}

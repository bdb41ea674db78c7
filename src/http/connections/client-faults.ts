import type { Log } from '../../log/log.ts'
import type {
  CloseReason,
  ConnectionBound,
  ConnectionMetrics,
  RequestRejection,
} from '../../metrics/connection-metrics.ts'
import { createLogSample } from './sampled-log.ts'

/** Counts, and logs a sample of, events that have no request log line. */
export interface ClientFaults {
  /** A new connection was rejected: at a limit, with no idle connection to close instead. */
  readonly rejected: (bound: ConnectionBound, client: string | undefined) => void
  /** An open connection was closed. */
  readonly closed: (reason: CloseReason, client: string | undefined) => void
  /** Bytes were rejected before there was a request. */
  readonly requestRejected: (reason: RequestRejection, client: string | undefined) => void
}

export function createClientFaults(log: Log, metrics: ConnectionMetrics): ClientFaults {
  const sample = createLogSample(log)
  return {
    rejected(reason, client) {
      metrics.rejected(reason)
      sample('warn', { reason, client }, 'connection rejected')
    },
    closed(reason, client) {
      metrics.closed(reason)
      sample('warn', { reason, client }, 'connection closed')
    },
    requestRejected(reason, client) {
      metrics.requestRejected(reason)
      sample('info', { reason, client }, 'request rejected')
    },
  }
}

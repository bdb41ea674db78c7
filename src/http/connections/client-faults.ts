import type { Log } from '../../log/log.ts'
import type {
  CloseReason,
  ConnectionBound,
  ConnectionMetrics,
  RequestRejection,
} from '../../metrics/connection-metrics.ts'
import { createLogSample } from './sampled-log.ts'

/** Counts, and logs a sample of, events that have no request log line. */
export type ClientFaults = ReturnType<typeof createClientFaults>

export function createClientFaults(log: Log, metrics: ConnectionMetrics) {
  const sample = createLogSample(log)
  return {
    /** A new connection was rejected: at a limit, with no idle connection to close instead. */
    rejected(reason: ConnectionBound, client: string | undefined) {
      metrics.rejected(reason)
      sample('warn', { reason, client }, 'connection rejected')
    },
    /** An open connection was closed. */
    closed(reason: CloseReason, client: string | undefined) {
      metrics.closed(reason)
      sample('warn', { reason, client }, 'connection closed')
    },
    /** Bytes were rejected before there was a request. */
    requestRejected(reason: RequestRejection, client: string | undefined) {
      metrics.requestRejected(reason)
      sample('info', { reason, client }, 'request rejected')
    },
  }
}

import type { Config } from '../config/schema/schema.ts'
import type { DecisionBatch } from '../fleet/decision-batch.ts'
import type { ReplicaOnHost } from '../fleet/replica-facts.ts'
import type { Readiness } from '../http/readiness.ts'
import type { UpstreamReport } from '../http/sum-upstreams.ts'
import type { MetricSnapshot } from '../metrics/snapshot.ts'

/** The answer to each question. */
export interface Answers {
  readonly metrics: readonly MetricSnapshot[]
  /** Without those of the process: reading the event-loop delay resets it. */
  readonly ownMetrics: readonly MetricSnapshot[]
  readonly readiness: Readiness
  readonly upstreams: readonly UpstreamReport[]
  readonly replicas: readonly ReplicaOnHost[]
  readonly publicKeys: readonly object[]
  /** What the worker decided since the last question. */
  readonly decisions: DecisionBatch
}

export type Question = keyof Answers

/** What a worker needs to start. The supervisor reads the configuration once for all workers. */
export interface Start {
  readonly kind: 'start'
  readonly number: number
  readonly config: Config
  /** Whether the log goes to a terminal. A worker cannot see that: its output is a pipe. */
  readonly isTerminal: boolean
  /** TLS session ticket keys in base64, shared so that a session can resume at another worker. */
  readonly ticketKeys: string
}

/** From the supervisor to a worker. */
export type ToWorker =
  | Start
  /** Serve new requests by this configuration. Answers to later questions come after that. */
  | { readonly kind: 'configure'; readonly config: Config }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** Shut down in order, within that time. */
  | { readonly kind: 'close'; readonly withinMs: number }
  /** Close the listeners: another worker listens. */
  | { readonly kind: 'leave' }
  /** Reply to `counted`: no connection is on its way to the worker any more. */
  | { readonly kind: 'bye' }
  /** Close open connections now; sent during a shutdown. */
  | { readonly kind: 'abort' }

/** The ports of a worker, and the policy revision it decides by. */
export interface Listening {
  readonly publicPort: number
  readonly forwardAuthPort?: number | undefined
  readonly revision?: string | undefined
}

/** From a worker to the supervisor. */
export type FromWorker =
  /** It receives messages now; earlier ones may be lost. */
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'listening' } & Listening)
  /** The result of `configure`: why it keeps the configuration before, if it does. */
  | { readonly kind: 'configured'; readonly problem?: string | undefined }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answers[Question] }
  /** It got a signal of its own, and keeps listening until `leave`. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'closing' }
  /** The last message of a worker, with its final metrics. */
  | { readonly kind: 'counted'; readonly metrics: readonly MetricSnapshot[] }

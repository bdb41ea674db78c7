import type { Config } from '../config/schema/schema.ts'
import type { Readiness } from '../http/readiness.ts'
import type { FigureSnapshot } from '../metrics/snapshot.ts'

/** What a worker can be asked, and what it answers. */
export interface Answers {
  readonly figures: readonly FigureSnapshot[]
  /** Without those of the process: reading the delay of its event loop begins it anew. */
  readonly ownFigures: readonly FigureSnapshot[]
  readonly readiness: Readiness
  readonly publicKeys: readonly object[]
}

export type Question = keyof Answers

/** What a worker needs to begin. The configuration was read once, for all of them. */
export interface Start {
  readonly kind: 'start'
  readonly number: number
  readonly config: Config
  /** Whether people read on a terminal what it writes; not its own, so it cannot see that. */
  readonly isTerminal: boolean
  /** In base64: what lets a TLS session go on with another worker. */
  readonly ticketKeys: string
}

/** What the supervisor tells a worker. */
export type ToWorker =
  | Start
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** To end in order, within that time. */
  | { readonly kind: 'close'; readonly withinMs: number }
  /** It may close its listeners: another worker listens. */
  | { readonly kind: 'leave' }
  /** The answer to its last message: no connection is on its way to it any more. */
  | { readonly kind: 'bye' }
  /** To cut what is open, when it is ending already. */
  | { readonly kind: 'hurry' }

/** Where a worker listens, and by what it decides. */
export interface Listening {
  readonly publicPort: number
  readonly forwardAuthPort?: number | undefined
  readonly revision?: string | undefined
}

/** What a worker tells the supervisor. */
export type FromWorker =
  /** It hears now; what was said before may be lost. */
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'listening' } & Listening)
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answers[Question] }
  /** It got a signal of its own, and keeps listening until it may leave. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'closing' }
  /** The last thing it says, so that nothing it counted is lost. */
  | { readonly kind: 'counted'; readonly figures: readonly FigureSnapshot[] }

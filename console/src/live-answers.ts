import type { Rule } from './answers.ts'

export type ReplicaState = 'current' | 'behind' | 'stale' | 'lost'

/** `fleet` */
export interface FleetAnswer {
  /** `redis`: all that report there; `gateway`: the processes of the one beside the console. */
  readonly source: 'redis' | 'gateway'
  readonly revision: string | null
  readonly counts: Readonly<Record<ReplicaState, number>>
  readonly replicas: readonly Replica[]
}

export interface Replica {
  readonly id: string
  readonly state: ReplicaState
  readonly revision: string | null
  readonly version: string
  readonly ageSeconds: number
  readonly lastError?: string
  /** Absent for a gateway of an older version. */
  readonly facts?: ReplicaFacts
}

export interface ReplicaFacts {
  readonly startedAt: string
  readonly mode: string
  readonly ready: boolean
  readonly configuration?: {
    readonly revision: string
    readonly since: string
    readonly rejected: boolean
  }
  /** How far its clock is ahead of the other one; the true value is within `withinMs` of that. */
  readonly clock?: {
    readonly aheadMs: number
    readonly withinMs: number
    readonly source: string
  }
  readonly keys: {
    readonly signer: string | null
    readonly count: number
    readonly since: string
    readonly rejected: boolean
  }
  readonly certificate?: {
    readonly names: string
    readonly notAfter: string
    readonly rejected: boolean
  }
  readonly upstreams: {
    readonly targets: number
    readonly out: number
    readonly named: readonly TargetOut[]
  }
  readonly outcomes: Readonly<Record<string, number>>
}

export interface TargetOut {
  readonly upstream: string
  readonly target: string
  readonly state: 'circuit-open' | 'circuit-half-open' | 'unhealthy' | 'ejected'
}

/** `policy denials` */
export interface DenialsAnswer {
  readonly since: string
  readonly refusals: number
  readonly others: number
  readonly denials: readonly Denial[]
  /** Denials beyond the limit. */
  readonly left: number
  readonly notes: readonly string[]
}

export interface Denial {
  readonly roleKey: string
  readonly domain?: string
  readonly method: string
  /** Absent where only the route is known. */
  readonly path?: string
  readonly route?: string
  readonly count: number
  readonly last: string
  readonly allowedNow?: boolean
  readonly isUnserved?: boolean
  readonly rule?: Rule
  readonly nearMisses: readonly { readonly differs: string; readonly rule: Rule }[]
  /** The policy line that would allow it. */
  readonly line?: string
}

/** Event `state` of `live/decisions` */
export interface WatchState {
  /** Whether the console has anything to hear gateways by. */
  readonly available: boolean
  readonly connected: boolean
}

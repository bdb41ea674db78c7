import type { ClockFacts } from './clock-offset.ts'

/** What a running gateway says of itself, besides its policy. Small: it is written every two seconds. */
export interface ReplicaFacts {
  readonly startedAt: string
  readonly mode: string
  /** The number of the worker in its gateway; absent without workers. */
  readonly worker?: number
  readonly ready: boolean
  /** Absent in a worker: its supervisor reads the file. */
  readonly configuration?: ConfigurationFacts
  /** Absent before the first comparison, and where no other clock is known. */
  readonly clock?: ClockFacts
  readonly keys: KeyFacts
  /** Of the public port; absent without TLS. */
  readonly certificate?: CertificateFacts
  readonly upstreams: UpstreamFacts
  /** Finished requests since the start, by outcome; those that occurred. */
  readonly outcomes: Readonly<Record<string, number>>
}

interface ConfigurationFacts {
  readonly revision: string
  readonly since: string
  /** The current file is not active because it is not valid. */
  readonly rejected: boolean
}

interface KeyFacts {
  /** The `kid` that signs; `jwt.secret` when that does, `null` when no key can sign. */
  readonly signer: string | null
  /** The first few that verify. */
  readonly ids: readonly string[]
  readonly count: number
  /** When these keys became active here. */
  readonly since: string
  /** The key directory is unusable, and these are the last good ones. */
  readonly rejected: boolean
}

interface CertificateFacts {
  readonly names: string
  readonly notAfter: string
  readonly rejected: boolean
}

interface UpstreamFacts {
  readonly targets: number
  /** How many of them get no requests. */
  readonly out: number
  /** The first few of those. */
  readonly named: readonly TargetFacts[]
}

interface TargetFacts {
  readonly upstream: string
  readonly target: string
  readonly state: TargetState
}

export type TargetState = 'circuit-open' | 'circuit-half-open' | 'unhealthy' | 'ejected'

export const factLimits = {
  /** Names in one list. */
  names: 10,
  /** Characters of one name. */
  text: 120,
  outcomes: 100,
} as const

/** A process and its facts, as the ops listener shows them. */
export interface ReplicaOnHost {
  readonly revision: string | null
  readonly version: string
  /** It could not confirm its policy when it last tried. */
  readonly stale: boolean
  readonly lastError?: string
  readonly facts: ReplicaFacts
}

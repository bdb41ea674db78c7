import type { MetricRegistry } from '../metrics/registry.ts'
import type { ReplicaFacts } from './replica-facts.ts'

/** What a part of a gateway shows of itself, and how it closes. `serve` composes these values. */
export interface Part {
  readonly metrics?: (registry: MetricRegistry) => void
  /** What `/readyz` checks. */
  readonly checks?: readonly ReadinessCheck[]
  /** What `/readyz?verbose` shows of it, by name. */
  readonly details?: Readonly<Record<string, () => unknown>>
  /** What `postern status` shows of it, for each gateway of the fleet. */
  readonly facts?: () => Partial<ReplicaFacts>
  readonly close?: () => Promise<unknown>
}

export interface ReadinessCheck {
  readonly name: string
  /** A short description of the problem, or `undefined`. */
  readonly problem: () => string | undefined
}

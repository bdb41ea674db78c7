/** What a part of a gateway shows and does beside its work. `serve` composes these values. */
export interface Part {
  /** Why the gateway is not ready because of it; empty if it is. */
  readonly problems?: () => readonly PartProblem[]
  /** What `/readyz?verbose` shows of it, by name. */
  readonly details?: Readonly<Record<string, () => unknown>>
  readonly close?: () => Promise<unknown>
}

interface PartProblem {
  readonly name: string
  readonly problem: string
}

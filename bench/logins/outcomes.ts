import type { Outcome } from './load.ts'

/** What came of the same phase in every round. */
export interface Summary {
  readonly good: number
  readonly bad: number
  /** Medians over the rounds of what each round had. */
  readonly milliseconds: {
    readonly p50: number
    readonly p99: number
    readonly p99OfEachRound: readonly number[]
  }
}

export function summary(outcomes: readonly Outcome[]): Summary {
  const each = (share: number) =>
    outcomes.map(({ milliseconds }) => percentile(milliseconds, share))
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, one) => all + of(one), 0)
  const [good, bad] = [sum((one) => one.good), sum((one) => one.bad)]
  const milliseconds = {
    p50: percentile(each(0.5), 0.5),
    p99: percentile(each(0.99), 0.5),
    p99OfEachRound: each(0.99),
  }
  return { good, bad, milliseconds }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return Math.round(value * 100) / 100
}

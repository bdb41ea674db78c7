import type { Problem } from '../kernel/errors.ts'

/** Where problems go, and notes about parts that are ignored. */
export interface Reports {
  readonly report: (problem: Problem) => void
  readonly note: (problem: Problem) => void
}

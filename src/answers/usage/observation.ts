import type { Usage } from '../../policy/usage/usage.ts'

/** How much of some days gateways observed, and by which revisions they decided. */
export interface Observation {
  readonly days: number
  readonly observedDays: number
  /** Different hours in which a gateway reported. */
  readonly hours: number
  /** The first and the last observed day; absent when nothing was observed. */
  readonly from?: string
  readonly to?: string
  readonly decisions: number
  /** Decisions that are not counted by rule, because a limit was reached. */
  readonly uncounted: number
  /** Those of the first hour: what is not in all of them is younger than the observation. */
  readonly firstRevisions: readonly string[]
  /** Every day was observed, and every decision counted. */
  readonly isComplete: boolean
}

export function observationOf({ observed, others }: Usage, days: number): Observation {
  const [first] = observed
  const last = observed.at(-1)
  const observedDays = new Set(observed.map(({ day }) => day)).size
  const isFirst = ({ day, hour }: { readonly day: string; readonly hour: number }) =>
    day === first?.day && hour === first.hour
  return {
    days,
    observedDays,
    hours: new Set(observed.map(({ day, hour }) => `${day} ${hour}`)).size,
    ...(first !== undefined && last !== undefined && { from: first.day, to: last.day }),
    decisions: observed.reduce((sum, { decisions }) => sum + decisions, 0),
    uncounted: others.decision,
    firstRevisions: [
      ...new Set(observed.filter(isFirst).map(({ revision }) => revision)),
    ].toSorted(),
    isComplete: observedDays === days && others.decision === 0,
  }
}

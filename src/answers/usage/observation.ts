import { DAY_MS, type ObservedHour, type Usage } from '../../policy/usage/usage.ts'

export type Observation = ReturnType<typeof observationOf>

const hourMs = 3_600_000

/**
 * How much of a stretch of time, in milliseconds since the epoch, gateways observed, and by which
 * revisions they decided.
 */
export function observationOf(
  { observed, others }: Usage,
  { begin, now }: { readonly begin: number; readonly now: number },
) {
  const within = observed.filter((hour) => startOf(hour) + hourMs > begin && startOf(hour) <= now)
  const starts = new Set(within.map(startOf))
  const from = within[0] === undefined ? undefined : startOf(within[0])
  const days = Math.max(1, Math.ceil((now - begin) / DAY_MS))
  const ages = [...starts].map((start) => Math.min(days - 1, Math.floor((now - start) / DAY_MS)))
  const oldest = Math.max(-1, ...new Set(ages))
  const isPartial = (from ?? now) > Math.max(begin, now - (oldest + 1) * DAY_MS) + hourMs
  const observedDays = Math.max(0, new Set(ages).size - Number(isPartial))
  const first = within.filter((hour) => startOf(hour) === from)
  const firstRevisions = new Set(first.map(({ revision }) => revision))
  const laterRevisions = new Set(within.toReversed().map(({ revision }) => revision))
  return {
    /** The length of the observation, rounded up. */
    days,
    /**
     * How many of these days, each of 24 hours back from now, have an hour in which a gateway reported.
     * The day in which the observation began does not count.
     */
    observedDays,
    hours: starts.size,
    /** The begin of the first observed hour; absent when nothing was observed. */
    ...(from !== undefined && { from }),
    decisions: within.reduce((sum, { decisions }) => sum + decisions, 0),
    /** Decisions that are not counted by rule, because a limit was reached. */
    uncounted: others.decision,
    /** Revisions of the first hour: what is not in all of them is younger than the observation. */
    firstRevisions: [...firstRevisions].toSorted(),
    /** The others, latest first: what is not in one of them was missing for a while. */
    laterRevisions: [...laterRevisions].filter((each) => !firstRevisions.has(each)),
    isComplete: observedDays === days && others.decision === 0,
  }
}

function startOf({ day, hour }: ObservedHour): number {
  return Date.parse(day) + hour * hourMs
}

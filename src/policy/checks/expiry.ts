import type { Finding, Locate } from '../review/finding.ts'
import { formatUntil } from '../rule/until.ts'
import type { PolicySet } from '../set/policy-set.ts'

const day = 86_400_000
/** How far ahead a line that expires is reported: two weekly reviews. */
const soon = 14 * day

/** Finds lines that have expired, and lines that expire soon. */
export function checkExpiry(
  { rules, inheritances, exclusions }: PolicySet,
  at: number,
  locate: Locate,
): Finding[] {
  return [...rules, ...inheritances, ...exclusions].flatMap(({ until, origin }): Finding[] => {
    if (until === undefined || at + soon < until) return []
    const where = { ...locate(origin, 'line'), column: 1 }
    const when = formatUntil(until)
    if (until <= at) {
      const message = `expired on ${when}: gateways ignore the line; remove it, or change the date of the comment above`
      return [{ ...where, code: 'expired', message }]
    }
    const days = Math.ceil((until - at) / day)
    const message = `expires on ${when}, ${days === 1 ? 'within a day' : `in ${days} days`}: from then on gateways ignore the line; change the date of the comment above if it is still needed`
    return [{ ...where, code: 'expires-soon', message }]
  })
}

/** A policy with only those inheritances that never expire. */
export function withLastingInheritances(set: PolicySet): PolicySet {
  return { ...set, inheritances: set.inheritances.filter(({ until }) => until === undefined) }
}

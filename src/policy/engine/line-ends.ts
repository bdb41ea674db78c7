import type { Expiring } from '../rule/until.ts'
import type { PolicyContent } from '../set/revision.ts'
import { rowsPerStep, type Steps } from '../steps.ts'

/** The times at which lines of a policy expire, in ascending order; empty for most policies. */
export function* lineEnds({
  rules,
  inheritances,
  exclusions,
}: Omit<PolicyContent, 'model'>): Steps<readonly number[]> {
  const ends = new Set<number>()
  for (const lines of [rules, inheritances, exclusions] as readonly (readonly Expiring[])[]) {
    for (let at = 0; at < lines.length; at++) {
      if (at % (rowsPerStep * 8) === 0) yield
      const until = lines[at]?.until
      if (until !== undefined) ends.add(until)
    }
  }
  return Object.freeze([...ends].sort((a, b) => a - b))
}

import type { PolicySet } from '../set/policy-set.ts'
import type { Outcome } from './test-suite.ts'

/** How much of a policy its tests would notice changing. */
export type Coverage = ReturnType<typeof coverageOf>

/** Which rules and exclusions decided a test that passed. A rule beside a wider one decides nothing. */
export function coverageOf({ rules, exclusions }: PolicySet, outcomes: readonly Outcome[]) {
  const deciding = new Set<unknown>()
  for (const { decision, passed } of outcomes) {
    if (passed) deciding.add(decision.rule ?? decision.exclusion)
  }
  // Lines by which a test was decided are counted, the others listed.
  const covered = <Granted>(all: readonly Granted[]) => {
    const undecided = all.filter((each) => !deciding.has(each))
    return { total: all.length, decided: all.length - undecided.length, undecided }
  }

  const [ofRules, ofExclusions] = [covered(rules), covered(exclusions)]
  const total = ofRules.total + ofExclusions.total
  const decided = ofRules.decided + ofExclusions.decided
  // Rounded down: 100 only when nothing is left.
  const percent = total === 0 ? 100 : Math.floor((decided * 100) / total)
  return { rules: ofRules, exclusions: ofExclusions, percent }
}

import { methodBits } from '../review/grants.ts'
import { shapeOf } from '../review/pattern-tree.ts'
import type { FoundChange } from './access-change.ts'
import type { Version } from './changed-lines.ts'
import { type Budget, findGain } from './gain.ts'
import { grantOf } from './shares.ts'
import { widest } from './widest.ts'

/** The exclusions by which calls need no permission any more. */
export function newExclusions(from: Version, to: Version, budget: Budget): readonly FoundChange[] {
  const sides = { from: [from.grants.excluded], to: [to.grants.excluded], budget }
  return widest(to.set.exclusions).flatMap((exclusion): FoundChange[] => {
    const gain = findGain(shapeOf(exclusion.path), methodBits(exclusion.method), sides)
    if (gain === undefined) return []
    const { origin, until } = exclusion
    const shares = [{ roles: [], grants: [grantOf(exclusion, gain)] }]
    return [{ cause: 'exclusion', line: 'added', origin, until, roleKey: undefined, shares }]
  })
}

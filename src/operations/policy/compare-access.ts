import type { Admission } from '../../admission/verdict.ts'
import { type PlacedDiff, placeDiff } from '../../answers/placed-diff.ts'
import { diffOverTime } from '../../policy/diff/diff-over-time.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Surroundings } from '../context.ts'
import { withProgress } from '../progress.ts'

/** Compares two policies for gateways with one configuration. */
export function compareAccess(
  { from, to }: { readonly from: PolicySet; readonly to: PolicySet },
  admission: Admission,
  io: Surroundings,
): PlacedDiff {
  const now = io.now?.() ?? Date.now()
  const diff = withProgress('comparing access', io, (tick) => diffOverTime(from, to, { now, tick }))
  return placeDiff(diff, admission)
}

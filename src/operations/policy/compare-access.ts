import type { Admission } from '../../admission/verdict.ts'
import { type PlacedDiff, placeDiff } from '../../answers/placed-diff.ts'
import { diffOverTime } from '../../policy/diff/diff-over-time.ts'
import { formatUntil } from '../../policy/rule/until.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Surroundings } from '../context.ts'
import { withProgress } from '../progress.ts'
import { dated } from './dated.ts'

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

/** Longer lists of roles are listed once. */
const longList = 100

/**
 * A diff as documents have it. Thousands of roles can inherit each of thousands of changed
 * rules: a long list that an earlier share has is replaced by the place of that share.
 */
export function diffDocument({ changes, ...about }: PlacedDiff) {
  const places = new Map<readonly string[], string>()
  return dated({
    ...about,
    changes: changes.map(({ shares, until, startsAt, ...change }, at) => ({
      ...change,
      ...(until !== undefined && { until: formatUntil(until) }),
      ...(startsAt !== undefined && { startsAt: formatUntil(startsAt) }),
      shares: shares.map(({ roles, grants }, index) => {
        const place = places.get(roles)
        if (place !== undefined) return { roleCount: roles.length, rolesAt: place, grants }
        if (roles.length > longList) places.set(roles, `changes[${at}].shares[${index}]`)
        return { roleCount: roles.length, roles, grants }
      }),
    })),
  })
}

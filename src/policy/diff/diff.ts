import { isDeepStrictEqual } from 'node:util'
import { createGrants, methodBits } from '../review/grants.ts'
import { shapeOf } from '../review/pattern-tree.ts'
import type { PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import type { AccessChange, AccessDiff, FoundChange } from './access-change.ts'
import { possibleGains } from './casbin-changes.ts'
import { type Comparison, createVersions, type Version } from './changed-lines.ts'
import { diffInDomains } from './diff-in-domains.ts'
import { findGain } from './gain.ts'
import { newAccess } from './rule-changes.ts'
import { bySeverity, severityOf } from './severity.ts'
import { grantOf } from './shares.ts'
import { newSuperuserAccess } from './superuser-changes.ts'
import { widest } from './widest.ts'

/**
 * Compares the access that two policies give, not their lines. The model is finite: the roles that
 * either policy names, and the role that neither names, times the patterns of the rules.
 *
 * Only changed lines can change access, so each change belongs to one: a rule, a `g` line, an
 * exclusion, or a superuser clause of the matcher. `findGain` looks for a path of such a rule which the new policy allows to a role and the
 * old one does not, inheritance, wider patterns, `*`, deny rules and exclusions considered. So a rule
 * that was already covered is not a gain, nor is one next to a wider gain of the same role.
 * Exclusions are compared the same way, once for all roles. Losses are the gains of the reverse
 * comparison.
 *
 * Never hides a gain. Where it is not exact it reports one too many, with `certain` false: when the
 * search runs out of steps, when prefixes that begin with every character leave no path over, and
 * when Casbin answers for a model, because then only its matcher knows what a line means.
 */
export function diffPolicies(from: PolicySet, to: PolicySet, tick: Tick = () => {}): AccessDiff {
  const { domain } = to.model
  if (domain === undefined || !isDeepStrictEqual(domain, from.model.domain)) {
    return diffOnce(from, to, tick)
  }
  return diffInDomains([from, to], domain, { diff: diffOnce, tick })
}

/** Compares what is not divided into domains. */
function diffOnce(from: PolicySet, to: PolicySet, tick: Tick = () => {}): AccessDiff {
  const versions = createVersions(
    { set: from, grants: createGrants(from) },
    { set: to, grants: createGrants(to) },
  )
  const gains = changesOf('gain', versions, (done, total) => tick(done, 2 * total))
  const losses = changesOf('loss', { from: versions.to, to: versions.from }, (done, total) =>
    tick(total + done, 2 * total),
  )
  return {
    from: from.revision,
    to: to.revision,
    widened: gains.length > 0,
    changes: [...gains, ...losses].sort(bySeverity),
  }
}

/** Seconds rather than minutes, however the two policies are made. */
const mostSteps = 20_000_000

/** What `to` gives and `from` does not: for losses, the two are exchanged. */
function changesOf(
  direction: AccessChange['direction'],
  { from, to }: { readonly from: Version; readonly to: Version },
  tick: Tick,
): readonly AccessChange[] {
  const comparison = { from, to, budget: { steps: mostSteps } }
  // With another use of domains, each access may have changed, as with another matcher.
  const isCasbin = [from, to].some(
    ({ set: { model } }) => model.casbin !== undefined || model.domain !== undefined,
  )
  const found = [
    ...newExclusions(comparison),
    ...(isCasbin ? [] : newSuperuserAccess(comparison)),
    ...(isCasbin ? possibleGains(from.set, to.set) : newAccess(comparison, tick)),
  ]
  return found.map((change) => ({
    direction,
    severity: severityOf({ ...change, direction }),
    ...change,
    line: direction === 'gain' ? change.line : opposite[change.line],
  }))
}

/** The exclusions by which calls need no permission any more. */
function newExclusions({ from, to, budget }: Comparison): readonly FoundChange[] {
  const sides = { from: [from.grants.excluded], to: [to.grants.excluded], budget }
  return widest(to.set.exclusions).flatMap((exclusion): FoundChange[] => {
    const gain = findGain(shapeOf(exclusion.path), methodBits(exclusion.method), sides)
    if (gain === undefined) return []
    const { origin, until } = exclusion
    const shares = [{ roles: [], grants: [grantOf(exclusion, gain)] }]
    return [{ cause: 'exclusion', line: 'added', origin, until, roleKey: undefined, shares }]
  })
}

const opposite = { added: 'removed', removed: 'added' } as const

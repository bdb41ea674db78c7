import type { DomainMatch } from '../model/model.ts'
import {
  covers,
  createDomainScopes,
  type DomainScope,
  otherDomains,
} from '../review/domain-scopes.ts'
import { formatModel } from '../set/format.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { inheritanceKey, ruleKey } from '../set/revision.ts'
import type { Tick } from '../steps.ts'
import type { AccessChange, AccessDiff, Share } from './access-change.ts'
import { bySeverity } from './severity.ts'

/**
 * Compares two policies domain by domain: first the domains that neither names, then those of patterns,
 * then each one that a line of either names. What was reported for a pattern is not repeated for a
 * domain that it covers, unless a role gains something else there.
 */
export function diffInDomains(
  [from, to]: readonly [PolicySet, PolicySet],
  match: DomainMatch,
  {
    diff,
    tick,
  }: { readonly diff: (from: PolicySet, to: PolicySet) => AccessDiff; readonly tick: Tick },
): AccessDiff {
  const [before, after] = [createDomainScopes(from, match), createDomainScopes(to, match)]
  const isSameModel = formatModel(from.model) === formatModel(to.model)
  const scopes = distinct([otherDomains, ...before.scopes, ...after.scopes])
  const found = createFound()
  for (const [index, scope] of scopes.entries()) {
    tick(index, scopes.length)
    const sides = [before.in(scope), after.in(scope)] as const
    // Exclusions are the same in every domain.
    if (index > 0 && isSameModel && hasSameLines(...sides)) continue
    for (const change of diff(...sides).changes) found.add(change, scope)
  }
  const changes = found.changes()
  return {
    from: from.revision,
    to: to.revision,
    widened: changes.some(({ direction }) => direction === 'gain'),
    changes: changes.toSorted(bySeverity),
  }
}

/** Each scope once, patterns first, the widest of them first. */
function distinct(scopes: readonly DomainScope[]): readonly DomainScope[] {
  const once = new Map(scopes.map((scope) => [`${scope.isPattern} ${scope.text}`, scope]))
  return [...once.values()].sort((a, b) => {
    if (a.isPattern !== b.isPattern) return a.isPattern ? -1 : 1
    if (a.isPattern) return a.text.length - b.text.length
    return a.text < b.text ? -1 : 1
  })
}

function hasSameLines(one: PolicySet, other: PolicySet): boolean {
  const keysOf = ({ rules, inheritances }: PolicySet) =>
    JSON.stringify([rules.map(ruleKey).sort(), inheritances.map(inheritanceKey).sort()])
  return keysOf(one) === keysOf(other)
}

/** Collects changes: one that is the same in several domains is one change. */
function createFound() {
  const collected = new Map<string, { readonly change: AccessChange; readonly domains: string[] }>()
  /** The scopes in which a role gained or lost something by a line. */
  const reported = new Map<string, DomainScope[]>()

  function isKnown(key: string, scope: DomainScope): boolean {
    const known = reported.get(key) ?? []
    if (known.some((wider) => covers(wider, scope))) return true
    reported.set(key, [...known, scope])
    return false
  }

  return {
    add(change: AccessChange, scope: DomainScope): void {
      const about = [change.direction, change.cause, change.line, change.origin]
      const shares = change.shares.flatMap((share): Share[] => {
        const grants = share.grants.map(({ methods, path, certain }) => [methods, path, certain])
        const isNew = (role: string) => !isKnown(JSON.stringify([about, role, grants]), scope)
        // Without roles, it is about every caller.
        if (share.roles.length === 0) return isNew('') ? [share] : []
        const roles = share.roles.filter(isNew)
        return roles.length === 0 ? [] : [{ ...share, roles }]
      })
      if (shares.length === 0) return
      const key = JSON.stringify([about, shares])
      const same = collected.get(key)
      if (same !== undefined) same.domains.push(scope.text)
      else collected.set(key, { change: { ...change, shares }, domains: [scope.text] })
    },
    changes: (): readonly AccessChange[] =>
      Array.from(collected.values(), ({ change, domains }) =>
        change.cause === 'exclusion' ? change : { ...change, domains },
      ),
  }
}

import { type MethodBits, methodBits } from '../review/grants.ts'
import { type Expiring, endOf } from '../rule/until.ts'
import { activeAt } from '../set/active.ts'
import { formatModel } from '../set/format.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { exclusionKey, inheritanceKey, ruleKey } from '../set/revision.ts'
import type { Tick } from '../steps.ts'
import type { AccessChange, AccessDiff, Grant, Share } from './access-change.ts'
import { diffPolicies } from './diff.ts'
import { bySeverity } from './severity.ts'

/**
 * Compares the access that two policies give, now and after each later moment at which a line of one
 * of them expires: between two such moments access does not change. So a time that is moved, and a
 * lasting line that is replaced by one that expires, show as a gain or a loss from some day on. A
 * change that lasts is reported once, for the first moment. It is reported again, whole, for a later
 * moment at which it has another role, rule or method: an access that a line gave beside it expired.
 */
export function diffOverTime(
  from: PolicySet,
  to: PolicySet,
  { now, tick = () => {} }: { readonly now: number; readonly tick?: Tick },
): AccessDiff {
  const moments = [now, ...laterEnds([from, to], now)]
  const changes: AccessChange[] = []
  const reported = createReported()
  for (const [index, at] of moments.entries()) {
    const [before, after] = [activeAt(from, at), activeAt(to, at)]
    if (index > 0 && hasSameLines(before, after)) continue
    const diff = diffPolicies(before, after, (done, total) => {
      tick(index * total + done, moments.length * total)
    })
    const news = index === 0 ? diff.changes : diff.changes.filter(reported.isNew)
    if (moments.length > 1) reported.add(news)
    for (const change of news) changes.push(index === 0 ? change : { ...change, startsAt: at })
  }
  return {
    from: from.revision,
    to: to.revision,
    widened: changes.some(({ direction }) => direction === 'gain'),
    changes: changes.sort(bySeverity),
  }
}

/** Lines that expire: not collected with all others, of which a large policy has a million. */
function expiringLines({ rules, inheritances, exclusions }: PolicySet) {
  return [rules, inheritances, exclusions].flatMap((lines: readonly Expiring[]) =>
    lines.filter(({ until }) => until !== undefined),
  )
}

/** The moments after `now` at which a line expires, in order. */
function laterEnds(sets: readonly PolicySet[], now: number): readonly number[] {
  const ends = new Set(sets.flatMap(expiringLines).map(endOf))
  return [...ends].filter((end) => now < end).sort((a, b) => a - b)
}

/** Whether two policies have the same lines, whenever these expire. */
function hasSameLines(one: PolicySet, other: PolicySet): boolean {
  const isSame = <Line>(
    some: readonly Line[],
    others: readonly Line[],
    keyOf: (line: Line) => string,
  ) => {
    const keys = new Set(some.map(keyOf))
    return keys.size === others.length && others.every((line) => keys.has(keyOf(line)))
  }
  return (
    formatModel(one.model) === formatModel(other.model) &&
    one.model.casbin?.effect !== 'priority' &&
    isSame(one.rules, other.rules, ruleKey) &&
    isSame(one.inheritances, other.inheritances, inheritanceKey) &&
    isSame(one.exclusions, other.exclusions, exclusionKey)
  )
}

/** What was reported for earlier moments, by line. */
function createReported() {
  const byLine = new Map<string, Share[]>()
  return {
    /** Whether the change has a role, rule or method that no earlier report of its line has. */
    isNew(change: AccessChange): boolean {
      const earlier = linesOf(change).map((line) => byLine.get(line) ?? [])
      return earlier.some((shares) => !change.shares.every(createCovering(shares)))
    },
    add(changes: readonly AccessChange[]): void {
      for (const change of changes) {
        for (const line of linesOf(change)) {
          const known = byLine.get(line)
          if (known === undefined) byLine.set(line, [...change.shares])
          else for (const share of change.shares) known.push(share)
        }
      }
    },
  }
}

/** What a report is about: a line, in each domain for which it is reported. */
function linesOf({ direction, cause, line, origin, text, domains = [''] }: AccessChange) {
  const about = [direction, cause, line, origin.file, origin.line, text]
  return domains.map((domain) => JSON.stringify([...about, domain]))
}

/**
 * Whether earlier shares together have all grants of a share, for each of its roles. Thousands of
 * roles can have thousands of grants: roles that were in the same earlier shares are compared once.
 */
function createCovering(earlier: readonly Share[]): (share: Share) => boolean {
  const placesOf = new Map<string, number[]>()
  for (const [at, { roles }] of earlier.entries()) {
    for (const roleKey of namesOf(roles)) {
      const places = placesOf.get(roleKey)
      if (places === undefined) placesOf.set(roleKey, [at])
      else places.push(at)
    }
  }
  return ({ roles, grants }) => {
    const combinations = new Map<string, readonly number[]>()
    for (const roleKey of namesOf(roles)) {
      const places = placesOf.get(roleKey) ?? []
      combinations.set(places.join(), places)
    }
    return [...combinations.values()].every((places) => {
      const known = Map.groupBy(
        places.flatMap((at) => earlier[at]?.grants ?? []),
        ruleOf,
      )
      return grants.every((grant) => isCovered(grant, known.get(ruleOf(grant)) ?? []))
    })
  }
}

/** Without roles, it is about every caller. */
function namesOf(roles: readonly string[]): readonly string[] {
  return roles.length === 0 ? [''] : roles
}

function ruleOf({ origin, owner, path }: Grant): string {
  return JSON.stringify([origin.file, origin.line, owner, path])
}

function isCovered({ methods, certain }: Grant, known: readonly Grant[]): boolean {
  // A gain that is proved only now is more severe than the one that was reported.
  const reported = known.filter((each) => each.certain || !certain)
  return (bitsOf(methods) & ~bitsOf(reported.flatMap((each) => each.methods))) === 0
}

function bitsOf(methods: readonly string[]): MethodBits {
  return methods.reduce((bits, method) => bits | methodBits(method), 0)
}

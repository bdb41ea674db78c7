import type { Rule } from '../rule/rule.ts'
import { type Expiring, endOf } from '../rule/until.ts'
import { activeAt } from '../set/active.ts'
import { formatModel } from '../set/format.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { exclusionKey, inheritanceKey, ruleKey } from '../set/revision.ts'
import type { Tick } from '../steps.ts'
import type { AccessChange, AccessDiff } from './access-change.ts'
import { diffPolicies } from './diff.ts'
import { bySeverity } from './severity.ts'

/**
 * Compares the access that two policies give, now and after each later moment at which a line of one
 * of them expires: between two such moments access does not change. So a time that is moved, and a
 * lasting line that is replaced by one that expires, show as a gain or a loss from some day on. A
 * change that lasts is reported once, for the first moment.
 */
export function diffOverTime(
  from: PolicySet,
  to: PolicySet,
  { now, tick = () => {} }: { readonly now: number; readonly tick?: Tick },
): AccessDiff {
  const moments = [now, ...laterEnds([from, to], now)]
  const lineEnds = { added: endsByPlace(to), removed: endsByPlace(from) }
  const changes: AccessChange[] = []
  const reported = new Map<string, Set<string>>()
  for (const [index, at] of moments.entries()) {
    const [before, after] = [snapshotAt(from, at), snapshotAt(to, at)]
    if (index > 0 && hasSameLines(before, after)) continue
    const diff = diffPolicies(before, after, (done, total) => {
      tick(index * total + done, moments.length * total)
    })
    for (const change of diff.changes) {
      if (!addRoles(reported, change)) continue
      const until = lineEnds[change.line].get(placeOf(change))
      changes.push({
        ...change,
        ...(until !== undefined && { until }),
        ...(index > 0 && { startsAt: at }),
      })
    }
  }
  return {
    from: from.revision,
    to: to.revision,
    widened: changes.some(({ direction }) => direction === 'gain'),
    changes: changes.sort(bySeverity),
  }
}

/** A policy at a moment. Under Casbin, lines that only end at different times later are equal. */
function snapshotAt(set: PolicySet, at: number): PolicySet {
  const active = activeAt(set, at)
  if (set.model.casbin === undefined) return active
  return { ...active, rules: active.rules.map(({ until: _, ...rule }) => rule) }
}

/** Lines that expire: not collected with all others, of which a large policy has a million. */
function expiringLines({ rules, inheritances, exclusions }: PolicySet) {
  return [rules, inheritances, exclusions].flatMap((lines: readonly Line[]) =>
    lines.filter(({ until }) => until !== undefined),
  )
}

type Line = Expiring & Pick<Rule, 'origin'>

/** The moments after `now` at which a line expires, in order. */
function laterEnds(sets: readonly PolicySet[], now: number): readonly number[] {
  const ends = new Set(sets.flatMap(expiringLines).map(endOf))
  return [...ends].filter((end) => now < end).sort((a, b) => a - b)
}

/** The ends of the lines that expire, by file and line. */
function endsByPlace(set: PolicySet): ReadonlyMap<string, number> {
  return new Map(expiringLines(set).map((line) => [placeOf(line), endOf(line)]))
}

function placeOf({ origin }: Pick<Line, 'origin'>): string {
  return `${origin.file}:${origin.line}`
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

/** Whether the change is new, or concerns a role for which it was not reported at an earlier moment. */
function addRoles(reported: Map<string, Set<string>>, change: AccessChange): boolean {
  const { direction, cause, line, domains } = change
  const key = [direction, cause, line, domains, placeOf(change)].join('\0')
  const known = reported.get(key)
  const roles = known ?? new Set<string>()
  reported.set(key, roles)
  const before = roles.size
  for (const share of change.shares) for (const roleKey of share.roles) roles.add(roleKey)
  return known === undefined || before < roles.size
}

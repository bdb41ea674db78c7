import type { Rule } from '../rule/rule.ts'
import type { Clock } from '../rule/until.ts'
import type { Decision, Engine, NearMiss, Question } from './decision.ts'
import type { IndexExpiry } from './index-expiry.ts'
import { createPathTrie } from './path-trie.ts'
import type { RuleIndex } from './rule-index.ts'
import { createRuleTable, isDenyKind, kindsFor } from './rule-table.ts'
import { numberOf } from './text-table.ts'

/** Where the rules of an index are, and what is said about decisions by them. */
interface IndexedRules {
  readonly ruleAt: (position: number) => Rule
  readonly ruleCount: number
  readonly revision: string
  readonly reason: string
  readonly now: Clock
}

/**
 * The engine for models of the index grammar: one trie of all path patterns, and a table from role,
 * pattern and method to the rule. A decision costs one walk along the path and one look-up for each
 * pattern that matched, whatever the number of rules.
 */
export function createIndexEngine(
  index: RuleIndex,
  { ruleAt, ruleCount, revision, reason, now }: IndexedRules,
): Engine {
  const { roles, anyDeny, expiry } = index
  const { starts, ancestors } = index.lineages
  const trie = createPathTrie(index.trie)
  const table = createRuleTable(index.table, expiry?.rules)
  // Created when a rule first decides: most rules of a large policy never do.
  const decisions = new Array<Decision | undefined>(ruleCount)
  const found: number[] = []

  function findAny(role: number, count: number, kinds: number, _at: number): number {
    const end = starts[role + 1] as number
    for (let match = 0; match < count; match++) {
      const pattern = found[match] as number
      let position = table.find(role, pattern, kinds)
      for (let up = starts[role] as number; position === -1 && up < end; up++) {
        position = table.find(ancestors[up] as number, pattern, kinds)
      }
      if (position !== -1) return position
    }
    return -1
  }

  /** The same among what has not expired. */
  const findActive: (expiry: IndexExpiry) => typeof findAny =
    ({ ancestors: ends }) =>
    (role, count, kinds, at) => {
      const end = starts[role + 1] as number
      for (let match = 0; match < count; match++) {
        const pattern = found[match] as number
        let position = table.findActive(role, pattern, kinds, at)
        for (let up = starts[role] as number; position === -1 && up < end; up++) {
          if ((ends[up] as number) <= at) continue
          position = table.findActive(ancestors[up] as number, pattern, kinds, at)
        }
        if (position !== -1) return position
      }
      return -1
    }
  const find = expiry === undefined ? findAny : findActive(expiry)

  const { superusers, clauses } = index
  const hasSuperusers = superusers.length > 0 && ruleCount > 0
  const superuserDecisions = clauses.map((clause) =>
    createSuperuserDecision(clause, denyingRule(), revision),
  )

  /** The first rule that denies: for a superuser, it denies every call. */
  function denyingRule(): Rule | undefined {
    const position = anyDeny ? index.table.kinds.findIndex(isDenyKind) : -1
    return position === -1 ? undefined : ruleAt(position)
  }

  function isSuperuserAt(role: number, at: number): boolean {
    if (expiry === undefined) return true
    return at < expiry.lastRule && at < (expiry.superusers.ends[role] as number)
  }

  function decisionOf(position: number): Decision {
    const known = decisions[position]
    if (known !== undefined) return known
    const rule = ruleAt(position)
    const decision: Decision = Object.freeze({
      allowed: rule.effect === 'allow',
      step: 'rule',
      rule,
      revision,
    })
    decisions[position] = decision
    return decision
  }

  return Object.freeze({
    name: 'index',
    reason,

    decide({ roleKey, method, path }: Question) {
      const role = numberOf(roles, roleKey)
      if (role === -1) return undefined
      const at = expiry === undefined ? 0 : now()
      if (hasSuperusers && superusers[role] !== 0 && isSuperuserAt(role, at)) {
        return superuserDecisions[(superusers[role] as number) - 1]
      }
      const count = trie.match(path, found)
      if (count === 0) return undefined
      if (anyDeny) {
        const denying = find(role, count, kindsFor(method, 'deny'), at)
        if (denying !== -1) return decisionOf(denying)
      }
      const allowing = find(role, count, kindsFor(method, 'allow'), at)
      return allowing === -1 ? undefined : decisionOf(allowing)
    },

    nearMisses({ roleKey, method, path }: Question, most: number) {
      const matched = new Set(found.slice(0, trie.match(path, found)))
      const role = numberOf(roles, roleKey)
      const at = now()
      const isActive = (ends: Float64Array | undefined, place: number) =>
        at < (ends?.[place] ?? Number.POSITIVE_INFINITY)
      const own = new Set(role === -1 ? [] : [role])
      for (let up = starts[role] ?? 0; up < (starts[role + 1] ?? 0); up++) {
        if (isActive(expiry?.ancestors, up)) own.add(ancestors[up] as number)
      }
      const asked = kindsFor(method, 'allow')
      const misses: NearMiss[] = []
      // A rule that has expired is the most likely reason, so it comes first.
      const expired: NearMiss[] = []
      for (const position of table.positionsFor(matched)) {
        if (expiry === undefined && misses.length === most) break
        const rule = ruleAt(position)
        if (rule.effect !== 'allow') continue
        const isOwn = own.has(numberOf(roles, rule.roleKey))
        const sameMethod = ((index.table.kinds[position] as number) & asked) !== 0
        if (!isActive(expiry?.rules, position)) {
          if (isOwn && sameMethod) expired.push({ differs: 'expired', rule })
        } else if (isOwn !== sameMethod) misses.push({ differs: isOwn ? 'method' : 'role', rule })
      }
      return [...expired, ...misses].slice(0, most)
    },
  } as const)
}

/** With the clause, every rule matches: one deny rule denies every call, as in Casbin. */
function createSuperuserDecision(
  clause: string,
  denying: Rule | undefined,
  revision: string,
): Decision {
  return Object.freeze(
    denying === undefined
      ? { allowed: true, step: 'superuser', clause, revision }
      : { allowed: false, step: 'rule', rule: denying, clause, revision },
  )
}

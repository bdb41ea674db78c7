import type { Rule } from '../rule/rule.ts'
import type { Clock } from '../rule/until.ts'
import type { Decision, Engine, Question } from './decision.ts'
import { createDomainSearch, isDomain } from './domain-search.ts'
import type { IndexExpiry } from './index-expiry.ts'
import { createNearMisses } from './near-misses.ts'
import type { RuleIndex } from './rule-index.ts'
import { createRuleTable, isDenyKind, kindsFor } from './rule-table.ts'
import { createPathTrie } from './tables/path-trie.ts'
import { numberOf } from './tables/text-table.ts'

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
  const domains = index.domains && createDomainSearch(index.domains, trie)
  // Created when a rule first decides: most rules of a large policy never do.
  const decisions = new Array<Decision | undefined>(ruleCount)
  const found: number[] = []

  /** `list` is the list of the ancestors. */
  function findAny(role: number, list: number, count: number, kinds: number, _at: number): number {
    const end = starts[list + 1] as number
    for (let match = 0; match < count; match++) {
      const pattern = found[match] as number
      let position = table.find(role, pattern, kinds)
      for (let up = starts[list] as number; position === -1 && up < end; up++) {
        position = table.find(ancestors[up] as number, pattern, kinds)
      }
      if (position !== -1) return position
    }
    return -1
  }

  /** Finds a line among those that have not expired. */
  const findActive: (expiry: IndexExpiry) => typeof findAny =
    ({ ancestors: ends }) =>
    (role, list, count, kinds, at) => {
      const end = starts[list + 1] as number
      for (let match = 0; match < count; match++) {
        const pattern = found[match] as number
        let position = table.findActive(role, pattern, kinds, at)
        for (let up = starts[list] as number; position === -1 && up < end; up++) {
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

  /** The clause that makes every rule match a role, as the decision that it amounts to. */
  function superuserDecision(role: number, at: number): Decision | undefined {
    if (superusers[role] === 0 || !isSuperuserAt(role, at)) return undefined
    return superuserDecisions[(superusers[role] as number) - 1]
  }

  /** Decides by the rules for the patterns in `found`. */
  function decideBy(role: number, list: number, count: number, method: string, at: number) {
    if (anyDeny) {
      const denying = find(role, list, count, kindsFor(method, 'deny'), at)
      if (denying !== -1) return decisionOf(denying)
    }
    const allowing = find(role, list, count, kindsFor(method, 'allow'), at)
    return allowing === -1 ? undefined : decisionOf(allowing)
  }

  function decide({ roleKey, method, path }: Question): Decision | undefined {
    const role = numberOf(roles, roleKey)
    if (role === -1) return undefined
    const at = expiry === undefined ? 0 : now()
    const known = hasSuperusers ? superuserDecision(role, at) : undefined
    if (known !== undefined) return known
    const count = trie.match(path, found)
    return count === 0 ? undefined : decideBy(role, role, count, method, at)
  }

  const decideIn =
    (search: NonNullable<typeof domains>) =>
    ({ roleKey, domain, method, path }: Question): Decision | undefined => {
      // A rule for every domain would match an empty one, so a request without one is never asked about.
      if (!isDomain(domain)) return undefined
      const role = numberOf(roles, roleKey)
      if (role === -1) return undefined
      const count = search.match(domain, path, found)
      if (count === 0) return undefined
      const at = expiry === undefined ? 0 : now()
      return decideBy(role, search.lineageOf(domain, role), count, method, at)
    }

  return Object.freeze({
    name: 'index',
    reason,
    decide: domains === undefined ? decide : decideIn(domains),
    nearMisses: createNearMisses(index, { trie, table, domains, ruleAt, now }),
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

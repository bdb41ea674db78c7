import type { Decision, Engine, NearMiss, Question } from './decision.ts'
import { ancestorsByRole } from './inheritance.ts'
import { createPathTrieBuilder } from './path-trie.ts'
import type { PolicySet } from './policy-set.ts'
import { ANY_METHOD, type Effect, type Rule } from './rule.ts'
import { createRuleTableBuilder, ruleKind } from './rule-table.ts'

/**
 * The engine for models of the covered grammar: one trie of all path patterns, and a table from
 * role, pattern and method to the rule. A question costs one walk along the path and a look-up for
 * each pattern that matched, however many rules there are.
 */
export function createIndexEngine({ rules, inheritances, revision }: PolicySet): Engine {
  const roles = new Map<string, number>()
  const roleNumber = (roleKey: string): number => {
    const known = roles.get(roleKey)
    if (known !== undefined) return known
    roles.set(roleKey, roles.size)
    return roles.size - 1
  }

  const trieBuilder = createPathTrieBuilder()
  const tableBuilder = createRuleTableBuilder(rules)
  for (const [position, { roleKey, path }] of rules.entries()) {
    tableBuilder.place(position, roleNumber(roleKey), trieBuilder.add(path))
  }
  const lineages = new Map(
    Array.from(ancestorsByRole(inheritances), ([roleKey, ancestors]) => [
      roleNumber(roleKey),
      ancestors.map(roleNumber),
    ]),
  )
  const trie = trieBuilder.finish()
  const table = tableBuilder.finish()
  const anyDeny = rules.some(({ effect }) => effect === 'deny')
  const decisions = new Map<number, Decision>()
  const found: number[] = []

  function find(role: number, count: number, method: string, effect: Effect): number {
    const lineage = lineages.get(role) ?? noAncestors
    const kind = ruleKind(method, effect)
    const anyMethod = ruleKind(ANY_METHOD, effect)
    for (let index = 0; index < count; index++) {
      const pattern = found[index] ?? 0
      let position = table.find(role, pattern, kind, anyMethod)
      for (let up = 0; position === -1 && up < lineage.length; up++) {
        position = table.find(lineage[up] ?? 0, pattern, kind, anyMethod)
      }
      if (position !== -1) return position
    }
    return -1
  }

  /** Made when a rule first decides and kept: most rules of a large policy never do. */
  function decisionOf(position: number): Decision {
    const known = decisions.get(position)
    if (known !== undefined) return known
    const rule = rules[position] as Rule
    const decision: Decision = Object.freeze({
      allowed: rule.effect === 'allow',
      step: 'rule',
      rule,
      revision,
    })
    decisions.set(position, decision)
    return decision
  }

  return Object.freeze({
    name: 'index',

    decide({ roleKey, method, path }: Question) {
      const role = roles.get(roleKey)
      if (role === undefined) return undefined
      const count = trie.match(path, found)
      if (anyDeny) {
        const denying = find(role, count, method, 'deny')
        if (denying !== -1) return decisionOf(denying)
      }
      const allowing = find(role, count, method, 'allow')
      return allowing === -1 ? undefined : decisionOf(allowing)
    },

    nearMisses({ roleKey, method, path }: Question, most: number) {
      const matched = new Set(found.slice(0, trie.match(path, found)))
      const role = roles.get(roleKey)
      const own = role === undefined ? [] : [role, ...(lineages.get(role) ?? noAncestors)]
      const misses: NearMiss[] = []
      for (const [position, rule] of rules.entries()) {
        if (misses.length === most) break
        if (rule.effect !== 'allow' || !matched.has(table.patternOf(position))) continue
        const isOwn = own.includes(roles.get(rule.roleKey) ?? -1)
        const sameMethod = rule.method === method || rule.method === ANY_METHOD
        if (isOwn !== sameMethod) misses.push({ differs: isOwn ? 'method' : 'role', rule })
      }
      return misses
    },
  } as const)
}

const noAncestors: readonly number[] = []

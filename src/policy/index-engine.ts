import type { Decision, Engine, NearMiss, Question } from './decision.ts'
import { ancestorsInSteps } from './inheritance.ts'
import { createPathTrieBuilder } from './path-trie.ts'
import type { PolicySet } from './policy-set.ts'
import { ANY_METHOD, type Rule } from './rule.ts'
import { createRuleTableBuilder, kindsFor } from './rule-table.ts'
import { rowsPerStep, type Steps } from './steps.ts'
import { createTextMap } from './text-map.ts'

/**
 * The engine for models of the covered grammar: one trie of all path patterns, and a table from
 * role, pattern and method to the rule. A question costs one walk along the path and a look-up for
 * each pattern that matched, however many rules there are.
 */
export function* createIndexEngine(
  { rules, inheritances, revision }: PolicySet,
  reason: string,
): Steps<Engine> {
  const roles = createNumbers()
  const trieBuilder = createPathTrieBuilder()
  // Roles share their paths: most rules name one that another rule has named before.
  const patterns = createTextMap<number>()
  const tableBuilder = createRuleTableBuilder(rules)
  let anyDeny = false
  for (let position = 0; position < rules.length; position++) {
    if (position % rowsPerStep === 0) {
      yield
      yield* trieBuilder.makeRoom()
    }
    const { roleKey, path, effect } = rules[position] as Rule
    let pattern = patterns.get(path)
    if (pattern === undefined) {
      pattern = trieBuilder.add(path)
      patterns.set(path, pattern)
    }
    tableBuilder.place(position, roles.of(roleKey), pattern)
    anyDeny ||= effect === 'deny'
  }
  const lineages = new Map<number, readonly number[]>()
  for (const [roleKey, ancestors] of yield* ancestorsInSteps(inheritances)) {
    lineages.set(roles.of(roleKey), ancestors.map(roles.of))
    if (lineages.size % rowsPerStep === 0) yield
  }
  const trie = trieBuilder.finish()
  const table = tableBuilder.finish()
  // Made when a rule first decides and kept: most rules of a large policy never do.
  const decisions = new Array<Decision | undefined>(rules.length)
  const found: number[] = []

  function find(role: number, count: number, kinds: number): number {
    const lineage = lineages.get(role) ?? noAncestors
    for (let index = 0; index < count; index++) {
      const pattern = found[index] as number
      let position = table.find(role, pattern, kinds)
      for (let up = 0; position === -1 && up < lineage.length; up++) {
        position = table.find(lineage[up] as number, pattern, kinds)
      }
      if (position !== -1) return position
    }
    return -1
  }

  function decisionOf(position: number): Decision {
    const known = decisions[position]
    if (known !== undefined) return known
    const rule = rules[position] as Rule
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
      const role = roles.known.get(roleKey)
      if (role === undefined) return undefined
      const count = trie.match(path, found)
      if (count === 0) return undefined
      if (anyDeny) {
        const denying = find(role, count, kindsFor(method, 'deny'))
        if (denying !== -1) return decisionOf(denying)
      }
      const allowing = find(role, count, kindsFor(method, 'allow'))
      return allowing === -1 ? undefined : decisionOf(allowing)
    },

    nearMisses({ roleKey, method, path }: Question, most: number) {
      const matched = new Set(found.slice(0, trie.match(path, found)))
      const role = roles.known.get(roleKey)
      const own = role === undefined ? [] : [role, ...(lineages.get(role) ?? noAncestors)]
      const misses: NearMiss[] = []
      for (const position of table.positionsFor(matched)) {
        if (misses.length === most) break
        const rule = rules[position] as Rule
        if (rule.effect !== 'allow') continue
        const isOwn = own.includes(roles.of(rule.roleKey))
        const sameMethod = rule.method === method || rule.method === ANY_METHOD
        if (isOwn !== sameMethod) misses.push({ differs: isOwn ? 'method' : 'role', rule })
      }
      return misses
    },
  } as const)
}

const noAncestors: readonly number[] = []

/** Numbers texts in the order in which they first come. */
function createNumbers() {
  const known = new Map<string, number>()
  const of = (text: string): number => {
    const number = known.get(text)
    if (number !== undefined) return number
    known.set(text, known.size)
    return known.size - 1
  }
  return { known, of }
}

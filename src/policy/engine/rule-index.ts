import { type SuperuserClause, superuserClauseOf } from '../model/superuser.ts'
import type { Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { createDomainRoots, type IndexDomains, scopedLineages } from './index-domains.ts'
import { type IndexExpiry, indexExpiry } from './index-expiry.ts'
import { type Lineages, lineagesOf } from './lineages.ts'
import { createRuleTableBuilder, type RuleEntries } from './rule-table.ts'
import { createNumbers, type Numbers } from './tables/numbers.ts'
import { createPathTrieBuilder } from './tables/path-trie.ts'
import { type TextTable, tableOf } from './tables/text-table.ts'
import type { TrieNodes } from './tables/trie-nodes.ts'

/** Everything that decisions by rules need, in flat memory that moves between threads. */
export interface RuleIndex {
  readonly trie: TrieNodes
  readonly table: RuleEntries
  /** The role keys by number. */
  readonly roles: TextTable
  /** By the number of a role, or of a role in a domain where inheritance counts in one. */
  readonly lineages: Lineages
  /** Only under a model with a domain. */
  readonly domains?: IndexDomains
  readonly anyDeny: boolean
  /** For each role by number the clause that makes every rule match it, counted from one, or 0; empty
   * without such clauses. */
  readonly superusers: Uint16Array
  /** The texts of these clauses. */
  readonly clauses: readonly string[]
  /** Only of a policy with lines that expire. */
  readonly expiry?: IndexExpiry
}

/** Indexes a policy set, in steps. A rule is identified by its place in the set. */
export function* indexRules(set: PolicySet): Steps<RuleIndex> {
  const { rules, inheritances, model } = set
  const roles = createNumbers()
  const trieBuilder = createPathTrieBuilder()
  // Roles share their paths: most rules name one that another rule has named before.
  const patterns = new Map<string, number>()
  const tableBuilder = createRuleTableBuilder(rules)
  const domainRoots = model.domain && createDomainRoots(model.domain, trieBuilder.addRoot)
  let anyDeny = false
  for (let position = 0; position < rules.length; position++) {
    if (position % rowsPerStep === 0) yield
    const rule = rules[position] as Rule
    const { roleKey, path, effect } = rule
    const from = domainRoots?.of(rule)
    const key = from === undefined ? path : `${from} ${path}`
    let pattern = patterns.get(key)
    if (pattern === undefined) {
      pattern = trieBuilder.add(path, from)
      patterns.set(key, pattern)
    }
    tableBuilder.place(position, roles.of(roleKey), pattern)
    anyDeny ||= effect === 'deny'
  }
  const { superusers = [] } = model
  for (const { roleKey } of superusers) roles.of(roleKey)
  const scoped =
    model.domain?.scopedRoles === true ? yield* scopedLineages(inheritances, roles) : undefined
  const lineages = scoped?.lineages ?? (yield* lineagesOf(inheritances, roles))
  const expiry = yield* indexExpiry(set, { roles, lineages, scoped })
  const domains = domainRoots?.finish(scoped)
  return {
    trie: trieBuilder.nodes(),
    table: tableBuilder.entries,
    roles: tableOf(roles.texts),
    lineages,
    anyDeny,
    superusers:
      expiry?.superusers.clauses ??
      (superusers.length === 0 ? new Uint16Array(0) : numbersOf(superusers, roles, lineages)),
    clauses: superusers.map(({ text }) => text),
    ...(domains !== undefined && { domains }),
    ...(expiry !== undefined && { expiry }),
  }
}

/**
 * For each role by number the clause for it, counted from one, or 0. No clause is inherited where
 * the lineages are not those of roles alone.
 */
function numbersOf(
  clauses: readonly SuperuserClause[],
  { texts }: Numbers,
  { starts, ancestors }: Lineages,
): Uint16Array {
  return Uint16Array.from(texts, (roleKey, role) => {
    const above = Array.from(
      ancestors.subarray(starts[role], starts[role + 1]),
      (ancestor) => texts[ancestor] ?? '',
    )
    return superuserClauseOf(roleKey, above, clauses) + 1
  })
}

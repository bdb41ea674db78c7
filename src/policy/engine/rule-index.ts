import { type SuperuserClause, superuserClauseOf } from '../model/superuser.ts'
import type { Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import { type IndexExpiry, indexExpiry } from './index-expiry.ts'
import { type Lineages, lineagesOf } from './lineages.ts'
import { createNumbers, type Numbers } from './numbers.ts'
import { createPathTrieBuilder } from './path-trie.ts'
import { createRuleTableBuilder, type RuleEntries } from './rule-table.ts'
import { type TextTable, tableOf } from './text-table.ts'
import type { TrieNodes } from './trie-nodes.ts'

/** Everything that decisions by rules need, in flat memory that moves between threads. */
export interface RuleIndex {
  readonly trie: TrieNodes
  readonly table: RuleEntries
  /** The role keys by number. */
  readonly roles: TextTable
  readonly lineages: Lineages
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
export function* indexRules({ rules, inheritances, model }: PolicySet): Steps<RuleIndex> {
  const roles = createNumbers()
  const trieBuilder = createPathTrieBuilder()
  // Roles share their paths: most rules name one that another rule has named before.
  const patterns = new Map<string, number>()
  const tableBuilder = createRuleTableBuilder(rules)
  let anyDeny = false
  for (let position = 0; position < rules.length; position++) {
    if (position % rowsPerStep === 0) yield
    const { roleKey, path, effect } = rules[position] as Rule
    let pattern = patterns.get(path)
    if (pattern === undefined) {
      pattern = trieBuilder.add(path)
      patterns.set(path, pattern)
    }
    tableBuilder.place(position, roles.of(roleKey), pattern)
    anyDeny ||= effect === 'deny'
  }
  const { superusers = [] } = model
  for (const { roleKey } of superusers) roles.of(roleKey)
  const lineages = yield* lineagesOf(inheritances, roles)
  const expiry = yield* indexExpiry({ rules, inheritances, superusers }, { roles, lineages })
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
    ...(expiry !== undefined && { expiry }),
  }
}

/** For each role by number the clause for it, counted from one, or 0. */
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

import { type SuperuserClause, superuserClauseOf } from '../model/superuser.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import { ancestorsInSteps } from '../set/inheritance.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
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
}

/** For each role by number those it inherits from, nearest first, one list after the other. */
interface Lineages {
  /** Where the list of each role begins, and where the last one ends. */
  readonly starts: Int32Array
  readonly ancestors: Int32Array
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
  return {
    trie: trieBuilder.nodes(),
    table: tableBuilder.entries,
    roles: tableOf(roles.texts),
    lineages,
    anyDeny,
    superusers:
      superusers.length === 0 ? new Uint16Array(0) : numbersOf(superusers, roles, lineages),
    clauses: superusers.map(({ text }) => text),
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

function* lineagesOf(inheritances: readonly Inheritance[], roles: Numbers): Steps<Lineages> {
  const lists = new Map<number, readonly number[]>()
  let total = 0
  for (const [roleKey, ancestors] of yield* ancestorsInSteps(inheritances)) {
    lists.set(roles.of(roleKey), ancestors.map(roles.of))
    total += ancestors.length
  }
  const starts = new Int32Array(roles.texts.length + 1)
  const ancestors = new Int32Array(total)
  let end = 0
  for (let role = 0; role < roles.texts.length; role++) {
    for (const ancestor of lists.get(role) ?? []) ancestors[end++] = ancestor
    starts[role + 1] = end
  }
  return { starts, ancestors }
}

/** Texts numbered in the order in which they first come. */
interface Numbers {
  readonly texts: readonly string[]
  readonly of: (text: string) => number
}

export function createNumbers(): Numbers {
  const known = new Map<string, number>()
  const texts: string[] = []
  return {
    texts,
    of(text) {
      const number = known.get(text)
      if (number !== undefined) return number
      known.set(text, texts.length)
      return texts.push(text) - 1
    },
  }
}

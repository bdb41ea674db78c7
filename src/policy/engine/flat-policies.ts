import { engineFor } from '../model/model.ts'
import type { Exclusion } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import type { Steps } from '../steps.ts'
import { type FlatRules, flattenRules } from './flat-rules.ts'
import type { IndexDomains } from './index-domains.ts'
import { lineEnds } from './line-ends.ts'
import { indexRules, type RuleIndex } from './rule-index.ts'

/**
 * A compiled policy as it moves from the thread that compiled it to the one that decides by it: flat
 * memory, which is transferred, and the few exclusions.
 */
export interface FlatPolicies {
  readonly revision: string
  readonly reason: string
  readonly index: RuleIndex
  readonly rules: FlatRules
  readonly exclusions: readonly Exclusion[]
  readonly ends: readonly number[]
}

/** Compiles a policy set to flat memory, in steps; `undefined` for a model that Casbin evaluates. */
export function* flattenPolicies(set: PolicySet): Steps<FlatPolicies | undefined> {
  const { model, rules, exclusions, revision } = set
  if (model.casbin !== undefined) return undefined
  const { reason } = engineFor(model)
  const index = yield* indexRules(set)
  return {
    revision,
    reason,
    index,
    rules: flattenRules(rules, {
      kinds: index.table.kinds,
      methodLists: model.methodLists === true,
      ends: index.expiry?.rules,
    }),
    exclusions,
    ends: yield* lineEnds(set),
  }
}

/** The memory to transfer when flat policies move to another thread. */
export function memoryOf({ index, rules }: FlatPolicies): ArrayBuffer[] {
  const { trie, table, roles, lineages, superusers, expiry, domains } = index
  const arrays = [
    trie.words,
    trie.edges,
    ...[table.entries, table.kinds, table.next],
    ...textMemory(roles),
    ...[lineages.starts, lineages.ancestors, superusers],
    ...[rules.roles, rules.paths, rules.methods, rules.fileNumbers, rules.lines],
    ...textMemory(rules.roleTexts),
    ...textMemory(rules.pathTexts),
    ...textMemory(rules.methodTexts),
    rules.domains,
    ...textMemory(rules.domainTexts),
    ...(domains === undefined ? [] : domainMemory(domains)),
    // `superusers` is the same memory as `expiry.superusers.clauses`.
    ...(expiry === undefined ? [] : [expiry.rules, expiry.ancestors, expiry.superusers.ends]),
  ]
  return arrays.map(({ buffer }) => buffer as ArrayBuffer)
}

function domainMemory({ texts, roots, prefixes, prefixRoots, lineages }: IndexDomains) {
  return [
    ...textMemory(texts),
    ...textMemory(prefixes),
    roots,
    prefixRoots,
    ...(lineages === undefined ? [] : [lineages]),
  ]
}

function textMemory({ units, starts, slots }: FlatRules['roleTexts']) {
  return [units, starts, slots]
}

import { type Budget, findGain } from '../diff/gain.ts'
import { createGrants, firstMethod, methodBits, treeOf as treeOfRules } from '../review/grants.ts'
import { shapeOf, treeOf, visitCovering, visitOverlapping } from '../review/pattern-tree.ts'
import type { Rule } from '../rule/rule.ts'
import type { GuardedCalls } from '../set/guardrails.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** A role that may make a call, and a call that shows it. */
export interface RoleThatMay {
  readonly roleKey: string
  /** `undefined` when the search for one was given up, so that it may not exist. */
  readonly call: { readonly method: string; readonly path: string } | undefined
  /** What allows it: a rule of the role or of one that it inherits from, or a clause of the matcher. */
  readonly by: Rule | { readonly clause: string } | undefined
}

/** Finds every role that may make one of these calls by rules, `admin` excepted. */
export type RolesThatMay = (calls: GuardedCalls) => readonly RoleThatMay[]

/** Spec, Authentication 5a: nothing of the policy applies to it. */
const adminKey = 'admin'

/** Seconds for all guardrails of a policy together. */
const mostSteps = 20_000_000

/**
 * Decides for each role whose rules share a call with the guarded ones, by the exhaustive search of
 * the access diff: paths are infinitely many, but rules tell only finitely many kinds of them apart.
 * The policy has no domains and is of the index grammar.
 */
export function createRolesThatMay(set: PolicySet): RolesThatMay {
  const grants = createGrants(set)
  const byPattern = treeOf(set.rules, ({ path }) => path)
  const heirsOf = Map.groupBy(set.inheritances, ({ parentKey }) => parentKey)
  const budget: Budget = { steps: mostSteps }

  function withHeirs(roleKeys: Iterable<string>): readonly string[] {
    const found = new Set(roleKeys)
    for (const each of found) for (const { roleKey } of heirsOf.get(each) ?? []) found.add(roleKey)
    return [...found].filter((roleKey) => roleKey !== adminKey).sort()
  }

  function ruleFor(lineage: readonly string[], bits: number, path: string): Rule | undefined {
    const covering: Rule[] = []
    const segments = path.split('/').slice(1)
    visitCovering(byPattern, { segments, tail: 'end', prefix: '' }, (rules) => {
      covering.push(...rules)
    })
    const allows = ({ effect, method }: Rule) =>
      effect === 'allow' && (methodBits(method) & bits) !== 0
    const owners = lineage.map((each) =>
      covering.find((rule) => rule.roleKey === each && allows(rule)),
    )
    return owners.find((rule) => rule !== undefined)
  }

  return ({ methods, path }) => {
    const shape = shapeOf(path)
    const wanted = methods.reduce((sum, method) => sum | methodBits(method), 0)
    const overlapping: Rule[] = []
    visitOverlapping(byPattern, shape, (rules) => {
      for (const rule of rules) if ((methodBits(rule.method) & wanted) !== 0) overlapping.push(rule)
    })
    const ownRules = Map.groupBy(overlapping, ({ roleKey }) => roleKey)
    const holders = overlapping
      .filter(({ effect }) => effect === 'allow')
      .map(({ roleKey }) => roleKey)
    const byRule = withHeirs(holders).flatMap((roleKey): readonly RoleThatMay[] => {
      if (grants.superuser(roleKey) !== undefined) return []
      const lineage = grants.lineage(roleKey)
      const side = [treeOfRules(lineage.flatMap((each) => ownRules.get(each) ?? []))]
      const gain = findGain(shape, wanted, { from: [], to: side, budget })
      if (gain === undefined) return []
      const { example } = gain
      if (example === undefined) return [{ roleKey, call: undefined, by: undefined }]
      const call = { method: firstMethod(example.methods), path: example.path }
      return [{ roleKey, call, by: ruleFor(lineage, methodBits(call.method), call.path) }]
    })
    const superusers = [...grants.roles].flatMap((roleKey): readonly RoleThatMay[] => {
      const found = roleKey === adminKey ? undefined : grants.superuser(roleKey)
      if (found === undefined || found.deniedBy !== undefined) return []
      const call = exampleOf(path, methods[0] ?? '')
      return [{ roleKey, call, by: { clause: found.clause } }]
    })
    return [...byRule, ...superusers]
  }
}

/** Every rule matches a superuser, so that any call of the pattern shows it. */
function exampleOf(pattern: string, method: string) {
  const path = pattern.replaceAll(/\/:[^/]+/g, '/x').replace(/\*$/, 'x')
  return { method: method === '*' ? 'GET' : method, path }
}

import { superuserClauseOf } from '../model/superuser.ts'
import { methodsOf } from '../rule/methods.ts'
import { ANY_METHOD, type Inheritance, METHODS, type Rule } from '../rule/rule.ts'
import { builtInExclusions } from '../set/built-in-exclusions.ts'
import { ancestorsByRole } from '../set/inheritance.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { createNode, type PatternNode, place, shapeOf } from './pattern-tree.ts'

/** Sets of methods as bits: one for each of `METHODS`, and one for all that no rule can name. */
export type MethodBits = number

const everyMethod: MethodBits = (1 << (METHODS.length + 1)) - 1

const other: MethodBits = 1 << METHODS.length
const bitsOfName: ReadonlyMap<string, MethodBits> = new Map([
  [ANY_METHOD, everyMethod],
  ...METHODS.map((method, at) => [method, 1 << at] as const),
])

/** The methods that this text in the method column matches. */
export function methodBits(text: string): MethodBits {
  const bits = bitsOfName.get(text)
  if (bits !== undefined) return bits
  return methodsOf(text).reduce((sum, method) => sum | (bitsOfName.get(method) ?? other), 0)
}

/** The methods of a set by name: `*` for every one, `other` for those that no rule can name. */
export function methodNames(bits: MethodBits): readonly string[] {
  return bits === everyMethod ? [ANY_METHOD] : namesOf(bits)
}

/** One method of a set that is not empty. */
export function firstMethod(bits: MethodBits): string {
  return namesOf(bits)[0] ?? ''
}

function namesOf(bits: MethodBits): readonly string[] {
  return [...METHODS, 'other'].filter((_, at) => bits & (1 << at))
}

/** The methods that allow rules, deny rules and exclusions name for one pattern. */
export interface Marks {
  allow: MethodBits
  deny: MethodBits
  pass: MethodBits
}

/** Patterns with their marks. Not changed after it is filled. */
export interface GrantTree {
  readonly root: PatternNode<Marks>
  readonly hasDeny: boolean
}

/** What a policy grants to each role. */
export type Grants = ReturnType<typeof createGrants>

/** Reads a policy set as grants. */
export function createGrants({ rules, inheritances, exclusions, model }: PolicySet) {
  const byRole = Map.groupBy(rules, ({ roleKey }) => roleKey)
  const ancestors = ancestorsByRole(inheritances)
  const links = Map.groupBy(inheritances, ({ roleKey }) => roleKey)
  /** The rules that name this role, in the order of the files. */
  const rulesOf = (roleKey: string): readonly Rule[] => byRole.get(roleKey) ?? []
  /** The role itself and all that it inherits from, nearest first. */
  const lineage = (roleKey: string) => [roleKey, ...(ancestors.get(roleKey) ?? [])]

  const { superusers = [] } = model
  const deniedBy =
    superusers.length === 0 ? undefined : rules.find(({ effect }) => effect === 'deny')

  /**
   * Whether a clause of the matcher makes every rule match this role: it may make every call then, or
   * none if a rule denies.
   */
  function superuser(roleKey: string) {
    // Without rules, nothing matches.
    if (superusers.length === 0 || rules.length === 0) return undefined
    const clause = superusers[superuserClauseOf(roleKey, ancestors.get(roleKey) ?? [], superusers)]
    return clause && { clause: clause.text, named: clause.roleKey, deniedBy }
  }

  return {
    /** Every role that a rule, an inheritance or a superuser clause names. */
    roles: new Set([
      ...byRole.keys(),
      ...superusers.map(({ roleKey }) => roleKey),
      ...inheritances.flatMap(({ roleKey, parentKey }) => [roleKey, parentKey]),
    ]),
    lineage,
    /** The `g` lines that name this role as the heir. */
    parentsOf: (roleKey: string): readonly Inheritance[] => links.get(roleKey) ?? [],
    superuser,
    rulesOf,
    excluded: createTree(
      [...exclusions, ...builtInExclusions].map(({ path, method }) => ({
        path,
        method,
        as: 'pass',
      })),
    ),
  }
}

interface Grant {
  readonly path: string
  readonly method: string
  readonly as: keyof Marks
}

/** The tree of these rules. */
export function treeOf(rules: readonly Omit<Rule, 'origin'>[]): GrantTree {
  return createTree(rules.map(({ path, method, effect }) => ({ path, method, as: effect })))
}

function createTree(grants: readonly Grant[]): GrantTree {
  const root = createNode<Marks>()
  for (const { path, method, as } of grants) {
    place(root, shapeOf(path), (known = { allow: 0, deny: 0, pass: 0 }) => {
      known[as] |= methodBits(method)
      return known
    })
  }
  return { root, hasDeny: grants.some((grant) => grant.as === 'deny') }
}

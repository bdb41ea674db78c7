import { ANY_METHOD, METHODS, type Rule } from '../rule/rule.ts'
import { builtInExclusions } from '../set/built-in-exclusions.ts'
import { ancestorsByRole } from '../set/inheritance.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { createNode, type PatternNode, place, shapeOf } from './pattern-tree.ts'

/** Sets of methods as bits: one for each of `METHODS`, and one for all that no rule can name. */
export type MethodBits = number

export const everyMethod: MethodBits = (1 << (METHODS.length + 1)) - 1

/** The methods that this text in the method column matches. */
export function methodBits(method: string): MethodBits {
  if (method === ANY_METHOD) return everyMethod
  const at = METHODS.indexOf(method)
  return 1 << (at === -1 ? METHODS.length : at)
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

/** What a policy grants to each role, as trees of patterns. */
export interface Grants {
  /** Every role that a rule or an inheritance names. */
  readonly roles: ReadonlySet<string>
  /** The role itself and all that it inherits from, nearest first. */
  readonly lineage: (roleKey: string) => readonly string[]
  /** The rules that name this role, in the order of the files. */
  readonly rulesOf: (roleKey: string) => readonly Rule[]
  /** The trees whose marks together decide on this role, exclusions left out. */
  readonly treesOf: (roleKey: string) => readonly GrantTree[]
  readonly excluded: GrantTree
}

/** Reads a policy set as grants. Builds each tree when it is first needed. */
export function createGrants({ rules, inheritances, exclusions }: PolicySet): Grants {
  const byRole = Map.groupBy(rules, ({ roleKey }) => roleKey)
  const ancestors = ancestorsByRole(inheritances)
  const trees = new Map<string, GrantTree>()
  const rulesOf = (roleKey: string) => byRole.get(roleKey) ?? []
  const lineage = (roleKey: string) => [roleKey, ...(ancestors.get(roleKey) ?? [])]

  function treeOf(roleKey: string): GrantTree {
    const known = trees.get(roleKey)
    if (known !== undefined) return known
    const made = createTree(
      rulesOf(roleKey).map(({ path, method, effect }) => ({ path, method, as: effect })),
    )
    trees.set(roleKey, made)
    return made
  }

  return {
    roles: new Set([
      ...byRole.keys(),
      ...inheritances.flatMap(({ roleKey, parentKey }) => [roleKey, parentKey]),
    ]),
    lineage,
    rulesOf,
    treesOf: (roleKey) =>
      lineage(roleKey)
        .filter((each) => byRole.has(each))
        .map(treeOf),
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

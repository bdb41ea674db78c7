import { firstMethod, methodNames } from '../review/grants.ts'
import type { Rule } from '../rule/rule.ts'
import type { Grant, Share } from './access-change.ts'
import type { RuleGain } from './batch-gains.ts'
import type { Batch } from './batches.ts'
import type { Gain } from './gain.ts'

/** Who gains what by one rule: roles that gain the same are one share. */
export function sharesOfRule(
  { rule, usual, others }: RuleGain,
  { roles }: Pick<Batch, 'roles'>,
): readonly Share[] {
  const usualRoles = others.size === 0 ? roles : roles.filter((each) => !others.has(each))
  const shares = new Map<string, { readonly roles: string[]; readonly grants: readonly Grant[] }>()
  for (const [roleKey, gain] of others) {
    if (gain !== undefined) takeInto(shares, roleKey, [grantOf(rule, gain)])
  }
  if (usual === undefined || usualRoles.length === 0) return [...shares.values()]
  return [{ roles: usualRoles, grants: [grantOf(rule, usual)] }, ...shares.values()]
}

/** Who gains what by all rules of a batch together. */
export function sharesOfBatch(gains: readonly RuleGain[], { roles }: Batch): readonly Share[] {
  const usual = gains.map(({ rule, usual: gain }) => gain && grantOf(rule, gain))
  // Most roles differ in a few of many rules, if at all.
  const unlike = new Map<string, Map<number, Grant | undefined>>()
  for (const [at, { rule, others }] of gains.entries()) {
    for (const [roleKey, gain] of others) {
      const known = unlike.get(roleKey) ?? new Map<number, Grant | undefined>()
      unlike.set(roleKey, known.set(at, gain && grantOf(rule, gain)))
    }
  }
  const alike = Map.groupBy(roles, (roleKey) => JSON.stringify([...(unlike.get(roleKey) ?? [])]))
  return [...alike.values()].flatMap((members): Share[] => {
    const differing = unlike.get(members[0] ?? '')
    const grants = usual
      .map((grant, at) => (differing?.has(at) ? differing.get(at) : grant))
      .filter((grant) => grant !== undefined)
    return grants.length === 0 ? [] : [{ roles: members, grants }]
  })
}

function takeInto(
  shares: Map<string, { readonly roles: string[]; readonly grants: readonly Grant[] }>,
  roleKey: string,
  grants: readonly Grant[],
): void {
  const key = JSON.stringify(grants)
  const known = shares.get(key) ?? { roles: [], grants }
  shares.set(key, known)
  known.roles.push(roleKey)
}

/** What a role gains by a rule. */
export function grantOf(
  { path, origin, ...rule }: Pick<Rule, 'path' | 'origin'> & Partial<Pick<Rule, 'roleKey'>>,
  { methods, example, certain }: Gain,
): Grant {
  return {
    methods: methodNames(methods),
    path,
    example: example && { method: firstMethod(example.methods), path: example.path },
    certain,
    owner: rule.roleKey,
    origin,
  }
}

/** The share of the role first, else the one with most roles. */
export function inOrder(shares: readonly Share[], roleKey: string): readonly Share[] {
  return shares.toSorted(
    (a, b) =>
      Number(b.roles.includes(roleKey)) - Number(a.roles.includes(roleKey)) ||
      b.roles.length - a.roles.length,
  )
}

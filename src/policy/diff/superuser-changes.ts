import { methodBits, treeOf } from '../review/grants.ts'
import { shapeOf } from '../review/pattern-tree.ts'
import { ANY_METHOD, type Rule } from '../rule/rule.ts'
import type { FoundChange } from './access-change.ts'
import type { Comparison, Version } from './changed-lines.ts'
import { findGain, type Gain, type Side } from './gain.ts'
import { inOrder, sharesOfRule } from './shares.ts'
import { widest } from './widest.ts'

/** What roles gain that are superusers in one of the two policies. */
export function newSuperuserAccess(comparison: Comparison): readonly FoundChange[] {
  const { from, to } = comparison
  if ([from, to].every(({ set }) => set.model.superusers === undefined)) return []
  const roles = [...new Set([...from.grants.roles, ...to.grants.roles])]
    // Spec, Authentication 5a: admin passes without a check.
    .filter((roleKey) => roleKey !== 'admin')
    .sort()
  const byClause = Map.groupBy(roles, (roleKey) => to.grants.superuser(roleKey)?.clause)
  const former = (byClause.get(undefined) ?? []).filter(
    (roleKey) => from.grants.superuser(roleKey) !== undefined,
  )
  byClause.delete(undefined)
  return [
    ...[...byClause.values()].flatMap((members) => changesOfClause(members, comparison)),
    ...former.flatMap((roleKey) => changesOfFormer(roleKey, comparison)),
  ]
}

/** The superusers by one clause, as one change. */
function changesOfClause(roles: readonly string[], comparison: Comparison): FoundChange[] {
  const superuser = comparison.to.grants.superuser(roles[0] ?? '')
  if (superuser === undefined || superuser.deniedBy !== undefined) return []
  const { clause, named } = superuser
  const denied = comparison.from.grants.superuser(named)?.deniedBy
  const origin = denied?.origin ?? { file: 'model.conf', line: 1 }
  const rule: Rule = { ...everyCall, roleKey: named, effect: 'allow', origin }
  const others = new Map<string, Gain>()
  for (const roleKey of roles) {
    const gain = gainOf(rule, roleKey, comparison)
    if (gain !== undefined) others.set(roleKey, gain)
  }
  if (others.size === 0) return []
  const shares = inOrder(sharesOfRule({ rule, usual: undefined, others }, { roles }), named)
  const line = denied === undefined ? 'added' : 'removed'
  return [{ cause: 'superuser', line, origin, roleKey: named, text: clause, shares }]
}

/** A deny rule denies a superuser every call, so without the clause a role may gain its own rules. */
function changesOfFormer(roleKey: string, comparison: Comparison): FoundChange[] {
  const { from, to } = comparison
  const text = from.grants.superuser(roleKey)?.clause ?? ''
  const allows = to.grants
    .lineage(roleKey)
    .flatMap(to.grants.rulesOf)
    .filter(({ effect }) => effect === 'allow')
  return widest(allows).flatMap((rule): FoundChange[] => {
    const gain = gainOf(rule, roleKey, comparison)
    if (gain === undefined) return []
    const others = new Map([[roleKey, gain]])
    const shares = sharesOfRule({ rule, usual: undefined, others }, { roles: [roleKey] })
    const { origin, until } = rule
    return [{ cause: 'superuser', line: 'removed', origin, until, roleKey, text, shares }]
  })
}

const everyCall = { path: '/*', method: ANY_METHOD } as const

function gainOf(rule: Rule, roleKey: string, { from, to, budget }: Comparison): Gain | undefined {
  return findGain(shapeOf(rule.path), methodBits(rule.method), {
    from: [...sideOf(from, roleKey), from.grants.excluded],
    to: sideOf(to, roleKey),
    budget,
  })
}

function sideOf({ grants }: Version, roleKey: string): Side {
  const superuser = grants.superuser(roleKey)
  if (superuser === undefined) return [treeOf(grants.lineage(roleKey).flatMap(grants.rulesOf))]
  const effect = superuser.deniedBy === undefined ? 'allow' : 'deny'
  return [treeOf([{ ...everyCall, roleKey, effect }])]
}

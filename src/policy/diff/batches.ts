import type { Grants } from '../review/grants.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import type { Version } from './changed-lines.ts'
import { widest } from './widest.ts'

/**
 * Roles that may have gained something by the same lines. The access of each of them includes that of
 * `lead`, in both policies, so what the lines give to `lead` they mostly give to all.
 */
export interface Batch {
  readonly cause: 'allow' | 'deny'
  /** The changed `g` line, if the rules themselves may be the same in both policies. */
  readonly inheritance: Inheritance | undefined
  readonly lead: string
  /** The rules whose paths may have been gained, without those that another one contains. */
  readonly rules: readonly Rule[]
  readonly roles: readonly string[]
}

/** Spec, Authentication 5a: nothing is gained or lost by a role that passes without a check. */
const adminKey = 'admin'

/**
 * Finds all rules by which roles may have gained access. If a role may now make a call that it could
 * not make before, then an allow rule for it is new in the lineage of the role, or a deny rule for it
 * has left that lineage: the line was added or removed, or a `g` line was.
 */
export function batchesOf(from: Version, to: Version): readonly Batch[] {
  const batches = new Map<string, Batch & { readonly roles: string[] }>()
  const newAllows = remembered((roleKey) => only('allow', to.ownRules.get(roleKey)))
  const oldDenies = remembered((roleKey) => only('deny', from.ownRules.get(roleKey)))
  const allowsOf = remembered((roleKey) => only('allow', to.grants.rulesOf(roleKey)))
  const deniesOf = remembered((roleKey) => only('deny', from.grants.rulesOf(roleKey)))

  function join(key: string, roleKey: string, make: () => Omit<Batch, 'roles'>): void {
    const known = batches.get(key) ?? { ...make(), roles: [] }
    batches.set(key, known)
    known.roles.push(roleKey)
  }

  for (const roleKey of affectedRoles(from, to)) {
    const before = from.grants.lineage(roleKey)
    const after = to.grants.lineage(roleKey)
    const wasIn = new Set(before)
    const isIn = new Set(after)
    for (const each of after) {
      const rules = wasIn.has(each) ? newAllows(each) : []
      if (rules.length === 0) continue
      join(`allow\0${each}`, roleKey, () => ownBatch('allow', each, rules))
    }
    for (const each of before) {
      const rules = isIn.has(each) ? oldDenies(each) : []
      if (rules.length === 0) continue
      join(`deny\0${each}`, roleKey, () => ownBatch('deny', each, rules))
    }
    const entries = [
      ...entriesOf('allow', roleKey, { grants: to.grants, known: wasIn, rulesOf: allowsOf }),
      ...entriesOf('deny', roleKey, { grants: from.grants, known: isIn, rulesOf: deniesOf }),
    ]
    for (const { cause, inheritance, members, rulesOf } of entries) {
      const key = [`${cause} by`, inheritance.roleKey, inheritance.parentKey, '', ...members]
      join(key.join('\0'), roleKey, () => ({
        cause,
        inheritance,
        lead: inheritance.roleKey,
        rules: widest(members.flatMap(rulesOf)),
      }))
    }
  }
  return [...batches.values()]
}

function ownBatch(cause: Batch['cause'], lead: string, rules: readonly Rule[]) {
  return { cause, inheritance: undefined, lead, rules: widest(rules) }
}

type RulesOf = (roleKey: string) => readonly Rule[]

function remembered(rulesOf: RulesOf): RulesOf {
  const known = new Map<string, readonly Rule[]>()
  return (roleKey) => {
    const rules = known.get(roleKey) ?? rulesOf(roleKey)
    known.set(roleKey, rules)
    return rules
  }
}

function only(effect: Rule['effect'], rules: readonly Rule[] = []): readonly Rule[] {
  return rules.filter((rule) => rule.effect === effect)
}

/** The roles of both policies that have a changed line in their lineage, sorted. */
function affectedRoles(from: Version, to: Version): readonly string[] {
  const changed = new Set([
    ...[from, to].flatMap(({ ownRules }) => [...ownRules.keys()]),
    ...[from, to].flatMap(({ ownInheritances }) => ownInheritances.map(({ roleKey }) => roleKey)),
  ])
  const isAffected = (roleKey: string) =>
    [from, to].some(({ grants }) => grants.lineage(roleKey).some((each) => changed.has(each)))
  // What a superuser may do does not depend on the rules that name it.
  const isSuperuser = (roleKey: string) =>
    [from, to].some(({ grants }) => grants.superuser(roleKey) !== undefined)
  return [...new Set([...from.grants.roles, ...to.grants.roles])]
    .filter((roleKey) => roleKey !== adminKey && !isSuperuser(roleKey) && isAffected(roleKey))
    .sort()
}

/**
 * The members of a role's lineage that the other policy does not have in it, by the `g` line that
 * leads to them out of what both have; without members that have no rules.
 */
function entriesOf(
  cause: Batch['cause'],
  roleKey: string,
  side: {
    readonly grants: Grants
    readonly known: ReadonlySet<string>
    readonly rulesOf: RulesOf
  },
) {
  const { grants, known, rulesOf } = side
  if (grants.lineage(roleKey).every((each) => known.has(each))) return []
  const entries = new Map<Inheritance, string[]>()
  const reached = new Map<string, Inheritance | undefined>([[roleKey, undefined]])
  // The loop also visits the elements that it adds: nearest first.
  for (const [each, entry] of reached) {
    for (const link of grants.parentsOf(each)) {
      if (reached.has(link.parentKey)) continue
      const by = entry ?? (known.has(link.parentKey) ? undefined : link)
      // A member that both have may lie behind one that is new.
      const isNew = !known.has(link.parentKey)
      reached.set(link.parentKey, isNew ? by : undefined)
      if (!isNew || by === undefined || rulesOf(link.parentKey).length === 0) continue
      const members = entries.get(by) ?? []
      entries.set(by, members)
      members.push(link.parentKey)
    }
  }
  return [...entries].map(([inheritance, members]) => ({ cause, inheritance, members, rulesOf }))
}

import type { Finding, Locate } from '../review/finding.ts'
import { createGrants } from '../review/grants.ts'
import { quote, type Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { suggestion } from './named-roles.ts'

/**
 * Finds deny rules that deny nothing because no rule allows anything to the role or to a role that
 * inherits from it. Usually the role key is mistyped, and the call stays allowed.
 */
export function checkDenies(set: PolicySet, locate: Locate): Finding[] {
  const denies = firstDenies(set)
  // Every rule matches a superuser, so every deny rule denies something.
  if (denies.length === 0 || set.model.superusers !== undefined) return []
  const { roles, lineage, rulesOf } = createGrants(set)
  const allows = new Set(
    [...roles].filter((roleKey) => rulesOf(roleKey).some(({ effect }) => effect === 'allow')),
  )
  const reached = new Set<string>()
  for (const roleKey of roles) {
    const keys = lineage(roleKey)
    if (keys.some((each) => allows.has(each))) for (const each of keys) reached.add(each)
  }

  return denies
    .filter(({ roleKey }) => !reached.has(roleKey) && !roleKey.includes('*'))
    .map(({ roleKey, origin }) => {
      const message = `denies nothing: no rule allows anything to role ${quote(roleKey)} or to a role that inherits from it${suggestion(roleKey, reached)}`
      return { ...locate(origin, 'role'), code: 'deny-without-effect', message }
    })
}

/**
 * `checkDenies` for models that Casbin evaluates: finds roles that no other line names, but that are
 * spelled similarly to one that another line names.
 */
export function checkDenySpelling(set: PolicySet, locate: Locate): Finding[] {
  const named = new Set<string>()
  for (const { roleKey, effect } of set.rules) if (effect === 'allow') named.add(roleKey)
  for (const { roleKey, parentKey } of set.inheritances) named.add(roleKey).add(parentKey)

  return firstDenies(set)
    .filter(({ roleKey }) => roleKey !== '' && !named.has(roleKey))
    .flatMap(({ roleKey, origin }): Finding[] => {
      const meant = suggestion(roleKey, named)
      if (meant === '') return []
      const message = `probably denies nothing: no allow rule and no "g" line names role ${quote(roleKey)}${meant}`
      return [{ ...locate(origin, 'line'), code: 'deny-without-effect', message }]
    })
}

/** The first deny rule of each role, for one warning for each role. */
function firstDenies({ rules }: PolicySet): readonly Rule[] {
  const firsts = new Map<string, Rule>()
  for (const rule of rules) {
    if (rule.effect !== 'deny' || rule.roleKey === 'admin' || firsts.has(rule.roleKey)) continue
    firsts.set(rule.roleKey, rule)
  }
  return [...firsts.values()]
}

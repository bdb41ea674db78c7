import type { Finding, Locate } from '../review/finding.ts'
import { quote } from '../rule/rule.ts'
import { ancestorsByRole } from '../set/inheritance.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { type NamedRole, namedRoles, suggestion } from './named-roles.ts'

/** Role keys from elsewhere, and where that is. */
export type KnownRoles = ReturnType<typeof knownRoles>

/** The roles that a policy names; `name` is for messages, such as `live, r-3f2a9c81d604`. */
export function knownRoles(name: string, set: PolicySet) {
  return { name, roleKeys: new Set(namedRoles(set).keys()) }
}

/** Finds role keys that the policy before this one does not name: usually the author adds no role. */
export function checkNewRoles(
  roles: ReadonlyMap<string, NamedRole>,
  { name, roleKeys }: KnownRoles,
  locate: Locate,
): Finding[] {
  const added = absent(roles, roleKeys)
  const meant = suggestionsFor(added, roleKeys)
  return added.map(({ roleKey, origin, field }) => {
    const message = `role ${quote(roleKey)} is new: ${name} does not name it${meant(roleKey)}`
    return { ...locate(origin, field), code: 'role-new', message }
  })
}

/**
 * Finds role keys that no account can have, because neither they nor a role that inherits from them
 * have a row in the table of roles.
 */
export function checkUnassignedRoles(
  { inheritances }: PolicySet,
  roles: ReadonlyMap<string, NamedRole>,
  { name, roleKeys }: KnownRoles,
  locate: Locate,
): Finding[] {
  const reached = new Set(roleKeys)
  const ancestors = ancestorsByRole(inheritances)
  for (const roleKey of roleKeys) for (const each of ancestors.get(roleKey) ?? []) reached.add(each)
  const unassigned = absent(roles, reached)
  const meant = suggestionsFor(unassigned, roleKeys)
  return unassigned.map(({ roleKey, origin, field }) => {
    const message = `role ${quote(roleKey)} has no row in ${name}, and neither has a role that inherits from it: no account can have it${meant(roleKey)}`
    return { ...locate(origin, field), code: 'role-unassigned', message }
  })
}

/** `admin` is built in. */
function absent(
  roles: ReadonlyMap<string, NamedRole>,
  known: ReadonlySet<string>,
): readonly NamedRole[] {
  return [...roles.values()].filter(({ roleKey }) => roleKey !== 'admin' && !known.has(roleKey))
}

/** Each suggestion compares with every known role, so a large policy goes without. */
function suggestionsFor(roles: readonly NamedRole[], known: ReadonlySet<string>) {
  const isSmall = roles.length * known.size <= mostComparisons
  return (roleKey: string) => (isSmall ? suggestion(roleKey, known) : '')
}

const mostComparisons = 100_000

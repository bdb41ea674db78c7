import { nearest } from '../../kernel/suggest.ts'
import { type Origin, quote } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'

/** A role key that a policy names, and where it does so first. */
export interface NamedRole {
  readonly roleKey: string
  readonly origin: Origin
  /** The column; that of a parent is the second one. */
  readonly field: 'role' | 'path'
  /** How many lines name it. */
  readonly lines: number
}

/** The role keys of all rules and inheritances, in the order of the files. */
export function namedRoles({ rules, inheritances }: PolicySet): ReadonlyMap<string, NamedRole> {
  const roles = new Map<string, { -readonly [Key in keyof NamedRole]: NamedRole[Key] }>()
  const take = (roleKey: string, origin: Origin, field: NamedRole['field']) => {
    // A model that Casbin evaluates may have no column for roles.
    if (roleKey === '') return
    const known = roles.get(roleKey)
    if (known === undefined) roles.set(roleKey, { roleKey, origin, field, lines: 1 })
    else known.lines++
  }
  for (const { roleKey, origin } of rules) take(roleKey, origin, 'role')
  for (const { roleKey, parentKey, origin } of inheritances) {
    take(roleKey, origin, 'role')
    take(parentKey, origin, 'path')
  }
  return roles
}

/** The role that was probably meant, for the end of a message. */
export function suggestion(roleKey: string, known: Iterable<string>): string {
  const meant = nearest(roleKey, known)
  return meant === undefined ? '' : `; did you mean ${quote(meant)}?`
}

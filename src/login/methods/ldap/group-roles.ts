import { canonicalDn, canonicalValue, commonName } from './distinguished-name.ts'

/** Which role the members of a group get. */
export interface GroupRole {
  /** The DN of the group, or its name. */
  readonly value: string
  readonly role: string
}

/** The role of the first entry that names one of the groups; `undefined` without a match. */
export function roleOfGroups(
  roles: readonly GroupRole[],
  groups: readonly string[],
): string | undefined {
  const known = new Set(groups.flatMap(spellings))
  return roles.find(({ value }) => known.has(spelling(value)))?.role
}

/** A group is named by its DN or its cn; a value that is not a DN, by itself. */
function spellings(group: string): readonly string[] {
  const name = canonicalDn(group) === undefined ? undefined : commonName(group)
  return name === undefined ? [spelling(group)] : [spelling(group), `name ${name}`]
}

/** Marked, so that the name of one group is never equal to the DN of another. */
function spelling(value: string): string {
  const dn = canonicalDn(value)
  return dn === undefined ? `name ${canonicalValue(value)}` : `dn ${dn}`
}

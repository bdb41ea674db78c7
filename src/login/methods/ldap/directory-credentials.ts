import type { ClaimPicker } from '../../../token/carried-claims.ts'
import type { Identity, LinkedAccounts, LinkRules } from '../../linked-account.ts'
import type { Verified } from '../../login-method.ts'
import type { NameAndPassword, VerifyPassword } from '../../method-kind.ts'
import type { PasswordHash } from '../../password-hash.ts'
import { canonicalDn, canonicalValue, commonName, nameBelow } from './distinguished-name.ts'
import { textsOf } from './entry.ts'
import type { Person } from './find-person.ts'
import type { Directory } from './open-directory.ts'
import type { GroupSettings } from './settings.ts'

interface DirectoryCredentialsParts {
  /** The name of the directory, which links belong to. */
  readonly name: string
  readonly verifyInDirectory: Directory['verify']
  readonly linkedAccounts: LinkedAccounts
  /** The passwords of our own accounts. Unset: they do not log in. */
  readonly verifyPassword: VerifyPassword | undefined
  readonly passwordHash: Pick<PasswordHash, 'verifyDummy'>
  /** Unset: accounts keep the role they have. */
  readonly roles?: readonly GroupRole[] | undefined
  readonly rules: Omit<LinkRules, 'syncRole'>
  readonly groups?: Pick<GroupSettings, 'base'> | undefined
  readonly pick: ClaimPicker['pick']
}

/**
 * Name and password of an account with a password of its own here, or of a person in a directory. One
 * name is asked in one place only: else a password of either would open the account.
 */
export function createDirectoryCredentials(parts: DirectoryCredentialsParts) {
  const { name, linkedAccounts, verifyPassword, roles } = parts

  return async (given: NameAndPassword): Promise<Verified | undefined> => {
    if (verifyPassword !== undefined && (await linkedAccounts.isLocal(given.username, name))) {
      const caller = await verifyPassword(given)
      return caller && { caller }
    }
    // As long as for an account of our own, so that times tell less about where a name is known.
    const [person] = await Promise.all([
      parts.verifyInDirectory(given),
      // The queue of the hashing threads may be full. The directory has decided: a fault would make a guess free.
      parts.passwordHash.verifyDummy(given.password).catch(() => {}),
    ])
    if (person === undefined) return undefined
    const { groups: _, entry: __, ...identity } = person
    const verified = await linkedAccounts.signIn(
      { ...identity, provider: name, ...roleOf(person) },
      { ...parts.rules, syncRole: roles !== undefined },
    )
    return { ...verified, ...parts.pick(person.username, (claim) => claimOf(person, claim)) }
  }

  function claimOf({ groups, email, displayName, entry }: Person, claim: string): unknown {
    if (claim === 'email') return email
    if (claim === 'name') return displayName
    if (claim !== 'groups') return textsOf(entry, claim)
    return groups.map((group) => nameBelow(group, parts.groups?.base) ?? group)
  }

  function roleOf({ username, groups }: Person): Pick<Identity, 'roleKey' | 'roleProblem'> {
    if (roles === undefined) return {}
    const roleKey = roleOfGroups(roles, groups)
    if (roleKey !== undefined) return { roleKey }
    const named = JSON.stringify(groups.slice(0, 20))
    const problem = `no entry of login.ldap.roles names a group of ${JSON.stringify(username)}; it has ${groups.length}: ${named}`
    return { roleProblem: problem.slice(0, 1000) }
  }
}

/** Which role the members of a group get. */
interface GroupRole {
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

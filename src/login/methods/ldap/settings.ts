import type { LinkRules } from '../../linked-account.ts'
import type { GroupRole } from './group-roles.ts'

export interface LdapLogin {
  readonly ldap?: LdapSettings | undefined
}

/** A directory and its people, as the configuration has them. */
interface LdapSettings extends DirectorySettings, Pick<LinkRules, 'create' | 'linkByUsername'> {
  /** Unset: accounts keep the role they have. */
  readonly roles?: readonly GroupRole[] | undefined
}

/** How a directory is reached and read. */
export interface DirectorySettings {
  readonly name: string
  /** Tried in this order. */
  readonly urls: readonly string[]
  readonly startTls: boolean
  readonly caFile?: string | undefined
  readonly serverName?: string | undefined
  /** Unset: people read their own entry. */
  readonly bindDn?: string | undefined
  readonly bindPassword?: string | undefined
  readonly search?: SearchSettings | undefined
  readonly userDn?: string | undefined
  readonly userPrincipal?: string | undefined
  readonly attributes: {
    readonly subject: string
    readonly username: string
    readonly displayName: string
    readonly email: string
  }
  readonly groups?: GroupSettings | undefined
  readonly connectTimeoutMs: number
  /** For everything that one login asks the directory. */
  readonly timeoutMs: number
  readonly maxConcurrent: number
}

export interface SearchSettings {
  readonly base: string
  readonly filter: string
  readonly scope: 'sub' | 'one'
}

export interface GroupSettings {
  readonly attribute?: string | undefined
  readonly base?: string | undefined
  readonly filter: string
  readonly nested: boolean
}

import type { ldapSetting } from '../../../config/schema/login/ldap.ts'
import type { ValueOf } from '../../../config/schema/type.ts'

/** A directory and its people. */
type LdapSettings = ValueOf<typeof ldapSetting>

export interface LdapLogin {
  readonly ldap?: LdapSettings | undefined
}

/** How a directory is reached and read. */
export type DirectorySettings = Omit<LdapSettings, 'create' | 'linkByUsername' | 'roles'>
export type SearchSettings = NonNullable<LdapSettings['search']>
export type GroupSettings = NonNullable<LdapSettings['groups']>

import type { LoginMethodKind } from '../../method-kind.ts'
import { checkLdap } from './check-settings.ts'
import type { LdapLogin } from './settings.ts'

/** Passwords of people in an LDAP directory. */
export const ldap: LoginMethodKind<LdapLogin> = {
  setting: 'ldap',
  isConfigured: ({ ldap: directory }) => directory !== undefined,
  check: checkLdap,
  providers: ({ ldap: directory }) =>
    directory === undefined
      ? []
      : [{ name: directory.name, issuer: directory.name, setting: 'ldap' }],
  load: () => import('./open-ldap.ts'),
}

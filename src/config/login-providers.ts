import type { Config } from './schema/schema.ts'

/** A configured system that vouches for people. */
interface LoginProvider {
  readonly name: string
  /** What its links belong to. */
  readonly issuer: string
}

interface LoginProviders {
  readonly providers: readonly LoginProvider[]
  /** Whether a login module is one as well: its file says its name. */
  readonly hasModule: boolean
}

export function loginProviders({ oidc, ldap, module }: Config['login']): LoginProviders {
  const directory = ldap === undefined ? [] : [{ name: ldap.name, issuer: ldap.name }]
  const providers = [...oidc.map(({ name, issuer }) => ({ name, issuer })), ...directory]
  return { providers, hasModule: module !== undefined }
}

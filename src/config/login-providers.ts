/** A configured system that vouches for people. */
interface LoginProvider {
  readonly name: string
  /** What its links belong to. */
  readonly issuer: string
}

interface Settings {
  readonly local: boolean
  readonly oidc?: readonly { readonly name: string; readonly issuer: string }[]
  readonly ldap?: { readonly name: string }
  readonly module?: string
}

interface LoginProviders {
  readonly providers: readonly LoginProvider[]
  /** Whether a login module is one as well: its file says its name. */
  readonly hasModule: boolean
}

export function loginProviders({ oidc = [], ldap, module }: Settings): LoginProviders {
  const directory = ldap === undefined ? [] : [{ name: ldap.name, issuer: ldap.name }]
  const providers = [...oidc.map(({ name, issuer }) => ({ name, issuer })), ...directory]
  return { providers, hasModule: module !== undefined }
}

import type { DeepPartial } from '../kernel/deep-partial.ts'
import { passwordMethodName } from '../login/login-method.ts'
import { type LoginSettings, loginMethods } from '../login/methods/login-methods.ts'

/** Systems that vouch for people, to which accounts can be linked. */
export function loginProviders(login: LoginSettings) {
  const configured = loginMethods.filter(
    ({ setting, isConfigured }) => setting && isConfigured(login),
  )
  return {
    providers: namedProviders(login).map(({ name = '', issuer = '' }) => ({ name, issuer })),
    /** Whether a login module is one as well: its file says its name. */
    hasModule: configured.some(({ providers }) => providers === undefined),
  }
}

/** What the configuration names. Modules name themselves. */
export function methodNames(login: DeepPartial<LoginSettings>): readonly string[] {
  return [passwordMethodName, ...namedProviders(login).flatMap(({ name }) => name ?? [])]
}

export function namedProviders(login: DeepPartial<LoginSettings>) {
  return loginMethods.flatMap(({ providers }) => providers?.(login) ?? [])
}

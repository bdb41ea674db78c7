import type { FindLoginMethod, LoginMethod } from '../../login/login-method.ts'
import { buildPasswordMethod, type PasswordMethodParts } from './build-password-method.ts'

interface LoginMethodParts extends PasswordMethodParts {
  readonly loginModule: LoginMethod | undefined
  /** Those of OpenID Connect providers. */
  readonly oidc: readonly LoginMethod[]
}

/** Every configured way to log in. The default is name and password, or the module where only it is left. */
export function buildLoginMethods(parts: LoginMethodParts): FindLoginMethod {
  const { loginModule, oidc, directory, config } = parts
  const standard = buildPasswordMethod(parts)
  const methods = [standard, loginModule, ...oidc].filter((method) => method !== undefined)
  const byName = new Map(methods.map((method) => [method.name, method]))
  const hasPasswords = config.local || directory !== undefined
  const byDefault = hasPasswords ? standard : (loginModule ?? standard)
  return (provider) => (provider === undefined ? byDefault : byName.get(provider))
}

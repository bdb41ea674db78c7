import type { LoginMethodKind } from '../method-kind.ts'
import { ldap } from './ldap/ldap.ts'
import { loginModule } from './module/module.ts'
import { oidc } from './oidc/oidc.ts'
import { password } from './password/password.ts'

/**
 * Every kind of login method, in the order in which they are checked, opened and shown. A directory comes
 * before the passwords that it knows. A login that chooses none gets the first that a form fits.
 */
const table = [oidc, ldap, password, loginModule] as const

type Takes<Kind> = Kind extends LoginMethodKind<infer Settings> ? (login: Settings) => void : never

/** What all of them read of the section `login`. */
export type LoginSettings =
  Takes<(typeof table)[number]> extends (login: infer Settings) => void ? Settings : never

export const loginMethods: readonly LoginMethodKind<LoginSettings>[] = table

import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

/** The settings that add a way to log in besides the accounts' own passwords. */
const others = ['oidc', 'ldap', 'module'] as const

/** Without own passwords, another method must exist: otherwise nobody could log in. */
export function checkLoginMethods({ login }: Draft, report: Report): void {
  const at = 'login.local'
  if (login?.local !== false) return
  const given: Readonly<Record<string, unknown>> = login
  const has = (name: string) => {
    const value = given[name]
    return Array.isArray(value) ? value.length > 0 : value !== undefined
  }
  if (others.some((name) => has(name) || report.hasProblem(`login.${name}`))) return
  report.problem(
    at,
    `${at} is false, so another login method is required: set login.oidc, login.ldap or login.module`,
  )
}

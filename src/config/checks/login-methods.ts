import { subject } from '../reading/quote.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

export function checkLoginMethods({ login = {} }: Draft, report: Report): void {
  checkLocal(login, report)
  checkDirectoryName(login, report)
}

type LoginDraft = NonNullable<Draft['login']>

/** Without own passwords and without another method, every login would be refused. */
function checkLocal({ local, oidc = [], ldap, module }: LoginDraft, report: Report): void {
  const at = 'login.local'
  if (local !== false || oidc.length > 0 || ldap !== undefined || module !== undefined) return
  if (['oidc', 'ldap', 'module'].some((name) => report.hasProblem(`login.${name}`))) return
  report.problem(
    at,
    `${at} is false, so another login method is required: set login.oidc, login.ldap or login.module`,
  )
}

/** `user link --provider` and the links of accounts tell a directory from a provider by its name. */
function checkDirectoryName({ oidc, ldap }: LoginDraft, report: Report): void {
  const at = 'login.ldap.name'
  const index = oidc?.findIndex((each) => each?.name === ldap?.name) ?? -1
  if (ldap?.name === undefined || index === -1 || report.hasProblem(at)) return
  const taken = `${subject(ldap.name)} is already the name of login.oidc[${index}]`
  report.problem(at, `${at}: ${taken}; use another name`)
}

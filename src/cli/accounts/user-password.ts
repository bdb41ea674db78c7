import { brokenPasswordRule } from '../../login/passwords/password-rules.ts'
import { catalogs } from '../../messages/catalogs.ts'

/** Why this text cannot be the password of that user, if so. */
export function passwordProblem(text: string, username: string): string | undefined {
  const rule = brokenPasswordRule(text, { username })
  return rule === undefined ? undefined : catalogs.en[rule]
}

import { ownPaths } from '../../kernel/endpoints.ts'
import type { Exclusion } from '../rule/rule.ts'

/** The origin of a built-in exclusion. */
const builtInFile = 'built in'

/**
 * The public endpoints of the specification, and the change of one's own password. They are on the
 * exclusion list of every policy, so that everyone can log in, log out, see their own profile and
 * change their own password; a policy may list them itself.
 */
export const builtInExclusions: readonly Exclusion[] = [
  exclusion('POST', ownPaths.login, 'A caller who logs in has no role yet.'),
  exclusion('GET', ownPaths.captcha, 'The captcha is shown before the login.'),
  exclusion('POST', ownPaths.logout, 'Every caller may end their own session.'),
  exclusion('GET', ownPaths.profile, 'Every caller may see their own profile, and no other.'),
  exclusion('POST', ownPaths.password, 'Every user may change their own password.'),
]

function exclusion(method: string, path: string, reason: string): Exclusion {
  return Object.freeze({
    method,
    path,
    reason,
    origin: Object.freeze({ file: builtInFile, line: 0 }),
  })
}

import { DAY_MS, flag, integer, optionalFile, section } from '../setting-builders.ts'

/** Settings of `login` for a login module. */
export const loginModuleSettings = {
  module: optionalFile(
    'File of a login module of your own: JavaScript that exports verifyCredentials. Unset: no module.',
  ),
  moduleTimeoutMs: integer(
    { default: 5000, from: 1, to: DAY_MS },
    'Time that the login module has for one login, in milliseconds. After it, the client gets 503.',
  ),
  moduleAccounts: section('Accounts of users that the login module returns with a subject.', {
    create: flag(false, 'Create an account at the first login, if the module returns a role.'),
    linkByUsername: flag(
      false,
      'Link an existing account of the same name at the first login. Never one with role admin.',
    ),
  }),
}

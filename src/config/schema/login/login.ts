import { flag, integer, section } from '../setting-builders.ts'
import { ldapSetting } from './ldap.ts'
import { loginModuleSettings } from './module.ts'
import { oidcSetting } from './oidc.ts'
import { loginPageSettings } from './page.ts'
import { secondFactorSettings } from './second-factor.ts'

export const loginSettings = section('Login: its methods and its limits.', {
  local: flag(
    true,
    'Accept the passwords of accounts here. With false, people log in through login.oidc, login.ldap or login.module only.',
  ),
  ldap: ldapSetting,
  oidc: oidcSetting,
  page: loginPageSettings,
  passwordConcurrency: integer(
    { default: 2, from: 1, to: 64 },
    'Number of passwords that are checked at the same time.',
  ),
  passwordQueue: integer(
    { default: 64, from: 0, to: 100_000 },
    'Maximum number of logins that wait for a password check. Further ones get 503.',
  ),
  perAddressPerMinute: integer(
    { default: 30, from: 1, to: 1_000_000 },
    'Maximum number of login attempts per minute from one address.',
  ),
  failuresPerAccount: integer(
    { default: 5, from: 1, to: 1_000_000 },
    'Failed logins to one account from unknown addresses, after which unknown addresses are locked out of it.',
  ),
  failuresPerPair: integer(
    { default: 5, from: 1, to: 1_000_000 },
    'Failed logins to one account from one address, after which that address is locked out of it.',
  ),
  failureWindowSeconds: integer(
    { default: 900, from: 1, to: 86_400 },
    'Window in which failed logins are counted, in seconds.',
  ),
  waitSeconds: integer(
    { default: 60, from: 1, to: 86_400 },
    'Length of the first lock-out, in seconds. Each further one is twice as long.',
  ),
  longestWaitSeconds: integer(
    { default: 900, from: 1, to: 86_400 },
    'Maximum length of a lock-out, in seconds. After as long without one, the next starts at login.waitSeconds again.',
  ),
  knownAddressDays: integer(
    { default: 30, from: 0, to: 365 },
    'Days for which an address stays known for an account after a login from it.',
  ),
  captchaPerAddressPerMinute: integer(
    { default: 60, from: 1, to: 1_000_000 },
    'Maximum number of captchas per minute for one address.',
  ),
  ...loginModuleSettings,
  secondFactor: secondFactorSettings,
})

import { NOT_BLANK, REDIRECT, REQUEST_TARGET, TOTP_ISSUER, WEB_URL } from '../patterns.ts'
import {
  DAY_MS,
  flag,
  hostNames,
  integer,
  list,
  optionalFile,
  optionalString,
  reloading,
  section,
  string,
  text,
} from '../setting-builders.ts'
import { ldapSetting } from './ldap.ts'
import { oidcSetting } from './oidc.ts'

/** Settings of `login` for a login module. */
const loginModuleSettings = {
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

const loginPageSettings = section(
  'Login page for browsers. Without it, every refused request gets JSON.',
  {
    enabled: flag(
      false,
      'Serve the login page, and redirect browsers there that open a protected page without a login. Requires cookie.set.',
    ),
    path: text(
      '/login',
      'Path of the page. Its style sheet, captcha, password change and logout are below it.',
      REQUEST_TARGET,
    ),
    title: optionalString(
      { minLength: 1, maxLength: 100 },
      'Heading of the page. Unset: "Log in", in the language of the reader.',
    ),
    logo: optionalFile(
      'File of a logo above the heading: SVG, PNG or WebP, 256 KiB at most. Unset: no logo.',
    ),
    afterLogin: text(
      '/',
      'Path to open after a login that started on the login page itself; with login.page.hosts, also the address of a page there.',
      REDIRECT,
    ),
    url: optionalString(
      { minLength: 1, maxLength: 1024, pattern: WEB_URL },
      'Address of the page for browsers, such as https://login.example.com/login, with the path of login.page.path. Redirects go there from every host. Unset: each host has the page at login.page.path.',
    ),
    hosts: hostNames(
      'app.example.com',
      'Other hosts that the page may lead back to after a login, below cookie.domain. They have the scheme and the port of login.page.url. Unset: only its own.',
    ),
  },
)

export const pagesSettings = reloading(
  'Pages that people see instead of refusals and faults. Requires login.page.enabled.',
  {
    contact: optionalString(
      { maxLength: 200, pattern: NOT_BLANK },
      'Whom people ask for help: a mail address, an address (https://…) or any other text. Unset: pages name no contact.',
    ),
    directory: optionalFile(
      'Directory with pages of your own: error.html, or a status such as 404.html. Read again at a reload. Unset: built-in pages.',
    ),
  },
)

const secondFactorSettings = section(
  'One-time codes (TOTP) as a second factor. Accounts that "postern user totp" enrolled always need one.',
  {
    roles: list(
      string({ minLength: 1, maxLength: 128 }, 'Role key, such as admin.'),
      { default: [], maxItems: 100 },
      'Roles whose accounts must have one-time codes: login refuses those that are not enrolled. Logins through login.oidc are not affected.',
    ),
    issuer: string(
      { default: 'Postern', minLength: 1, maxLength: 64, pattern: TOTP_ISSUER },
      'Name that authenticator apps show above the code, such as that of your product.',
    ),
  },
)

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

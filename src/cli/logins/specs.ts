import type { LoginOutcome } from '../../login/login-record.ts'
import { type CommandSpec, configOption, outputOption } from '../command.ts'

/** Written out, because help must not load the rest of the program; a test compares the lists. */
const outcomes = [
  'logged-in',
  'logged-out',
  'wrong-credentials',
  'wrong-captcha',
  'no-such-provider',
  'login-expired',
  'provider-refused',
  'no-account',
  'account-disabled',
  'no-role',
  'otp-needed',
  'wrong-otp',
  'otp-not-enrolled',
  'not-permitted',
  'too-many-requests',
  'bad-login-request',
  'unavailable',
] as const satisfies readonly LoginOutcome[]

const common = { ...outputOption, ...configOption } as const
const showNames = {
  'show-names': {
    description: 'show names that match no account; people type passwords into that field',
  },
} as const
const exitCodes = {
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const

export const listSpec = {
  name: 'login list',
  summary: 'list login attempts and logouts, newest first',
  details: `Reads the login log (table sys_login_log), which gateways write with logger.enableddb: true. A name that
matches no account is masked, because people type passwords into that field.`,
  arguments: [],
  options: {
    user: { value: 'NAME', description: 'only attempts with this name, in any letter case' },
    address: {
      value: 'ADDRESS',
      description: 'only attempts from this address, or from a range such as 192.0.2.0/24',
    },
    outcome: {
      value: 'OUTCOME',
      choices: outcomes,
      description: `only attempts with this outcome: ${outcomes.join(', ')}`,
    },
    since: {
      value: 'TIME',
      default: '1d',
      description: 'how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01',
    },
    limit: {
      value: 'N',
      number: { min: 1, max: 10_000, integer: true },
      default: '100',
      description: 'how many to list',
    },
    ...showNames,
    ...common,
  },
  exitCodes: { 0: 'listed', ...exitCodes },
  examples: [
    'postern login list',
    'postern login list --user alice --since 7d',
    'postern login list --outcome wrong-credentials --address 192.0.2.0/24',
    "postern login list --output json | jq -r '.attempts[].address' | sort | uniq -c | sort -n",
  ],
} as const satisfies CommandSpec

export const locksSpec = {
  name: 'login locks',
  summary: 'list the lock-outs that are open now',
  details: `Shows accounts, addresses, and accounts at an address ("pair") that gateways lock out after too many
attempts, and addresses that get no captchas: since when, until when, and after how many attempts. A
name that matches no account is masked, because people type passwords into that field.

With redis.url the gateways count together, in Redis. Without it every gateway process counts for
itself and records its lock-outs in the database; one that was killed leaves them there until they end.`,
  arguments: [],
  options: { ...showNames, ...common },
  exitCodes: { 0: 'listed', ...exitCodes },
  examples: [
    'postern login locks',
    'postern login locks --output json | jq -r \'.lockouts[] | select(.kind == "account") | .username\'',
  ],
} as const satisfies CommandSpec

export const unlockSpec = {
  name: 'login unlock',
  summary: 'end the lock-outs of an account or an address',
  details: `For a user: ends the lock-out of the account, and of the account at every address. For an address: ends
its lock-out, that of its captchas, and those of accounts at this address. An IPv6 address stands for
its /64 network, which gateways count as one address. If a user has an address as name, both are
meant. Every gateway follows within two seconds.

The attempts that led to a lock-out are forgotten with it, so the full limit applies again.`,
  arguments: [{ name: 'USER|ADDRESS', description: 'user name, or an IPv4 or IPv6 address' }],
  options: { ...common },
  exitCodes: { 0: 'ended', 1: 'nothing was locked out', ...exitCodes },
  examples: ['postern login unlock alice', 'postern login unlock 2001:db8::7'],
} as const satisfies CommandSpec

import { Type } from '../../config/schema/type.ts'
import type { LoginOutcome } from '../../login/login-record.ts'
import { change, local, question } from '../operation.ts'
import { flag, nullable, text, time, whole } from '../schema.ts'

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

const showNames = {
  'show-names': {
    local: true,
    description: 'show names that match no account; people type passwords into that field',
  },
} as const
const maskedName = nullable(text, 'null: masked, because no account has it.')

export const loginList = question({
  name: 'login list',
  summary: 'list login attempts and logouts, newest first',
  input: {
    user: { value: 'NAME', description: 'only attempts with this name, in any letter case' },
    address: {
      value: 'ADDRESS',
      description: 'only attempts from this address, or from a range such as 192.0.2.0/24',
    },
    outcome: {
      ...{ value: 'OUTCOME', choices: outcomes },
      description: `only attempts with this outcome: ${outcomes.join(', ')}`,
    },
    since: {
      ...{ value: 'TIME', default: '1d' },
      description: 'how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01',
    },
    limit: {
      ...{ value: 'N', number: { min: 1, max: 10_000, integer: true }, default: '100' },
      description: 'how many to list',
    },
    ...showNames,
  },
  document: Type.Object({
    since: time,
    recording: Type.Boolean({ description: 'logger.enableddb of this configuration.' }),
    attempts: Type.Array(
      Type.Object(
        {
          ...{ at: time, username: maskedName },
          outcome: nullable(text, 'null: another program wrote the message.'),
          ...{ via: Type.Enum(['console', 'gateway']), succeeded: flag, message: text },
          ...{ address: text, client: text, userAgent: text },
        },
        { title: 'LoginAttempt' },
      ),
    ),
    more: Type.Boolean({ description: 'Whether older attempts match too.' }),
  }),
})

export const loginLocks = question({
  name: 'login locks',
  summary: 'list the lock-outs that are open now',
  input: showNames,
  document: Type.Object({
    lockouts: Type.Array(
      Type.Object(
        {
          ...{ kind: text, username: Type.Optional(maskedName), address: Type.Optional(text) },
          ...{ crossSite: Type.Optional(flag), since: time, until: time, attempts: whole },
        },
        { title: 'Lockout' },
      ),
    ),
    unreadable: Type.Integer({ description: 'Recorded with another signing key.' }),
  }),
})

export const loginUnlock = change({
  name: 'login unlock',
  summary: 'end the lock-outs of an account or an address',
  input: {
    user: {
      ...{ value: 'USER|ADDRESS', required: 'give a user name or an address' },
      description: 'user name, or an IPv4 or IPv6 address',
    },
  },
  document: Type.Object({
    ...{ user: Type.Optional(text), address: Type.Optional(text), ended: whole },
  }),
})

export const loginTest = local({
  kind: 'change',
  name: 'login test',
  summary: 'log in through a gateway as a client would, and log out',
  input: {
    user: {
      ...{ value: 'USER', required: 'give the name of the user' },
      description: 'user name of the account',
    },
    url: {
      ...{ value: 'URL', required: 'give the origin of the gateway' },
      description: 'origin of the gateway, such as http://127.0.0.1:8000',
    },
    'password-file': {
      ...{ value: 'FILE', required: 'give the file with the password' },
      description: 'file with the password; - is stdin',
    },
    insecure: { description: 'do not verify the certificate, for an address it does not name' },
  },
  document: Type.Object({ username: text, loggedOut: flag }),
})

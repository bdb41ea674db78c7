import { type CommandSpec, configOption, outputOption } from '../command.ts'

const name = { name: 'NAME', description: 'user name' } as const
const common = { ...outputOption, ...configOption } as const
const passwordStdin = {
  'password-stdin': {
    description: 'read the password (8 to 72 bytes, not a common one) instead of generating one',
  },
} as const
const force = {
  force: { description: 'also when no enabled account with role admin is left' },
} as const
export const accountExitCodes = {
  0: 'done',
  1: 'not done: unknown user or role, name taken, or the last admin',
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const
const generated = 'Only the generated password is written to stdout; it is shown once.'
const revokes = 'Revokes every token of the user on every gateway, within a second.'

export const addSpec = {
  name: 'user add',
  summary: 'create an account and print its generated password',
  details: generated,
  arguments: [name],
  options: {
    role: { value: 'ROLE', required: 'give the role key of the account', description: 'role key' },
    ...passwordStdin,
    ...common,
  },
  exitCodes: accountExitCodes,
  examples: [
    'postern user add alice --role editor',
    'postern user add alice --role editor --password-stdin < password.txt',
  ],
} as const satisfies CommandSpec

export const passwdSpec = {
  name: 'user passwd',
  summary: 'set a new password and revoke the tokens of the user',
  details: `${generated} ${revokes} An account that only another system vouched for then also has a
password here.`,
  arguments: [name],
  options: { ...passwordStdin, ...common },
  exitCodes: accountExitCodes,
  examples: [
    'postern user passwd alice',
    'postern user passwd alice --password-stdin < password.txt',
  ],
} as const satisfies CommandSpec

export const roleSpec = {
  name: 'user role',
  summary: 'change the role of a user and revoke their tokens',
  details: revokes,
  arguments: [name, { name: 'ROLE', description: 'role key' }],
  options: { ...force, ...common },
  exitCodes: accountExitCodes,
  examples: ['postern user role alice viewer  # alice must log in again'],
} as const satisfies CommandSpec

export const enableSpec = {
  name: 'user enable',
  summary: 'enable a disabled account',
  arguments: [name],
  options: { ...common },
  exitCodes: accountExitCodes,
  examples: ['postern user enable alice'],
} as const satisfies CommandSpec

export const migrateSpec = {
  name: 'db migrate',
  summary: 'create the missing tables in the configured database',
  details: `Also creates the initial roles together with the table of roles. Never changes an existing table;
lists every difference of one that does not match. Safe to repeat and to run concurrently. A gateway
does the same at startup, unless database.migrate is "never".`,
  arguments: [],
  options: { ...common },
  exitCodes: {
    0: 'every table exists and matches',
    3: 'the configuration is not valid, or a table does not match',
    5: 'the database is unreachable or refuses',
  },
  examples: [
    'postern db migrate',
    'POSTERN_DATABASE__URL=postgres://owner@db/postern postern db migrate',
  ],
} as const satisfies CommandSpec

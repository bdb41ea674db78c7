import { type CommandSpec, configOption, outputOption } from '../command.ts'

const name = { name: 'NAME', description: 'name of the service account' } as const
const common = { ...outputOption, ...configOption } as const
const exitCodes = {
  0: 'done',
  1: 'not done: unknown service account or role, or name taken',
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const
const revokes = 'Revokes every token of the service account on every gateway, within a second.'
const note = { value: 'TEXT', description: 'what it is for; shown in lists' } as const

export const addSpec = {
  name: 'service add',
  summary: 'create an account for a program',
  details: `The account has no password and cannot log in. Issue a token to it with "postern token issue".`,
  arguments: [name],
  options: {
    role: { value: 'ROLE', required: 'give the role key of the account', description: 'role key' },
    note,
    ...common,
  },
  exitCodes,
  examples: ['postern service add ci --role deployer --note pipelines'],
} as const satisfies CommandSpec

export const roleSpec = {
  name: 'service role',
  summary: 'change the role of a service account and revoke its tokens',
  details: `${revokes} Tokens carry the role, so issue new ones.`,
  arguments: [name, { name: 'ROLE', description: 'role key' }],
  options: { ...common },
  exitCodes,
  examples: ['postern service role ci viewer  # then issue new tokens'],
} as const satisfies CommandSpec

export const removeSpec = {
  name: 'service remove',
  summary: 'delete a service account and revoke its tokens',
  details: revokes,
  arguments: [name],
  options: { ...common },
  exitCodes,
  examples: ['postern service remove ci'],
} as const satisfies CommandSpec

export const issueSpec = {
  name: 'token issue',
  summary: 'issue a token to a service account and print it',
  details: `Only the token is written to stdout; it is shown once. Requires tokens.service.enabled, here and on the
gateways, and the key that signs tokens. The lifetime is at most tokens.service.maxLifetime.`,
  arguments: [name],
  options: {
    expires: {
      value: 'DURATION',
      required: 'give the lifetime of the token, such as 90d',
      description: 'lifetime, such as 12h or 90d',
    },
    note,
    ...common,
  },
  exitCodes: {
    0: 'issued',
    1: 'not issued: unknown service account, lifetime too long, or service tokens are off',
    3: exitCodes[3],
    5: 'a store is unreachable, or no key can sign',
  },
  examples: [
    'postern token issue ci --expires 90d --note github',
    'postern token issue ci --expires 90d | gh secret set API_TOKEN',
  ],
} as const satisfies CommandSpec

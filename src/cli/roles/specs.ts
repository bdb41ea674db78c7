import { type CommandSpec, configOption, outputOption } from '../command.ts'

const key = { name: 'KEY', description: 'role key, as policies and tokens have it' } as const
const common = { ...outputOption, ...configOption } as const
const scopes = '1 all, 2 custom, 3 department, 4 department-and-below or 5 self'
const exitCodes = {
  0: 'done',
  1: 'not done: unknown role, key taken, or role in use',
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const
const revokes = 'Revokes the tokens that carry the old value, on every gateway, within a second.'

export const addSpec = {
  name: 'role add',
  summary: 'create a role',
  details: `A role has no permissions until the policy grants some. The data scope says which rows services show its
users: services read it from the identity headers or the token.`,
  arguments: [key],
  options: {
    name: { value: 'NAME', required: 'give the role a name for people', description: 'name' },
    'data-scope': {
      value: 'SCOPE',
      required: `give one of ${scopes}`,
      description: scopes,
    },
    ...common,
  },
  exitCodes,
  examples: [
    'postern role add auditor --name Auditor --data-scope all',
    "postern role add clerk --name 'Office clerk' --data-scope 3",
  ],
} as const satisfies CommandSpec

export const setSpec = {
  name: 'role set',
  summary: 'change the name or the data scope of a role, and revoke the tokens that carry it',
  details: `${revokes} A key cannot change: policies name it. Create another role instead.`,
  arguments: [key],
  options: {
    name: { value: 'NAME', description: 'new name' },
    'data-scope': { value: 'SCOPE', description: scopes },
    ...common,
  },
  exitCodes,
  examples: [
    'postern role set clerk --data-scope department-and-below  # all clerks must log in again',
  ],
} as const satisfies CommandSpec

export const removeSpec = {
  name: 'role remove',
  summary: 'remove a role that no account has',
  details: `Disabled accounts and service accounts count too: give them another role first. Rules of the policy stay:
"postern policy check --accounts" lists those of roles that do not exist.`,
  arguments: [key],
  options: { ...common },
  exitCodes,
  examples: ['postern role remove clerk'],
} as const satisfies CommandSpec

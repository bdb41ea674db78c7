import { type CommandSpec, configOption, outputOption } from '../command.ts'

const common = { ...outputOption, ...configOption } as const

export const inspectSpec = {
  name: 'token inspect',
  summary: 'decode a token and verify it',
  details: `Shows the user, the role, the key, the expiry time and whether a gateway accepts the token. Never
prints the signature, so the output is not a usable token. The keys of another issuer are fetched from it.`,
  usage: ['TOKEN|- [OPTIONS]'],
  arguments: [
    {
      name: 'TOKEN|-',
      description: 'the token, or - to read it from stdin and keep it out of the shell history',
    },
  ],
  options: { ...common },
  exitCodes: {
    0: 'a gateway accepts it',
    1: 'a gateway rejects it',
    3: 'the configuration or a table is not valid',
    5: 'a store is unreachable, so it may be revoked, or its issuer is unreachable',
  },
  examples: [
    'postern token inspect - < token.txt',
    'pbpaste | postern token inspect -',
    'postern token inspect - --output json < token.txt | jq .claims.rolekey',
  ],
} as const satisfies CommandSpec

export const revokeSpec = {
  name: 'token revoke',
  summary: 'revoke one token, or all tokens of a user or service account',
  details: `Every gateway rejects the tokens within a second and closes connections that use them within 30
seconds. The user can log in again at once; to prevent that, disable the account. Another issuer can also
give its user a new token at once; to prevent that, block the user there.`,
  usage: [
    '--token TOKEN|- [OPTIONS]',
    '--id ID [OPTIONS]',
    '--user NAME|ID [OPTIONS]',
    '--issuer NAME --user ID [OPTIONS]',
  ],
  arguments: [],
  options: {
    token: {
      value: 'TOKEN|-',
      description: 'revoke this token; - reads it from stdin and keeps it out of the shell history',
    },
    id: {
      value: 'ID',
      description: 'revoke the service token with this ID, as "postern token list" shows it',
    },
    user: {
      value: 'NAME|ID',
      description:
        'revoke all tokens of this user or service account; an ID also works for a deleted account',
    },
    issuer: {
      value: 'NAME',
      description: 'the user is one of this issuer; give the user ID as its tokens have it',
    },
    ...common,
  },
  exitCodes: {
    0: 'revoked',
    1: 'not a token of this gateway, or unknown ID or user',
    3: 'the configuration or a table is not valid',
    5: 'a store, or the issuer of the token, is unreachable',
  },
  examples: [
    'postern token revoke --token - < token.txt',
    'postern token revoke --id 019e0c2f-6f3a-7c21-9d5e-8a4b1c0d2e3f',
    'postern token revoke --user alice',
    'postern token revoke --user 42',
    'postern token revoke --issuer k8s --user system:serviceaccount:shop:ci',
  ],
} as const satisfies CommandSpec

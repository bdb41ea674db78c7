import { Type } from '../../config/schema/type.ts'
import { local } from '../operation.ts'
import { list, nullable, text } from '../schema.ts'

const verdicts = [
  ...['good', 'expired', 'too long-lived', 'not accepted', 'not valid yet', 'revoked', 'not ours'],
  'unknown',
] as const

const time = Type.Optional(Type.String({ description: '"never" where the time does not exist.' }))

/** Whom a token identifies. */
export const caller = Type.Object({
  ...{ userId: text, roleId: text, roleKey: text, roleName: text },
  ...{ username: text, dataScope: text },
})

export const tokenInspect = local({
  name: 'token inspect',
  summary: 'decode a token and verify it',
  input: {
    token: {
      ...{ value: 'TOKEN|-', required: 'give the token' },
      description: 'the token, or - to read it from stdin and keep it out of the shell history',
    },
  },
  document: Type.Object({
    verdict: Type.Enum(verdicts),
    reason: Type.Optional(text),
    key: nullable(Type.Object({ kid: nullable(text), alg: text }), 'null: not verified.'),
    ...{ id: Type.Optional(text), kind: Type.Optional(text), issuer: Type.Optional(text) },
    caller: Type.Optional(caller),
    ...{ issuedAt: time, expiresAt: time },
    ...{ header: Type.Unknown(), claims: Type.Unknown() },
  }),
})

export const tokenRevoke = local({
  kind: 'change',
  name: 'token revoke',
  summary: 'revoke one token, or all tokens of a user or service account',
  input: {
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
  },
  document: Type.Object({
    ...{ token: Type.Optional(text), issuer: Type.Optional(text), users: list(text) },
  }),
})

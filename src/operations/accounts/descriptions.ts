import { Type } from '../../config/schema/type.ts'
import { change, local, question } from '../operation.ts'
import { flag, list, nullable, text, time, whole } from '../schema.ts'

const summary = {
  ...{ userId: text, username: text },
  roleKey: Type.String({ description: 'Empty: the role does not exist.' }),
  enabled: flag,
  kind: Type.Enum(['user', 'service']),
  secondFactor: Type.Boolean({ description: 'Whether it has one-time codes.' }),
} as const

const name = {
  ...{ value: 'NAME', required: 'give the name of the user', description: 'user name' },
} as const
/** Operators with a command line only: someone else's mistake must not lock everybody out. */
const force = {
  local: true,
  description: 'also when no enabled account with role admin is left',
} as const
const revokes = 'Revokes every token of the user on every gateway, within a second.'

export const userList = question({
  name: 'user list',
  summary: 'list accounts with their role, status, kind and one-time codes',
  input: {
    'starts-with': { value: 'TEXT', description: 'only names that start with this, in any case' },
    limit: {
      ...{ value: 'N', number: { min: 1, integer: true } },
      description: 'number of accounts, by ID (default: all)',
    },
  },
  document: Type.Array(Type.Object(summary)),
})

export const userShow = question({
  name: 'user show',
  summary:
    'show one account: its role, data scope, status, links, lock-outs, sessions and one-time codes',
  details: `Lock-outs after wrong passwords end by themselves, or with "postern login unlock". Lock-outs and sessions
are "unknown" if Redis is unreachable or the signing key is not at hand.`,
  input: { name },
  document: Type.Object({
    ...summary,
    hasPassword: Type.Boolean({
      description: 'false: another system vouches for the user, or it is a service account.',
    }),
    roleName: text,
    dataScope: Type.String({ description: 'As stored: the number of go-admin, or another text.' }),
    createdAt: nullable(text),
    updatedAt: nullable(text),
    dataScopeName: nullable(text, 'null: go-admin does not define this data scope.'),
    links: Type.Array(
      Type.Object({
        ...{ provider: text, issuer: text, subject: text, linkedBy: text, linkedAt: text },
        seenAt: nullable(text, 'Last login through it, to the hour; null: never.'),
      }),
    ),
    oneTimeCodes: nullable(
      Type.Object({
        enrolledAt: nullable(text),
        key: Type.String({ description: 'The key that encrypts the secret.' }),
        ...{ recoveryCodesLeft: whole, failures: whole },
      }),
    ),
    lockouts: nullable(
      Type.Array(
        Type.Object({
          ...{
            kind: text,
            address: Type.Optional(text),
            since: time,
            until: time,
            attempts: whole,
          },
        }),
      ),
      'null: Redis or the signing key could not be read.',
    ),
    sessions: nullable(whole, 'null: the store of sessions could not be read.'),
    sameName: Type.Array(text, { description: 'IDs of other users with this name.' }),
  }),
})

/** What was done to an account. */
const changed = {
  ...{ done: text, username: text },
  tokensEnded: Type.Boolean({ description: 'Whether its tokens were revoked.' }),
} as const

export const userDisable = change({
  name: 'user disable',
  summary: 'disable an account and revoke its tokens',
  details: `The user cannot log in until you enable the account again. ${revokes}`,
  access: 'publisher',
  confirms: 'name',
  input: { name, force },
  document: Type.Object(changed),
})

export const userRename = local({
  name: 'user rename',
  summary: 'change the name of a user and revoke their tokens',
  details: `The ID stays, and with it everything that services store for the user. ${revokes}`,
  kind: 'change',
  input: {
    old: { value: 'OLD', required: 'give the name of the user', description: 'user name' },
    new: { value: 'NEW', required: 'give the new name', description: 'new user name' },
  },
  document: Type.Object({ ...changed, newName: Type.Optional(text) }),
})

export const userDelete = change({
  name: 'user delete',
  summary: 'delete an account and revoke its tokens',
  details: `Marks the row as deleted, as go-admin does: the name becomes free, the ID is never used again. No command
undoes it; "user disable" keeps the account. ${revokes}`,
  access: 'publisher',
  confirms: 'name',
  input: { name, yes: { local: true, description: 'do not ask' }, force },
  document: Type.Object(changed),
  plan: list(Type.Object({ userId: text, roleKey: text })),
})

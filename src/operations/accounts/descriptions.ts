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
  document: Type.Array(Type.Object(summary, { title: 'UserSummary' })),
})

export const userShow = question({
  name: 'user show',
  summary:
    'show one account: its role, data scope, status, links, lock-outs, sessions and one-time codes',
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

const role = {
  ...{ value: 'ROLE', required: 'give the role key of the account', description: 'role key' },
} as const
const passwordStdin = {
  'password-stdin': {
    local: true,
    description: 'read the password (8 to 72 bytes, not a common one) instead of generating one',
  },
} as const
const force = {
  force: { local: true, description: 'also when no enabled account with role admin is left' },
} as const
const done = { done: text, username: text } as const
const changed = Type.Object({ ...done, tokensEnded: flag })
const withPassword = Type.Object({
  ...{ ...done, tokensEnded: flag },
  password: Type.Optional(
    Type.String({ description: 'The generated one: no other call shows it.' }),
  ),
})

export const userAdd = change({
  name: 'user add',
  summary: 'create an account and print its generated password',
  input: { name, role, ...passwordStdin },
  document: withPassword,
})

export const userPasswd = change({
  name: 'user passwd',
  summary: 'set a new password and revoke the tokens of the user',
  confirms: 'name',
  input: { name, ...passwordStdin },
  document: withPassword,
})

export const userRole = change({
  name: 'user role',
  summary: 'change the role of a user and revoke their tokens',
  confirms: 'name',
  input: { name, role, ...force },
  document: changed,
})

export const userDisable = change({
  name: 'user disable',
  summary: 'disable an account and revoke its tokens',
  confirms: 'name',
  input: { name, ...force },
  document: changed,
})

export const userEnable = change({
  name: 'user enable',
  summary: 'enable a disabled account',
  input: { name },
  document: changed,
})

export const userRename = local({
  kind: 'change',
  name: 'user rename',
  summary: 'change the name of a user and revoke their tokens',
  input: {
    old: { ...name, value: 'OLD' },
    new: { ...name, value: 'NEW', description: 'new user name' },
  },
  document: Type.Object({ ...done, newName: text, tokensEnded: flag }),
})

export const userDelete = change({
  name: 'user delete',
  summary: 'delete an account and revoke its tokens',
  confirms: 'name',
  input: { name, yes: { local: true, description: 'do not ask' }, ...force },
  document: changed,
  plan: list(Type.Object({ userId: text, roleKey: text })),
})

const provider = { value: 'PROVIDER', description: 'name of a provider in the settings' } as const

export const userLink = local({
  kind: 'change',
  name: 'user link',
  summary: 'let a person of an identity provider, directory or login module log in as this user',
  input: {
    name,
    provider: { ...provider, required: 'give the name of the provider' },
    subject: {
      ...{ value: 'SUBJECT', required: "give the person's ID at the provider" },
      description: "the person's ID at the provider",
    },
    issuer: {
      ...{ value: 'URL', description: 'issuer of the subject, if not the one in the settings' },
    },
  },
  document: Type.Object({
    ...{ ...done, userId: text, provider: text, issuer: text, subject: text },
  }),
})

export const userUnlink = local({
  kind: 'change',
  name: 'user unlink',
  summary: 'remove the links of a user to other systems and revoke their tokens',
  input: { name, provider },
  document: Type.Object({ ...done, userId: text, tokensEnded: flag }),
})

export const userTotp = local({
  kind: 'change',
  name: 'user totp',
  summary: 'enroll an account in one-time codes, and manage its recovery codes',
  input: {
    name: { value: 'NAME', description: 'user name', unless: ['list', 'reencrypt'] },
    'no-confirm': { description: 'enroll without a code from the app' },
    yes: { description: 'do not ask before replacing one-time codes' },
    'recovery-codes': { description: 'print ten new recovery codes; the old ones stop working' },
    remove: {
      description: 'remove one-time codes and recovery codes: the password is enough again',
    },
    list: {
      description:
        'list who has one-time codes, who still needs them, and with which key they are encrypted',
    },
    reencrypt: {
      description:
        'encrypt every secret with the key that signs now; run it before you delete a key',
    },
  },
  document: Type.Union([
    list(
      Type.Object({
        ...{ userId: text, username: text, roleKey: text, enrolledAt: nullable(text) },
        ...{ recoveryCodesLeft: whole, failures: whole, key: nullable(text) },
        status: Type.Enum(['ready', 'key-not-loaded', 'too-many-failures', 'not-enrolled']),
      }),
    ),
    Type.Object({
      ...{ done: text, username: Type.Optional(text), userId: Type.Optional(text) },
      ...{ tokensEnded: Type.Optional(flag), recoveryCodes: Type.Optional(list(text)) },
      ...{ issuer: Type.Optional(text), secret: Type.Optional(text), uri: Type.Optional(text) },
      ...{ key: Type.Optional(text), users: Type.Optional(whole) },
      keyNotLoaded: Type.Optional(list(Type.Object({ username: text, key: text }))),
    }),
  ]),
  plan: nullable(
    Type.Object({ username: text, replaces: flag, uri: text, secret: text }),
    'null: the change needs no question.',
  ),
})

export const dbMigrate = local({
  kind: 'change',
  name: 'db migrate',
  summary: 'create the missing tables in the configured database',
  input: {},
  document: Type.Object({
    made: Type.Array(text, { description: 'Tables.' }),
    roles: Type.Array(text, { description: 'Keys of the initial roles.' }),
  }),
})

import { Type } from '../../config/schema/type.ts'
import { local, question } from '../operation.ts'
import { flag, nullable, text, time } from '../schema.ts'

export const serviceList = question({
  name: 'service list',
  summary: 'list the accounts of programs',
  input: {},
  document: Type.Array(
    Type.Object({
      ...{ userId: text, name: text, note: text, createdAt: time },
      role: Type.String({ description: 'Empty: the role does not exist.' }),
    }),
  ),
})

export const tokenList = question({
  name: 'token list',
  summary: 'list the tokens of service accounts',
  input: { service: { value: 'NAME', description: 'only the tokens of this service account' } },
  document: Type.Array(
    Type.Object({
      ...{ id: text, service: text, userId: text, role: text },
      status: Type.Enum(['good', 'expired', 'revoked', 'key removed', 'too long-lived']),
      ...{ note: text, issuedBy: text, issuedAt: time, expiresAt: time, lastSeen: nullable(time) },
      kid: nullable(text, 'null: signed with jwt.secret.'),
    }),
  ),
})

const name = {
  ...{ value: 'NAME', required: 'give the name of the service account' },
  description: 'name of the service account',
} as const
const role = {
  ...{ value: 'ROLE', required: 'give the role key of the account', description: 'role key' },
} as const
const note = { value: 'TEXT', description: 'what it is for; shown in lists' } as const
const done = { done: text, name: text, userId: text } as const

export const serviceAdd = local({
  kind: 'change',
  name: 'service add',
  summary: 'create an account for a program',
  input: { name, role, note },
  document: Type.Object({ ...done, role: text, note: text }),
})

export const serviceRole = local({
  kind: 'change',
  name: 'service role',
  summary: 'change the role of a service account and revoke its tokens',
  input: { name, role },
  document: Type.Object({ ...done, tokensEnded: flag }),
})

export const serviceRemove = local({
  kind: 'change',
  name: 'service remove',
  summary: 'delete a service account and revoke its tokens',
  input: { name },
  document: Type.Object({ ...done, tokensEnded: flag }),
})

export const tokenIssue = local({
  kind: 'change',
  name: 'token issue',
  summary: 'issue a token to a service account and print it',
  input: {
    name,
    expires: {
      ...{ value: 'DURATION', required: 'give the lifetime of the token, such as 90d' },
      description: 'lifetime, such as 12h or 90d',
    },
    note,
  },
  document: Type.Object({
    ...{ id: text, service: text, userId: text, role: text, note: text },
    kid: nullable(text, 'null: signed with jwt.secret.'),
    ...{ issuedAt: time, expiresAt: time },
    token: Type.String({ description: 'No other call shows it.' }),
  }),
})

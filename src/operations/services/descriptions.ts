import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { nullable, text, time } from '../schema.ts'

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
  details: `Newest first. Status: good, expired, revoked, key removed (its key no longer verifies tokens), or too
long-lived (tokens.service.maxLifetime was longer when it was issued).
Tokens of people are sessions.`,
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

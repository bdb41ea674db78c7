import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { text, time } from '../schema.ts'

export const sessionList = question({
  name: 'session list',
  summary: 'list who is logged in',
  details: `A session is a token that a login issued and that gateways still accept. Those seen last come first;
the times are in UTC, and the last one is exact to about a minute. The ID of a login to the console
begins with console-.

Tokens of service accounts and of other issuers are not sessions.`,
  input: {
    user: { value: 'NAME|ID', description: 'only sessions of this user' },
    limit: {
      ...{ value: 'N', number: { min: 1, integer: true }, default: '100' },
      description: 'number of sessions, those seen last first',
    },
  },
  document: Type.Object({
    total: Type.Integer({ description: 'Also those that limit leaves out.' }),
    sessions: Type.Array(
      Type.Object({
        ...{ id: text, userId: text, username: text, roleKey: text, address: text },
        agent: Type.String({ description: 'User-Agent of the login.' }),
        via: Type.Enum(['console', 'gateway']),
        ...{ issuedAt: time, expiresAt: time, seenAt: time },
      }),
    ),
  }),
})

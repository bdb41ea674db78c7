import { Type } from '../../config/schema/type.ts'
import { change, question } from '../operation.ts'
import { list, text, time, whole } from '../schema.ts'

export const sessionList = question({
  name: 'session list',
  summary: 'list who is logged in',
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
      Type.Object(
        {
          ...{ id: text, userId: text, username: text, roleKey: text, address: text },
          agent: Type.String({ description: 'User-Agent of the login.' }),
          via: Type.Enum(['console', 'gateway']),
          ...{ issuedAt: time, expiresAt: time, seenAt: time },
        },
        { title: 'LiveSession' },
      ),
    ),
  }),
})

export const sessionEnd = change({
  name: 'session end',
  summary: 'end one session, all sessions of a user, or all sessions',
  input: {
    id: {
      ...{ value: 'ID', unless: ['user', 'all'] },
      description: 'the session, as "session list" shows it',
    },
    user: { value: 'NAME|ID', description: 'end every session of this user' },
    all: { local: true, description: 'end every session of every user' },
    yes: { local: true, description: 'do not ask' },
  },
  document: Type.Object({
    ended: list(text),
    ...{ session: Type.Optional(text), address: Type.Optional(text) },
    users: Type.Optional(Type.Union([Type.Literal('all'), list(text)])),
  }),
  plan: Type.Object({ sessions: whole, users: whole }),
})

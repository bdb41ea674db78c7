import { Type } from '../../config/schema/type.ts'
import { change, question } from '../operation.ts'
import { list, text, time, whole } from '../schema.ts'

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
  summary: 'end one session, those of a user, or all',
  details: `Revokes tokens on every gateway, within a second, and appends to the audit log.

--user and --all also end logins that have no record. --all asks on a terminal; elsewhere it needs
--yes. It ends the logins of every user, and leaves tokens of service accounts and of other issuers
valid. Gateways older than this command ignore --all: upgrade them first.`,
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

import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { flag, nullable, text, time, whole } from '../schema.ts'

export const loginLocks = question({
  name: 'login locks',
  summary: 'list the lock-outs that are open now',
  details: `Shows accounts, addresses, and accounts at an address ("pair") that gateways lock out after too many
attempts, and addresses that get no captchas: since when, until when, and after how many attempts. A
name that matches no account is masked, because people type passwords into that field.

With redis.url the gateways count together, in Redis. Without it every gateway process counts for
itself and records its lock-outs in the database; one that was killed leaves them there until they end.`,
  input: {
    'show-names': {
      local: true,
      description: 'show names that match no account; people type passwords into that field',
    },
  },
  document: Type.Object({
    lockouts: Type.Array(
      Type.Object({
        kind: text,
        username: Type.Optional(nullable(text, 'null: masked, because no account has it.')),
        ...{ address: Type.Optional(text), crossSite: Type.Optional(flag) },
        ...{ since: time, until: time, attempts: whole },
      }),
    ),
    unreadable: Type.Integer({ description: 'Recorded with another signing key.' }),
  }),
})

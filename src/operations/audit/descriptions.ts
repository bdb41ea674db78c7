import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { text, time } from '../schema.ts'

export const auditList = question({
  name: 'audit list',
  summary: 'list the changes to accounts, roles, keys, sessions and policies',
  input: {
    since: { value: 'DURATION', description: 'only the last 30m, 12h or 7d (default: all)' },
    actor: {
      value: 'NAME',
      description: 'only changes by this operator, user, service account or gateway',
    },
    action: {
      value: 'ACTION',
      description: 'only this action, such as user.role, or a group, such as user',
    },
    subject: { value: 'NAME', description: 'only changes of this user, role, key or policy' },
    limit: {
      ...{ value: 'N', number: { min: 1, integer: true }, default: '100' },
      description: 'number of entries, newest first',
    },
  },
  document: Type.Array(
    Type.Object(
      {
        ...{ id: text, at: time },
        actor: Type.Object({
          kind: Type.String({ description: 'operator, user, service or gateway.' }),
          ...{ name: text, origin: text },
        }),
        ...{ action: text, subject: text },
        before: Type.Unknown({ description: 'What it was; null: it did not exist.' }),
        after: Type.Unknown({ description: 'What it became; null: it no longer exists.' }),
      },
      { title: 'AuditEntry' },
    ),
  ),
})

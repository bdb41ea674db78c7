import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { nullable, text, whole } from '../schema.ts'

const summary = {
  ...{ roleId: text, roleKey: text, name: text },
  dataScope: Type.String({ description: 'As stored: the number of go-admin, or another text.' }),
  users: Type.Object({ enabled: whole, disabled: whole }),
  services: whole,
  dataScopeName: nullable(text, 'null: go-admin does not define this data scope.'),
} as const

export const roleList = question({
  name: 'role list',
  summary: 'list all roles with their data scope and number of accounts',
  input: {},
  document: Type.Array(Type.Object(summary)),
})

export const roleShow = question({
  name: 'role show',
  summary: 'show one role and its accounts',
  input: {
    key: {
      ...{ value: 'KEY', required: 'give the key of the role' },
      description: 'role key, as policies and tokens have it',
    },
  },
  document: Type.Object({
    ...summary,
    createdAt: nullable(text),
    updatedAt: nullable(text),
    accounts: Type.Array(Type.Object({ username: text, kind: Type.Enum(['user', 'service']) }), {
      description: 'The first accounts by ID: compare with users and services.',
    }),
    sameKey: Type.Array(text, { description: 'IDs of other roles with this key.' }),
  }),
})

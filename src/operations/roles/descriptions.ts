import { Type } from '../../config/schema/type.ts'
import { local, question } from '../operation.ts'
import { flag, nullable, text, whole } from '../schema.ts'

const summary = {
  ...{ roleId: text, roleKey: text, name: text },
  dataScope: Type.String({ description: 'As stored: the number of go-admin, or another text.' }),
  users: Type.Object({ enabled: whole, disabled: whole }),
  services: whole,
  dataScopeName: nullable(text, 'null: go-admin does not define this data scope.'),
} as const

const key = {
  ...{ value: 'KEY', required: 'give the key of the role' },
  description: 'role key, as policies and tokens have it',
} as const

export const roleList = question({
  name: 'role list',
  summary: 'list all roles with their data scope and number of accounts',
  input: {},
  document: Type.Array(Type.Object(summary, { title: 'RoleSummary' })),
})

export const roleShow = question({
  name: 'role show',
  summary: 'show one role and its accounts',
  input: { key },
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

const scopes = '1 all, 2 custom, 3 department, 4 department-and-below or 5 self'
const dataScope = { value: 'SCOPE', description: scopes } as const
const done = { done: text, roleKey: text } as const

export const roleAdd = local({
  kind: 'change',
  name: 'role add',
  summary: 'create a role',
  input: {
    key,
    name: { value: 'NAME', required: 'give the role a name for people', description: 'name' },
    'data-scope': { ...dataScope, required: `give one of ${scopes}` },
  },
  document: Type.Object({ ...done, name: text, dataScope: text }),
})

export const roleSet = local({
  kind: 'change',
  name: 'role set',
  summary: 'change the name or the data scope of a role, and revoke the tokens that carry it',
  input: { key, name: { value: 'NAME', description: 'new name' }, 'data-scope': dataScope },
  document: Type.Object({
    ...{ ...done, name: Type.Optional(text), dataScope: Type.Optional(text), tokensEnded: flag },
  }),
})

export const roleRemove = local({
  kind: 'change',
  name: 'role remove',
  summary: 'remove a role that no account has',
  input: { key },
  document: Type.Object({ ...done, tokensEnded: flag }),
})

import { roleAdd, roleList, roleRemove, roleSet, roleShow } from '../../operations/roles/roles.ts'
import type { Command } from '../command.ts'
import { databaseFailures, operationCommand, storeFailures } from './operation-command.ts'

const views = () => import('../views/role-views.ts')

const changed = {
  arguments: ['key'],
  exitCodes: {
    0: 'done',
    1: 'not done: unknown role, key taken, or role in use',
    ...storeFailures,
  },
} as const

export const roleCommands: readonly Command[] = [
  operationCommand(roleList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: ['postern role list', "postern role list --output json | jq -r '.[].roleKey'"],
    view: async () => (await views()).roleListView,
  }),
  operationCommand(roleShow, {
    arguments: ['key'],
    exitCodes: { 0: 'shown', 1: 'unknown role', ...databaseFailures },
    examples: ['postern role show editor'],
    view: async () => (await views()).roleShowView,
  }),
  operationCommand(roleAdd, {
    ...changed,
    examples: [
      'postern role add auditor --name Auditor --data-scope all',
      "postern role add clerk --name 'Office clerk' --data-scope 3",
    ],
  }),
  operationCommand(roleSet, {
    ...changed,
    examples: [
      'postern role set clerk --data-scope department-and-below  # all clerks must log in again',
    ],
  }),
  operationCommand(roleRemove, { ...changed, examples: ['postern role remove clerk'] }),
]

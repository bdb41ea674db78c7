import { roleAdd, roleList, roleRemove, roleSet, roleShow } from '../../operations/roles/roles.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/role.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/role-views.ts')

export const roleCommands: readonly Command[] = [
  operationCommand(roleList, {
    ...help['role list'],
    view: async () => (await views()).roleListView,
  }),
  operationCommand(roleShow, {
    ...{ ...help['role show'], arguments: ['key'] },
    view: async () => (await views()).roleShowView,
  }),
  operationCommand(roleAdd, { ...help['role add'], arguments: ['key'] }),
  operationCommand(roleSet, { ...help['role set'], arguments: ['key'] }),
  operationCommand(roleRemove, { ...help['role remove'], arguments: ['key'] }),
]

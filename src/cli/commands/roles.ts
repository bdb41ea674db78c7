import { roleList, roleShow } from '../../operations/roles/roles.ts'
import type { Command } from '../command.ts'
import { addSpec, removeSpec, setSpec } from '../roles/specs.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'

export const roleCommands: readonly Command[] = [
  operationCommand(roleList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: ['postern role list', "postern role list --output json | jq -r '.[].roleKey'"],
    view: async () => (await import('../roles/role-views.ts')).roleListView,
  }),
  operationCommand(roleShow, {
    arguments: ['key'],
    exitCodes: { 0: 'shown', 1: 'unknown role', ...databaseFailures },
    examples: ['postern role show editor'],
    view: async () => (await import('../roles/role-views.ts')).roleShowView,
  }),
  command(addSpec, async () => (await import('../roles/role-change.ts')).roleAdd),
  command(setSpec, async () => (await import('../roles/role-change.ts')).roleSet),
  command(removeSpec, async () => (await import('../roles/role-change.ts')).roleRemove),
]

import { roleAdd, roleList, roleRemove, roleSet, roleShow } from '../../operations/roles/roles.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/role.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/role-views.ts'))

export const roleCommands: readonly Command[] = [
  show(roleList, { view: views('roleListView') }),
  show(roleShow, { arguments: ['key'], view: views('roleShowView') }),
  show(roleAdd, { arguments: ['key'] }),
  show(roleSet, { arguments: ['key'] }),
  show(roleRemove, { arguments: ['key'] }),
]

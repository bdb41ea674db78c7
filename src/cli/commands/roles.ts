import type { Command } from '../command.ts'
import { addSpec, listSpec, removeSpec, setSpec, showSpec } from '../roles/specs.ts'
import { command } from './run-command.ts'

export const roleCommands: readonly Command[] = [
  command(listSpec, async () => (await import('../roles/role-list.ts')).roleList),
  command(showSpec, async () => (await import('../roles/role-show.ts')).roleShow),
  command(addSpec, async () => (await import('../roles/role-change.ts')).roleAdd),
  command(setSpec, async () => (await import('../roles/role-change.ts')).roleSet),
  command(removeSpec, async () => (await import('../roles/role-change.ts')).roleRemove),
]

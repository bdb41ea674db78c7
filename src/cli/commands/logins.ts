import { listSpec } from '../logins/specs.ts'
import { type Command, command } from './run-command.ts'

export const loginCommands: readonly Command[] = [
  command(listSpec, async () => (await import('../logins/list.ts')).loginList),
]

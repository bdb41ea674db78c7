import { listSpec } from '../audit/specs.ts'
import type { Command } from '../command.ts'
import { command } from './run-command.ts'

export const auditCommands: readonly Command[] = [
  command(listSpec, async () => (await import('../audit/list.ts')).auditList),
]

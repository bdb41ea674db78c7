import type { Command } from '../command.ts'
import { endSpec, listSpec } from '../sessions/specs.ts'
import { command } from './run-command.ts'

export const sessionCommands: readonly Command[] = [
  command(listSpec, async () => (await import('../sessions/list.ts')).sessionList),
  command(endSpec, async () => (await import('../sessions/end.ts')).sessionEnd),
]

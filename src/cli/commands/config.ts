import type { Command } from '../command.ts'
import { checkSpec, printSpec, schemaSpec } from '../config/specs.ts'
import { command } from './run-command.ts'

export const configCommands: readonly Command[] = [
  command(checkSpec, async () => (await import('../config/check.ts')).configCheck),
  command(printSpec, async () => (await import('../config/print.ts')).configPrint),
  command(schemaSpec, async () => (await import('../config/schema.ts')).configSchema),
]

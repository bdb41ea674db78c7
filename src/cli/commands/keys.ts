import type { Command } from '../command.ts'
import { generateSpec, listSpec, useSpec } from '../keys/specs.ts'
import { command } from './run-command.ts'

export const keysCommands: readonly Command[] = [
  command(generateSpec, async () => (await import('../keys/generate.ts')).keysGenerate),
  command(listSpec, async () => (await import('../keys/list.ts')).keysList),
  command(useSpec, async () => (await import('../keys/use.ts')).keysUse),
]

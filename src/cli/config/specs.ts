import type { CommandSpec } from '../command.ts'

export const schemaSpec = {
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration file',
  arguments: [],
  options: {},
  exitCodes: { 0: 'printed' },
  examples: ['postern config schema > schema.json'],
} as const satisfies CommandSpec

import { configCheck, configPrint } from '../../operations/config/config.ts'
import { type Command, outputOption } from '../command.ts'
import { operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'

const shared = {
  arguments: ['file'],
  config: false,
  output: { output: { ...outputOption.output, once: true } },
} as const

export const configCommands: readonly Command[] = [
  operationCommand(configCheck, {
    ...shared,
    exitCodes: { 0: 'valid', 3: 'not valid' },
    examples: [
      'postern config check',
      'postern config check config/production.yaml --no-files',
      "postern config check --output json | jq -r '.problems[].message'",
    ],
    view: async () => (await import('../views/config-views.ts')).configCheckView,
  }),
  operationCommand(configPrint, {
    ...shared,
    exitCodes: { 0: 'printed', 3: 'the configuration is not valid' },
    examples: [
      'postern config print',
      'postern config print config/production.yaml --output json | jq .limits',
    ],
    view: async () => (await import('../views/config-views.ts')).configPrintView,
  }),
  command(
    {
      name: 'config schema',
      summary: 'print the JSON Schema of the configuration file',
      arguments: [],
      options: {},
      exitCodes: { 0: 'printed' },
      examples: ['postern config schema > schema.json'],
    },
    async () => {
      const { configJsonSchema } = await import('../../config/schema/json-schema.ts')
      return async (_, io) => {
        io.out(configJsonSchema())
        return 0
      }
    },
  ),
]

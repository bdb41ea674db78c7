import { configCheck, configPrint } from '../../operations/config/config.ts'
import { type Command, outputOption } from '../command.ts'
import { schemaSpec } from '../config/specs.ts'
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
    view: async () => (await import('../config/config-views.ts')).configCheckView,
  }),
  operationCommand(configPrint, {
    ...shared,
    exitCodes: { 0: 'printed', 3: 'the configuration is not valid' },
    examples: [
      'postern config print',
      'postern config print config/production.yaml --output json | jq .limits',
    ],
    view: async () => (await import('../config/config-views.ts')).configPrintView,
  }),
  command(schemaSpec, async () => (await import('../config/schema.ts')).configSchema),
]

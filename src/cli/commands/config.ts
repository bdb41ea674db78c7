import { configCheck, configPrint } from '../../operations/config/config.ts'
import { type Command, outputOption } from '../command.ts'
import help from '../help-texts/config.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'
import { command } from './run-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/config-views.ts'))

const shared = {
  arguments: ['file'],
  config: false,
  output: { output: { ...outputOption.output, once: true } },
} as const

export const configCommands: readonly Command[] = [
  show(configCheck, { ...shared, view: views('configCheckView') }),
  show(configPrint, { ...shared, view: views('configPrintView') }),
  command(
    {
      ...help['config schema'],
      name: 'config schema',
      summary: 'print the JSON Schema of the configuration file',
      arguments: [],
      options: {},
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

import { keysGenerate, keysList, keysUse } from '../../operations/keys/keys.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/keys.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/key-views.ts')

export const keysCommands: readonly Command[] = [
  operationCommand(keysGenerate, {
    ...help['keys generate'],
    view: async () => (await views()).keysGenerateView,
  }),
  operationCommand(keysList, {
    ...{ ...help['keys list'], arguments: ['dir'] },
    view: async () => (await views()).keysListView,
  }),
  operationCommand(keysUse, { ...help['keys use'], arguments: ['kid', 'dir'] }),
]

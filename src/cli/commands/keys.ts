import { keysGenerate, keysList, keysUse } from '../../operations/keys/keys.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/keys.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/key-views.ts'))

export const keysCommands: readonly Command[] = [
  show(keysGenerate, { view: views('keysGenerateView') }),
  show(keysList, { arguments: ['dir'], view: views('keysListView') }),
  show(keysUse, { arguments: ['kid', 'dir'] }),
]

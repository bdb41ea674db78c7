import { sessionEnd, sessionList } from '../../operations/sessions/sessions.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/session.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/session-views.ts'))

export const sessionCommands: readonly Command[] = [
  show(sessionList, { view: views('sessionListView') }),
  show(sessionEnd, { arguments: ['id'], prompt: views('sessionEnding') }),
]

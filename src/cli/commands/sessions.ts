import { sessionEnd, sessionList } from '../../operations/sessions/sessions.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/session.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/session-views.ts')

export const sessionCommands: readonly Command[] = [
  operationCommand(sessionList, {
    ...help['session list'],
    view: async () => (await views()).sessionListView,
  }),
  operationCommand(sessionEnd, {
    ...{ ...help['session end'], arguments: ['id'] },
    prompt: async () => (await views()).sessionEnding,
  }),
]

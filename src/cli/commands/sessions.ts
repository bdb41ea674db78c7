import { sessionEnd, sessionList } from '../../operations/sessions/sessions.ts'
import type { Command } from '../command.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'

const views = () => import('../views/session-views.ts')
const unreachable = 'Redis or the database is unreachable, or has no table postern_session'

export const sessionCommands: readonly Command[] = [
  operationCommand(sessionList, {
    exitCodes: {
      ...{ 0: 'listed', ...databaseFailures },
      5: unreachable,
    },
    examples: [
      'postern session list',
      'postern session list --user alice',
      "postern session list --limit 100000 --output json | jq -r '.sessions[].address' | sort | uniq -c",
    ],
    view: async () => (await views()).sessionListView,
  }),
  operationCommand(sessionEnd, {
    arguments: ['id'],
    usage: ['ID', '--user NAME|ID', '--all'],
    exitCodes: {
      ...{ 0: 'ended', 1: 'not ended: unknown session or user, or not confirmed' },
      ...{ ...databaseFailures, 5: unreachable },
    },
    examples: [
      'postern session end 0195f2a1-7c3e-7b4a-9d21-3f0c5e8a6b17',
      'postern session end --user alice',
      'postern session end --all --yes',
    ],
    asking: async () => (await views()).sessionEnding,
  }),
]

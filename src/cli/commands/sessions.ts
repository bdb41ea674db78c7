import { sessionList } from '../../operations/sessions/sessions.ts'
import type { Command } from '../command.ts'
import { endSpec } from '../sessions/specs.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'

export const sessionCommands: readonly Command[] = [
  operationCommand(sessionList, {
    exitCodes: {
      ...{ 0: 'listed', ...databaseFailures },
      5: 'Redis or the database is unreachable, or has no table postern_session',
    },
    examples: [
      'postern session list',
      'postern session list --user alice',
      "postern session list --limit 100000 --output json | jq -r '.sessions[].address' | sort | uniq -c",
    ],
    view: async () => (await import('../sessions/session-views.ts')).sessionListView,
  }),
  command(endSpec, async () => (await import('../sessions/end.ts')).sessionEnd),
]

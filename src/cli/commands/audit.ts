import { auditList } from '../../operations/audit/audit.ts'
import { type Command, linesOption } from '../command.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'

export const auditCommands: readonly Command[] = [
  operationCommand(auditList, {
    output: linesOption,
    exitCodes: {
      ...{ 0: 'listed', ...databaseFailures },
      5: 'the database is unreachable, or has no table postern_audit',
    },
    examples: [
      'postern audit list',
      'postern audit list --since 7d --action user --subject alice',
      'postern audit list --action policy.push --output json | jq -r .[].after.revision',
      'postern audit list --limit 1000000 --output jsonl > audit.jsonl',
    ],
    view: async () => (await import('../views/audit-views.ts')).auditListView,
  }),
]

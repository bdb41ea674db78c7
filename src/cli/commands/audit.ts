import { auditList } from '../../operations/audit/audit.ts'
import { type Command, linesOption } from '../command.ts'
import help from '../help-texts/audit.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

export const auditCommands: readonly Command[] = [
  operationCommand(auditList, {
    ...{ ...help['audit list'], output: linesOption },
    view: async () => (await import('../views/audit-views.ts')).auditListView,
  }),
]

import { auditList } from '../../operations/audit/audit.ts'
import { type Command, linesOption } from '../command.ts'
import help from '../help-texts/audit.json' with { type: 'json' }
import { commandsWith } from './operation-command.ts'

const show = commandsWith(help)

export const auditCommands: readonly Command[] = [
  show(auditList, {
    output: linesOption,
    view: async () => (await import('../views/audit-views.ts')).auditListView,
  }),
]

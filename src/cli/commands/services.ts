import { serviceList, tokenList } from '../../operations/services/services.ts'
import type { Command } from '../command.ts'
import { addSpec, issueSpec, removeSpec, roleSpec } from '../services/specs.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'

export const serviceCommands: readonly Command[] = [
  command(addSpec, async () => (await import('../services/service.ts')).serviceAdd),
  command(roleSpec, async () => (await import('../services/service.ts')).serviceRole),
  command(removeSpec, async () => (await import('../services/service.ts')).serviceRemove),
  operationCommand(serviceList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: ['postern service list', "postern service list --output json | jq -r '.[].name'"],
    view: async () => (await import('../services/service-views.ts')).serviceListView,
  }),
]

/** The commands of group `token` that concern service accounts. */
export const serviceTokenCommands: readonly Command[] = [
  command(issueSpec, async () => (await import('../services/token-issue.ts')).tokenIssue),
  operationCommand(tokenList, {
    exitCodes: {
      ...{ 0: 'listed', 1: 'unknown service account' },
      ...{ ...databaseFailures, 5: 'a store is unreachable' },
    },
    examples: [
      'postern token list',
      'postern token list --service ci --output json | jq -r \'.[] | select(.status == "good") | .id\'',
    ],
    view: async () => (await import('../services/service-views.ts')).tokenListView,
  }),
]

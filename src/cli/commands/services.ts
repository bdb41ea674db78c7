import * as services from '../../operations/services/services.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/service.json' with { type: 'json' }
import tokenHelp from '../help-texts/token.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/service-views.ts')

export const serviceCommands: readonly Command[] = [
  operationCommand(services.serviceAdd, { ...help['service add'], arguments: ['name'] }),
  operationCommand(services.serviceRole, { ...help['service role'], arguments: ['name', 'role'] }),
  operationCommand(services.serviceRemove, { ...help['service remove'], arguments: ['name'] }),
  operationCommand(services.serviceList, {
    ...help['service list'],
    view: async () => (await views()).serviceListView,
  }),
]

/** The commands of group `token` that concern service accounts. */
export const serviceTokenCommands: readonly Command[] = [
  operationCommand(services.tokenIssue, {
    ...{ ...tokenHelp['token issue'], arguments: ['name'] },
    view: async () => (await views()).tokenIssueView,
  }),
  operationCommand(services.tokenList, {
    ...tokenHelp['token list'],
    view: async () => (await views()).tokenListView,
  }),
]

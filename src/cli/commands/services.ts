import * as services from '../../operations/services/services.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/service.json' with { type: 'json' }
import tokenHelp from '../help-texts/token.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith({ ...help, ...tokenHelp })
const views = partsOf(() => import('../views/service-views.ts'))

export const serviceCommands: readonly Command[] = [
  show(services.serviceAdd, { arguments: ['name'] }),
  show(services.serviceRole, { arguments: ['name', 'role'] }),
  show(services.serviceRemove, { arguments: ['name'] }),
  show(services.serviceList, { view: views('serviceListView') }),
]

/** The commands of group `token` that concern service accounts. */
export const serviceTokenCommands: readonly Command[] = [
  show(services.tokenIssue, { arguments: ['name'], view: views('tokenIssueView') }),
  show(services.tokenList, { view: views('tokenListView') }),
]

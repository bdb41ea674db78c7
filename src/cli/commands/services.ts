import type { Command } from '../command.ts'
import {
  addSpec,
  issueSpec,
  listSpec,
  removeSpec,
  roleSpec,
  tokenListSpec,
} from '../services/specs.ts'
import { command } from './run-command.ts'

export const serviceCommands: readonly Command[] = [
  command(addSpec, async () => (await import('../services/service.ts')).serviceAdd),
  command(roleSpec, async () => (await import('../services/service.ts')).serviceRole),
  command(removeSpec, async () => (await import('../services/service.ts')).serviceRemove),
  command(listSpec, async () => (await import('../services/service-list.ts')).serviceList),
]

/** The commands of group `token` that concern service accounts. */
export const serviceTokenCommands: readonly Command[] = [
  command(issueSpec, async () => (await import('../services/token-issue.ts')).tokenIssue),
  command(tokenListSpec, async () => (await import('../services/token-list.ts')).tokenList),
]

import {
  userDelete,
  userDisable,
  userList,
  userRename,
  userShow,
} from '../../operations/accounts/accounts.ts'
import {
  accountExitCodes,
  addSpec,
  enableSpec,
  migrateSpec,
  passwdSpec,
  roleSpec,
} from '../accounts/specs.ts'
import type { Command } from '../command.ts'
import { linkSpec, unlinkSpec } from '../identities/specs.ts'
import { totpSpec } from '../second-factor/specs.ts'
import { inspectSpec, revokeSpec } from '../tokens/specs.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'
import { serviceTokenCommands } from './services.ts'

export const userCommands: readonly Command[] = [
  command(addSpec, async () => (await import('../accounts/user.ts')).userAdd),
  command(passwdSpec, async () => (await import('../accounts/user.ts')).userPasswd),
  command(roleSpec, async () => (await import('../accounts/user.ts')).userRole),
  operationCommand(userDisable, {
    arguments: ['name'],
    exitCodes: accountExitCodes,
    examples: ['postern user disable alice'],
    view: async () => (await import('../accounts/user-views.ts')).accountChangeView,
  }),
  command(enableSpec, async () => (await import('../accounts/user.ts')).userEnable),
  operationCommand(userRename, {
    arguments: ['old', 'new'],
    exitCodes: accountExitCodes,
    examples: ['postern user rename alice alice.smith'],
    view: async () => (await import('../accounts/user-views.ts')).accountChangeView,
  }),
  command(linkSpec, async () => (await import('../identities/link.ts')).userLink),
  command(unlinkSpec, async () => (await import('../identities/link.ts')).userUnlink),
  operationCommand(userDelete, {
    arguments: ['name'],
    exitCodes: accountExitCodes,
    examples: ['postern user delete alice', 'postern user delete alice --yes'],
    view: async () => (await import('../accounts/user-views.ts')).accountChangeView,
    asking: async () => (await import('../accounts/user-views.ts')).userDeletion,
  }),
  command(totpSpec, async () => (await import('../second-factor/user-totp.ts')).userTotp),
  operationCommand(userShow, {
    arguments: ['name'],
    exitCodes: { 0: 'shown', 1: 'unknown user', ...databaseFailures },
    examples: ['postern user show alice', 'postern user show alice --output json | jq .dataScope'],
    view: async () => (await import('../accounts/user-views.ts')).userShowView,
  }),
  operationCommand(userList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: [
      'postern user list',
      'postern user list --starts-with ann --limit 10',
      "postern user list --output json | jq -r '.[] | select(.enabled) | .username'",
    ],
    view: async () => (await import('../accounts/user-views.ts')).userListView,
  }),
]

export const tokenCommands: readonly Command[] = [
  ...serviceTokenCommands,
  command(inspectSpec, async () => (await import('../tokens/token-inspect.ts')).tokenInspect),
  command(revokeSpec, async () => (await import('../tokens/token-revoke.ts')).tokenRevoke),
]

export const dbCommands: readonly Command[] = [
  command(migrateSpec, async () => (await import('../accounts/db-migrate.ts')).dbMigrate),
]

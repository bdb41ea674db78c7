import * as accounts from '../../operations/accounts/accounts.ts'
import { tokenInspect, tokenRevoke } from '../../operations/tokens/tokens.ts'
import type { Command } from '../command.ts'
import dbHelp from '../help-texts/db.json' with { type: 'json' }
import tokenHelp from '../help-texts/token.json' with { type: 'json' }
import help from '../help-texts/user.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'
import { serviceTokenCommands } from './services.ts'

const views = () => import('../views/user-views.ts')
const totpViews = () => import('../views/totp-view.ts')
const tokenViews = () => import('../views/token-views.ts')

/** How every change of an account is shown. */
const changed = { view: async () => (await views()).accountChangeView } as const
const named = { ...changed, arguments: ['name'] } as const

export const userCommands: readonly Command[] = [
  operationCommand(accounts.userAdd, { ...help['user add'], ...named }),
  operationCommand(accounts.userPasswd, { ...help['user passwd'], ...named }),
  operationCommand(accounts.userRole, {
    ...{ ...help['user role'], ...changed, arguments: ['name', 'role'] },
  }),
  operationCommand(accounts.userDisable, { ...help['user disable'], ...named }),
  operationCommand(accounts.userEnable, { ...help['user enable'], ...named }),
  operationCommand(accounts.userRename, {
    ...{ ...help['user rename'], ...changed, arguments: ['old', 'new'] },
  }),
  operationCommand(accounts.userLink, { ...help['user link'], ...named }),
  operationCommand(accounts.userUnlink, { ...help['user unlink'], ...named }),
  operationCommand(accounts.userDelete, {
    ...{ ...help['user delete'], ...named },
    prompt: async () => (await views()).userDeletion,
  }),
  operationCommand(accounts.userTotp, {
    ...{ ...help['user totp'], arguments: ['name'] },
    view: async () => (await totpViews()).userTotpView,
    prompt: async () => (await totpViews()).userTotpPrompt,
  }),
  operationCommand(accounts.userShow, {
    ...{ ...help['user show'], arguments: ['name'] },
    view: async () => (await views()).userShowView,
  }),
  operationCommand(accounts.userList, {
    ...help['user list'],
    view: async () => (await views()).userListView,
  }),
]

export const tokenCommands: readonly Command[] = [
  ...serviceTokenCommands,
  operationCommand(tokenInspect, {
    ...{ ...tokenHelp['token inspect'], arguments: ['token'] },
    view: async () => (await tokenViews()).tokenInspectView,
  }),
  operationCommand(tokenRevoke, { ...tokenHelp['token revoke'], ...changed }),
]

export const dbCommands: readonly Command[] = [
  operationCommand(accounts.dbMigrate, {
    ...dbHelp['db migrate'],
    view: async () => (await views()).dbMigrateView,
  }),
]

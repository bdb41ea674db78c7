import * as accounts from '../../operations/accounts/accounts.ts'
import { tokenInspect, tokenRevoke } from '../../operations/tokens/tokens.ts'
import type { Command } from '../command.ts'
import dbHelp from '../help-texts/db.json' with { type: 'json' }
import tokenHelp from '../help-texts/token.json' with { type: 'json' }
import help from '../help-texts/user.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'
import { serviceTokenCommands } from './services.ts'

const show = commandsWith({ ...help, ...tokenHelp, ...dbHelp })
const views = partsOf(() => import('../views/user-views.ts'))
const totpViews = partsOf(() => import('../views/totp-view.ts'))
const tokenViews = partsOf(() => import('../views/token-views.ts'))

/** How every change of an account is shown. */
const changed = { view: views('accountChangeView') } as const
const named = { ...changed, arguments: ['name'] } as const

export const userCommands: readonly Command[] = [
  show(accounts.userAdd, named),
  show(accounts.userPasswd, named),
  show(accounts.userRole, { ...changed, arguments: ['name', 'role'] }),
  show(accounts.userDisable, named),
  show(accounts.userEnable, named),
  show(accounts.userRename, { ...changed, arguments: ['old', 'new'] }),
  show(accounts.userLink, named),
  show(accounts.userUnlink, named),
  show(accounts.userDelete, { ...named, prompt: views('userDeletion') }),
  show(accounts.userTotp, {
    arguments: ['name'],
    view: totpViews('userTotpView'),
    prompt: totpViews('userTotpPrompt'),
  }),
  show(accounts.userShow, { arguments: ['name'], view: views('userShowView') }),
  show(accounts.userList, { view: views('userListView') }),
]

export const tokenCommands: readonly Command[] = [
  ...serviceTokenCommands,
  show(tokenInspect, { arguments: ['token'], view: tokenViews('tokenInspectView') }),
  show(tokenRevoke, changed),
]

export const dbCommands: readonly Command[] = [
  show(accounts.dbMigrate, { view: views('dbMigrateView') }),
]

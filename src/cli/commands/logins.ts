import { loginList, loginLocks, loginTest, loginUnlock } from '../../operations/logins/logins.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/login.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/login-views.ts'))

export const loginCommands: readonly Command[] = [
  show(loginList, { view: views('loginListView') }),
  show(loginLocks, { view: views('loginLocksView') }),
  show(loginTest, { arguments: ['user'], output: {} }),
  show(loginUnlock, { arguments: ['user'] }),
]

import { loginList, loginLocks, loginTest, loginUnlock } from '../../operations/logins/logins.ts'
import type { Command } from '../command.ts'
import help from '../help-texts/login.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/login-views.ts')

export const loginCommands: readonly Command[] = [
  operationCommand(loginList, {
    ...help['login list'],
    view: async () => (await views()).loginListView,
  }),
  operationCommand(loginLocks, {
    ...help['login locks'],
    view: async () => (await views()).loginLocksView,
  }),
  operationCommand(loginTest, { ...help['login test'], arguments: ['user'], output: {} }),
  operationCommand(loginUnlock, { ...help['login unlock'], arguments: ['user'] }),
]

import { loginList, loginLocks } from '../../operations/logins/logins.ts'
import type { Command } from '../command.ts'
import { testSpec, unlockSpec } from '../logins/specs.ts'
import { databaseFailures, operationCommand } from './operation-command.ts'
import { command } from './run-command.ts'

export const loginCommands: readonly Command[] = [
  operationCommand(loginList, {
    exitCodes: { 0: 'listed', ...databaseFailures, 5: 'a store is unreachable' },
    examples: [
      'postern login list',
      'postern login list --user alice --since 7d',
      'postern login list --outcome wrong-credentials --address 192.0.2.0/24',
      "postern login list --output json | jq -r '.attempts[].address' | sort | uniq -c | sort -n",
    ],
    view: async () => (await import('../logins/login-views.ts')).loginListView,
  }),
  operationCommand(loginLocks, {
    exitCodes: { 0: 'listed', ...databaseFailures, 5: 'a store is unreachable' },
    examples: [
      'postern login locks',
      'postern login locks --output json | jq -r \'.lockouts[] | select(.kind == "account") | .username\'',
    ],
    view: async () => (await import('../logins/login-views.ts')).loginLocksView,
  }),
  command(testSpec, async () => (await import('../logins/test.ts')).loginTest),
  command(unlockSpec, async () => (await import('../logins/unlock.ts')).loginUnlock),
]

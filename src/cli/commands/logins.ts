import { loginList, loginLocks, loginTest, loginUnlock } from '../../operations/logins/logins.ts'
import type { Command } from '../command.ts'
import { operationCommand, storeFailures } from './operation-command.ts'

const views = () => import('../views/login-views.ts')

export const loginCommands: readonly Command[] = [
  operationCommand(loginList, {
    exitCodes: { 0: 'listed', ...storeFailures },
    examples: [
      'postern login list',
      'postern login list --user alice --since 7d',
      'postern login list --outcome wrong-credentials --address 192.0.2.0/24',
      "postern login list --output json | jq -r '.attempts[].address' | sort | uniq -c | sort -n",
    ],
    view: async () => (await views()).loginListView,
  }),
  operationCommand(loginLocks, {
    exitCodes: { 0: 'listed', ...storeFailures },
    examples: [
      'postern login locks',
      'postern login locks --output json | jq -r \'.lockouts[] | select(.kind == "account") | .username\'',
    ],
    view: async () => (await views()).loginLocksView,
  }),
  operationCommand(loginTest, {
    arguments: ['user'],
    output: {},
    exitCodes: {
      ...{ 0: 'logged in and out', 1: 'refused', 2: 'bad usage', ...storeFailures },
      5: 'a store or the gateway is unreachable',
    },
    examples: ['postern login test probe --url http://127.0.0.1:8000 --password-file password.txt'],
  }),
  operationCommand(loginUnlock, {
    arguments: ['user'],
    exitCodes: { 0: 'ended', 1: 'nothing was locked out', ...storeFailures },
    examples: ['postern login unlock alice', 'postern login unlock 2001:db8::7'],
  }),
]

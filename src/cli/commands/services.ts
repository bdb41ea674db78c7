import {
  serviceAdd,
  serviceList,
  serviceRemove,
  serviceRole,
  tokenIssue,
  tokenList,
} from '../../operations/services/services.ts'
import type { Command } from '../command.ts'
import { databaseFailures, operationCommand, storeFailures } from './operation-command.ts'

const views = () => import('../views/service-views.ts')

const changed = {
  exitCodes: {
    0: 'done',
    1: 'not done: unknown service account or role, or name taken',
    ...storeFailures,
  },
} as const

export const serviceCommands: readonly Command[] = [
  operationCommand(serviceAdd, {
    ...{ ...changed, arguments: ['name'] },
    examples: ['postern service add ci --role deployer --note pipelines'],
  }),
  operationCommand(serviceRole, {
    ...{ ...changed, arguments: ['name', 'role'] },
    examples: ['postern service role ci viewer  # then issue new tokens'],
  }),
  operationCommand(serviceRemove, {
    ...{ ...changed, arguments: ['name'] },
    examples: ['postern service remove ci'],
  }),
  operationCommand(serviceList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: ['postern service list', "postern service list --output json | jq -r '.[].name'"],
    view: async () => (await views()).serviceListView,
  }),
]

/** The commands of group `token` that concern service accounts. */
export const serviceTokenCommands: readonly Command[] = [
  operationCommand(tokenIssue, {
    arguments: ['name'],
    exitCodes: {
      0: 'issued',
      1: 'not issued: unknown service account, lifetime too long, or service tokens are off',
      ...{ ...databaseFailures, 5: 'a store is unreachable, or no key can sign' },
    },
    examples: [
      'postern token issue ci --expires 90d --note github',
      'postern token issue ci --expires 90d | gh secret set API_TOKEN',
    ],
    view: async () => (await views()).tokenIssueView,
  }),
  operationCommand(tokenList, {
    exitCodes: {
      ...{ 0: 'listed', 1: 'unknown service account' },
      ...storeFailures,
    },
    examples: [
      'postern token list',
      'postern token list --service ci --output json | jq -r \'.[] | select(.status == "good") | .id\'',
    ],
    view: async () => (await views()).tokenListView,
  }),
]

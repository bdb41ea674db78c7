import * as accounts from '../../operations/accounts/accounts.ts'
import { tokenInspect, tokenRevoke } from '../../operations/tokens/tokens.ts'
import type { Command } from '../command.ts'
import { databaseFailures, operationCommand, storeFailures } from './operation-command.ts'
import { serviceTokenCommands } from './services.ts'

const views = () => import('../views/user-views.ts')
const totpViews = () => import('../views/totp-view.ts')
const tokenViews = () => import('../views/token-views.ts')

/** How every change of an account is shown. */
const changed = {
  exitCodes: {
    0: 'done',
    1: 'not done: unknown user or role, name taken, or the last admin',
    ...storeFailures,
  },
  view: async () => (await views()).accountChangeView,
} as const
const named = { ...changed, arguments: ['name'] } as const

export const userCommands: readonly Command[] = [
  operationCommand(accounts.userAdd, {
    ...named,
    examples: [
      'postern user add alice --role editor',
      'postern user add alice --role editor --password-stdin < password.txt',
    ],
  }),
  operationCommand(accounts.userPasswd, {
    ...named,
    examples: [
      'postern user passwd alice',
      'postern user passwd alice --password-stdin < password.txt',
    ],
  }),
  operationCommand(accounts.userRole, {
    ...{ ...changed, arguments: ['name', 'role'] },
    examples: ['postern user role alice viewer  # alice must log in again'],
  }),
  operationCommand(accounts.userDisable, { ...named, examples: ['postern user disable alice'] }),
  operationCommand(accounts.userEnable, { ...named, examples: ['postern user enable alice'] }),
  operationCommand(accounts.userRename, {
    ...{ ...changed, arguments: ['old', 'new'] },
    examples: ['postern user rename alice alice.smith'],
  }),
  operationCommand(accounts.userLink, {
    ...named,
    exitCodes: {
      ...changed.exitCodes,
      1: 'not done: unknown user or provider, or the subject is linked',
    },
    examples: ['postern user link alice --provider corp --subject 248289761001'],
  }),
  operationCommand(accounts.userUnlink, {
    ...named,
    exitCodes: { ...changed.exitCodes, 1: 'not done: unknown user, or not linked' },
    examples: ['postern user unlink alice', 'postern user unlink alice --provider corp'],
  }),
  operationCommand(accounts.userDelete, {
    ...named,
    examples: ['postern user delete alice', 'postern user delete alice --yes'],
    asking: async () => (await views()).userDeletion,
  }),
  operationCommand(accounts.userTotp, {
    arguments: ['name'],
    usage: ['NAME [--no-confirm] [--yes]', 'NAME --recovery-codes', 'NAME --remove', '--list'],
    exitCodes: {
      0: 'done, or listed',
      1: 'not done: unknown user, not enrolled, not confirmed, or a key to decrypt with is not loaded',
      3: 'the configuration, a key or a table is not valid',
      5: 'a store is unreachable, or the key of the secret is not loaded',
    },
    examples: [
      'postern user totp alice',
      'postern user totp alice --no-confirm --output json  # for a script that shows the QR code itself',
      'postern user totp alice --recovery-codes',
      'postern user totp --list',
    ],
    view: async () => (await totpViews()).userTotpView,
    asking: async () => (await totpViews()).userTotpAsking,
  }),
  operationCommand(accounts.userShow, {
    arguments: ['name'],
    exitCodes: { 0: 'shown', 1: 'unknown user', ...databaseFailures },
    examples: ['postern user show alice', 'postern user show alice --output json | jq .dataScope'],
    view: async () => (await views()).userShowView,
  }),
  operationCommand(accounts.userList, {
    exitCodes: { 0: 'listed', ...databaseFailures },
    examples: [
      'postern user list',
      'postern user list --starts-with ann --limit 10',
      "postern user list --output json | jq -r '.[] | select(.enabled) | .username'",
    ],
    view: async () => (await views()).userListView,
  }),
]

export const tokenCommands: readonly Command[] = [
  ...serviceTokenCommands,
  operationCommand(tokenInspect, {
    arguments: ['token'],
    usage: ['TOKEN|- [OPTIONS]'],
    exitCodes: {
      0: 'a gateway accepts it',
      1: 'a gateway rejects it',
      3: databaseFailures[3],
      5: 'a store is unreachable, so it may be revoked, or its issuer is unreachable',
    },
    examples: [
      'postern token inspect - < token.txt',
      'pbpaste | postern token inspect -',
      'postern token inspect - --output json < token.txt | jq .claims.rolekey',
    ],
    view: async () => (await tokenViews()).tokenInspectView,
  }),
  operationCommand(tokenRevoke, {
    usage: [
      '--token TOKEN|- [OPTIONS]',
      '--id ID [OPTIONS]',
      '--user NAME|ID [OPTIONS]',
      '--issuer NAME --user ID [OPTIONS]',
    ],
    exitCodes: {
      0: 'revoked',
      1: 'not a token of this gateway, or unknown ID or user',
      3: databaseFailures[3],
      5: 'a store, or the issuer of the token, is unreachable',
    },
    examples: [
      'postern token revoke --token - < token.txt',
      'postern token revoke --id 019e0c2f-6f3a-7c21-9d5e-8a4b1c0d2e3f',
      'postern token revoke --user alice',
      'postern token revoke --user 42',
      'postern token revoke --issuer k8s --user system:serviceaccount:shop:ci',
    ],
    view: changed.view,
  }),
]

export const dbCommands: readonly Command[] = [
  operationCommand(accounts.dbMigrate, {
    exitCodes: {
      0: 'every table exists and matches',
      3: 'the configuration is not valid, or a table does not match',
      5: 'the database is unreachable or refuses',
    },
    examples: [
      'postern db migrate',
      'POSTERN_DATABASE__URL=postgres://owner@db/postern postern db migrate',
    ],
    view: async () => (await views()).dbMigrateView,
  }),
]

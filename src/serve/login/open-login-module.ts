import type { Config } from '../../config/schema/schema.ts'
import type { Closing } from '../../kernel/closing.ts'
import type { Log } from '../../log/log.ts'
import type { LinkedAccounts } from '../../login/linked-account.ts'
import type { LoginMethod } from '../../login/login-method.ts'
import { checkMethodName } from '../../login/methods/module/check-module.ts'
import { openLoginModule as openModule } from '../../login/methods/module/login-module.ts'
import { createModuleMethod, moduleOutcomes } from '../../login/methods/module/module-method.ts'
import type { ModuleState } from '../../login/methods/module/module-threads.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import type { Accounts } from '../../stores/accounts/accounts.ts'

interface OpenLoginModule {
  readonly method: LoginMethod
  readonly state: () => ModuleState
}

/** The login module of the configuration, if it names one. Throws `Invalid` for one that cannot be used. */
export async function openLoginModule(
  { login }: Config,
  parts: {
    readonly log: Log
    readonly registry: MetricRegistry
    readonly accounts: Accounts
    readonly linkedAccounts: LinkedAccounts
  },
  closing: Closing,
): Promise<OpenLoginModule | undefined> {
  const { module: file, moduleTimeoutMs: timeoutMs, moduleAccounts: rules } = login
  if (file === undefined) return undefined
  const { log, registry, accounts, linkedAccounts } = parts
  const module = await openModule({ file, timeoutMs, log, findAccount })
  closing.add(module.close)
  const { declaration, state } = module
  checkMethodName(declaration, file, login)
  const { name, captcha, countBy, secondFactor } = declaration
  const fields = declaration.fields.map((field) => field.name)
  log.info({ module: name, fields, captcha, countBy, secondFactor }, 'login module loaded')
  registry.readCounter({
    name: 'postern_login_module_restarts_total',
    help: 'Restarts of the login module.',
    read: () => state().restarts,
  })

  async function findAccount(username: string) {
    const account = await accounts.findByUsername(username)
    if (account === undefined) return undefined
    const { enabled, caller } = account
    return { userId: caller.userId, username: caller.username, roleKey: caller.roleKey, enabled }
  }

  return {
    state,
    method: createModuleMethod({
      module,
      findAccount: accounts.findByUsername,
      signIn: ({ role: roleKey, ...user }) =>
        linkedAccounts.signIn(
          { provider: name, ...user, roleKey },
          { ...rules, syncRole: true, skipsSecondFactor: !secondFactor },
        ),
      onResult: registry.counter({
        name: 'postern_login_module_results_total',
        help: 'Results of the login module. failed: it threw, timed out, died or returned nonsense.',
        labels: ['result'],
        fromZero: moduleOutcomes.map((outcome) => [outcome]),
      }),
    }),
  }
}

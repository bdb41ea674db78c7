import { resolve } from 'node:path'
import type { DeepPartial } from '../../../kernel/deep-partial.ts'
import { Invalid } from '../../../kernel/errors.ts'
import { claimAt } from '../../../token/claim-path.ts'
import type { MethodParts, NamedFile, OpenLoginMethod } from '../../method-kind.ts'
import type { Declaration } from './declaration.ts'
import { openLoginModule } from './login-module.ts'
import { checkModuleFile } from './module-file.ts'
import { createModuleMethod, moduleOutcomes } from './module-method.ts'
import { ModuleThread } from './module-thread.ts'
import type { ModuleLogin } from './settings.ts'
import { describeThrown } from './thrown-error.ts'

/** Throws `Invalid` for a module that cannot be used. */
export async function open(login: ModuleLogin, parts: MethodParts): Promise<OpenLoginMethod> {
  const { module: file, moduleTimeoutMs: timeoutMs, moduleAccounts: rules } = login
  if (file === undefined) return {}
  const { log, registry, findAccount, linkedAccounts, claims } = parts
  const module = await openLoginModule({ file, timeoutMs, log, findAccount: shownAccount })
  const { declaration, state } = module
  try {
    checkMethodName(declaration, file, parts.names)
  } catch (error) {
    await module.close()
    throw error
  }
  const { name, captcha, countBy, secondFactor } = declaration
  const fields = declaration.fields.map((field) => field.name)
  log.info({ module: name, fields, captcha, countBy, secondFactor }, 'login module loaded')
  registry.readCounter({
    name: 'postern_login_module_restarts_total',
    help: 'Restarts of the login module.',
    read: () => state().restarts,
  })

  async function shownAccount(username: string) {
    const account = await findAccount(username)
    if (account === undefined) return undefined
    const { enabled, caller } = account
    return { userId: caller.userId, username: caller.username, roleKey: caller.roleKey, enabled }
  }

  const method = createModuleMethod({
    ...{ module, findAccount },
    async signIn({ role: roleKey, claims: said = {}, ...user }) {
      const verified = await linkedAccounts.signIn(
        { provider: name, ...user, roleKey },
        { ...rules, syncRole: true, skipsSecondFactor: !secondFactor },
      )
      const all: Readonly<Record<string, unknown>> = { name: user.displayName, ...user, ...said }
      return { ...verified, ...claims.pick(user.username, (claim) => claimAt(all, claim)) }
    },
    onResult: registry.counter({
      name: 'postern_login_module_results_total',
      help: 'Results of the login module. failed: it threw, timed out, died or returned nonsense.',
      labels: ['result'],
      fromZero: moduleOutcomes.map((outcome) => [outcome]),
    }),
  })
  return { methods: [method], form: 'other', details: { loginModule: state }, close: module.close }
}

export function files(
  { module: file }: DeepPartial<ModuleLogin>,
  directory: string,
  names: readonly string[],
): readonly NamedFile[] {
  if (file === undefined) return []
  return [{ setting: 'login.module', read: () => checkModule(resolve(directory, file), names) }]
}

/** Loads a module and ends it again. Throws `Invalid` where a gateway would not start. */
async function checkModule(file: string, others: readonly string[]): Promise<void> {
  await checkModuleFile(file)
  const thread = new ModuleThread(file, {
    printed: () => {},
    logged: () => {},
    find: async () => undefined,
    lost: () => {},
  })
  try {
    checkMethodName(await thread.loaded, file, others)
  } catch (error) {
    if (error instanceof Invalid) throw error
    throw new Invalid([{ file, message: describeThrown(error).message }])
  } finally {
    await thread.end()
  }
}

/** A login names its method, so each name belongs to one method. */
function checkMethodName({ name }: Declaration, file: string, others: readonly string[]): void {
  if (!others.includes(name)) return
  const message = `name: "${name}" is already the name of another login method; export another name`
  throw new Invalid([{ file, message }])
}

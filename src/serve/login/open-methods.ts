import { methodNames } from '../../config/login-providers.ts'
import type { OnIssued } from '../../login/login.ts'
import type { FindLoginMethod, LoginMethod } from '../../login/login-method.ts'
import type { MethodParts, OpenLoginMethod } from '../../login/method-kind.ts'
import { type LoginSettings, loginMethods } from '../../login/methods/login-methods.ts'
import type { Assembly } from '../assembly.ts'

export type OpenMethods = Awaited<ReturnType<typeof openMethods>>

/** Opens every configured way to log in. */
export async function openMethods(
  login: LoginSettings,
  parts: Omit<MethodParts, 'names' | 'passwords' | 'registry'>,
  assembly: Assembly,
) {
  const opened: OpenLoginMethod[] = []
  const find = <Key extends keyof OpenLoginMethod>(key: Key) =>
    opened.find((each) => each[key] !== undefined)?.[key]
  for (const kind of loginMethods.filter(({ isConfigured }) => isConfigured(login))) {
    const { open } = await kind.load()
    const names = methodNames(login)
    const method = await open(login, {
      ...parts,
      registry: assembly.registry,
      names,
      passwords: find('passwords'),
    })
    assembly.add(method)
    opened.push(method)
  }

  const standard = opened.find(({ form }) => form !== undefined)
  // Without any form, the password method refuses every login.
  const byForm = opened.filter(({ redirects }) => redirects === undefined)
  const byDefault = (standard ?? byForm.find(({ methods }) => methods))?.methods?.[0]
  const onIssued: OnIssued = (...issued) => {
    for (const each of opened) each.onIssued?.(...issued)
  }
  return {
    find: finder(opened, byDefault),
    /** Finds a method whose credentials a form carries. */
    findFormMethod: finder(byForm, byDefault),
    /** What a form without `provider` gets; absent where no form logs in. */
    formMethod: standard?.methods?.[0],
    hasPasswordForm: opened.some(({ form }) => form === 'password'),
    redirects: find('redirects'),
    onIssued,
  }
}

function finder(
  opened: readonly OpenLoginMethod[],
  byDefault: LoginMethod | undefined,
): FindLoginMethod {
  const methods = opened.flatMap((each) => each.methods ?? [])
  const byName = new Map(methods.map((method) => [method.name, method]))
  return (provider) => (provider === undefined ? byDefault : byName.get(provider))
}

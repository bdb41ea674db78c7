import { resolve } from 'node:path'
import { Invalid } from '../../../kernel/errors.ts'
import { passwordMethodName } from '../password/password-method.ts'
import type { Declaration } from './declaration.ts'
import { checkModuleFile } from './module-file.ts'
import { ModuleThread } from './module-thread.ts'
import { describeThrown } from './thrown-error.ts'

/** The section `login` of a configuration, of which other settings may be wrong. */
interface OtherMethods {
  readonly oidc?: readonly (Named | undefined)[]
  readonly ldap?: Named
}

interface Named {
  readonly name?: string
}

/** Loads a module and ends it again. Throws `Invalid` where a gateway would not start. */
export async function checkModule(path: string, others: OtherMethods): Promise<void> {
  const file = resolve(path)
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
export function checkMethodName(
  { name }: Declaration,
  file: string,
  { oidc = [], ldap }: OtherMethods,
): void {
  const others = [passwordMethodName, ldap?.name, ...oidc.map((provider) => provider?.name)]
  if (!others.includes(name)) return
  const message = `name: "${name}" is already the name of another login method; export another name`
  throw new Invalid([{ file, message }])
}

import { Invalid } from '../../../kernel/errors.ts'
import type { Declaration } from './declaration.ts'
import { checkModuleFile } from './module-file.ts'
import { ModuleThread } from './module-thread.ts'
import { describeThrown } from './thrown-error.ts'

/** Loads a module and ends it again. Throws `Invalid` where a gateway would not start. */
export async function checkModule(file: string, others: readonly string[]): Promise<void> {
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
  others: readonly string[],
): void {
  if (!others.includes(name)) return
  const message = `name: "${name}" is already the name of another login method; export another name`
  throw new Invalid([{ file, message }])
}

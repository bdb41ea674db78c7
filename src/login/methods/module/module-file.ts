import { stat } from 'node:fs/promises'
import { Invalid } from '../../../kernel/errors.ts'

/** The message of `import` for a missing file would name a file of ours. */
export async function checkModuleFile(file: string): Promise<void> {
  const problem = await stat(file).then(
    (found) => (found.isFile() ? undefined : 'not a file'),
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown error',
  )
  if (problem !== undefined) throw new Invalid([{ file, message: `cannot be read (${problem})` }])
}

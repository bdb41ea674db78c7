import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../errors.ts'

export interface PolicyFile {
  readonly name: string
  readonly text: string
}

/** Reads the files of a policy directory that make up a policy set, in name order. */
export async function readPolicyFiles(directory: string): Promise<PolicyFile[]> {
  try {
    const names = (await readdir(directory)).filter(isPolicyFile).sort()
    return await Promise.all(
      names.map(async (name) => {
        const path = join(directory, name)
        return { name: path, text: await readFile(path, 'utf8') }
      }),
    )
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new Invalid([
      {
        file: directory,
        message: `cannot be read (${reason}); name the directory in policy.directory`,
      },
    ])
  }
}

function isPolicyFile(name: string): boolean {
  return name === 'model.conf' || name === 'exclusions.yaml' || name.endsWith('.csv')
}

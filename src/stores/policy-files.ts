import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../errors.ts'
import type { PolicyFile } from '../policy/policy-set.ts'

export type { PolicyFile } from '../policy/policy-set.ts'

/**
 * Reads every file of a policy directory in name order, whatever its name: it is for the parser to
 * refuse one that is mistyped. Left out are directories such as `tests`, names that begin with a
 * dot, and README files. Throws `Invalid` when the directory cannot be read.
 */
export async function readPolicyFiles(directory: string): Promise<PolicyFile[]> {
  try {
    const names = (await readdir(directory)).filter(mayCount).sort()
    const files = await Promise.all(names.map((name) => readIfFile(join(directory, name))))
    return files.filter((file) => file !== undefined)
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

function mayCount(name: string): boolean {
  return !name.startsWith('.') && !name.startsWith('README')
}

async function readIfFile(path: string): Promise<PolicyFile | undefined> {
  // Follows links: Kubernetes mounts each file as one.
  if ((await stat(path)).isDirectory()) return undefined
  return { name: path, text: await readFile(path, 'utf8') }
}

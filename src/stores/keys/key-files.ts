import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import type { KeyFile } from '../../token/key-file.ts'

/** A key file and its permissions. */
export interface StoredKeyFile extends KeyFile {
  readonly mode: number
}

const maxFiles = 100
/** An RSA key of 8192 bits takes 7 KiB. */
const maxBytes = 16_384

/**
 * Reads every file of a key directory in name order, with any name: a mistyped one is refused
 * by the parser, not passed over. Left out are directories, names that begin with a dot, and README
 * files. Throws `Invalid` when something cannot be read, or is too large to be a key.
 */
export async function readKeyFiles(directory: string): Promise<StoredKeyFile[]> {
  const names = await namesIn(directory)
  const files = await Promise.all(names.map((name) => readIfFile(join(directory, name))))
  return files.filter((file) => file !== undefined)
}

/** Whether users other than the owner can read the file. */
export function isOpenToOthers({ mode }: StoredKeyFile): boolean {
  return (mode & 0o077) !== 0
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => !/^(?:\.|README)/.test(name)).sort()
    if (names.length <= maxFiles) return names
  } catch (error) {
    throw unreadable(directory, error, '; give an existing key directory (jwt.keyDirectory)')
  }
  throw new Invalid([{ file: directory, message: `contains more than ${maxFiles} files` }])
}

async function readIfFile(name: string): Promise<StoredKeyFile | undefined> {
  try {
    // Follows links: Kubernetes mounts each file as one.
    const stats = await stat(name)
    if (stats.isDirectory()) return undefined
    if (stats.isFile() && stats.size <= maxBytes) {
      return { name, text: await readFile(name, 'utf8'), mode: stats.mode & 0o777 }
    }
  } catch (error) {
    throw unreadable(name, error)
  }
  throw new Invalid([{ file: name, message: 'is not a regular file of at most 16 KiB' }])
}

function unreadable(file: string, error: unknown, cure = ''): Invalid {
  const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable'
  return new Invalid([{ file, message: `cannot be read (${reason})${cure}` }])
}

import { isUtf8 } from 'node:buffer'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../../errors.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import type { PolicyBytes } from './policy-task.ts'

export type { PolicyFile } from '../../policy/set/policy-set.ts'

/**
 * Reads every file of a policy directory in name order, with any name: the parser refuses a mistyped
 * one. Left out are directories such as `tests`, names that begin with a dot, and README files.
 * Throws `Invalid` when the directory or one of the files cannot be read.
 */
export async function readPolicyFiles(directory: string): Promise<PolicyFile[]> {
  return (await readPolicyBytes(directory)).map(fileOf)
}

/** What `readPolicyFiles` reads, not made into text yet; that it can be is certain. */
export async function readPolicyBytes(directory: string): Promise<PolicyBytes[]> {
  const names = (await namesIn(directory)).filter(mayCount).sort()
  const files = await Promise.all(names.map((name) => readIfFile(join(directory, name))))
  return files.filter((file) => file !== undefined)
}

/** The file that these bytes are. */
export function fileOf({ name, bytes }: PolicyBytes): PolicyFile {
  return { name, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() }
}

/**
 * Reads a text file. Throws `Invalid`, with the file, when it cannot be read, is not UTF-8, or is
 * nothing that ends: reading a pipe or a device would never end.
 */
export async function readWrittenText(path: string, shown = path): Promise<string> {
  return (await readUtf8(path, shown)).toString()
}

async function readUtf8(path: string, shown: string): Promise<Buffer> {
  const bytes = await readBytes(path, shown)
  if (isUtf8(bytes)) return bytes
  // Replaced by U+FFFD, two roles could become one.
  throw unreadable(shown, 'is not UTF-8 text: save it as UTF-8')
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    const hint = 'give an existing policy directory (policy.directory)'
    throw unreadable(directory, `cannot be read (${codeOf(error)}); ${hint}`)
  }
}

function mayCount(name: string): boolean {
  const isNote = name.startsWith('README') && !/\.(?:csv|conf|ya?ml)$/.test(name)
  return !name.startsWith('.') && !isNote
}

async function readIfFile(path: string): Promise<PolicyBytes | undefined> {
  // Follows links: Kubernetes mounts each file as one.
  const found = await stat(path).catch((error) => {
    throw unreadable(path, `cannot be read (${codeOf(error)})`)
  })
  return found.isDirectory() ? undefined : { name: path, bytes: await readUtf8(path, path) }
}

async function readBytes(path: string, shown: string): Promise<Buffer> {
  try {
    if ((await stat(path)).isFile()) return await readFile(path)
  } catch (error) {
    throw unreadable(shown, `cannot be read (${codeOf(error)})`)
  }
  throw unreadable(shown, 'is not a regular file')
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unreadable'
}

function unreadable(file: string, message: string): Invalid {
  return new Invalid([{ file, message }])
}

import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Invalid } from '../kernel/errors.ts'
import { maxBytes, megabytes } from './limits.ts'

/**
 * Reads a file as UTF-8, and says its path without symbolic links. Throws `Invalid`, which calls it
 * `name`.
 */
export async function readText(path: string, name: string) {
  const fail = (message: string): never => {
    throw new Invalid([{ file: name, message }])
  }
  let handle: FileHandle | undefined
  try {
    const real = await realpath(path)
    // Without O_NONBLOCK, opening a named pipe waits for a writer.
    handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const facts = await handle.stat()
    if (!facts.isFile())
      return fail(facts.isDirectory() ? 'is a directory: name a file' : 'is not a file')
    if (facts.size > maxBytes) {
      return fail(`has ${megabytes(facts.size)}; at most ${megabytes(maxBytes)} are read`)
    }
    return { path: real, text: decode(await handle.readFile(), fail) }
  } catch (error) {
    if (error instanceof Invalid) throw error
    const { code } = error as NodeJS.ErrnoException
    return fail(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  } finally {
    await handle?.close()
  }
}

function decode(bytes: Uint8Array, fail: (message: string) => never): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return fail('is not UTF-8 text')
  }
}

/** Whether a path is below a folder. Compares text: both must be free of symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, resolve(path))
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * The path without symbolic links, also of a file that does not exist: else the answer tells which
 * files exist where a link leads. `undefined` for a link that leads nowhere.
 */
export async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    )
    const folder = isThere ? undefined : await realOf(dirname(path))
    return folder && join(folder, basename(path))
  }
}

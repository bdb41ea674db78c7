import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'

/** How a file may be read. */
interface Containment {
  /** The name of the file in messages. */
  readonly shown: string
  /** The real path of the directory that must contain it. */
  readonly root: string
  readonly maxBytes: number
  /** The limit in words. */
  readonly limit: string
}

/**
 * Reads a regular file that lies below a directory. Follows links inside that directory, because
 * Kubernetes mounts files as such, but none that leaves it: the messages of a parser quote what they
 * reject, and so would print a line of any file that the process can read. Throws `Invalid`.
 */
export async function readContained(path: string, containment: Containment): Promise<Buffer> {
  const { shown, root } = containment
  try {
    const real = await realpath(path)
    if (!isWithin(real, root)) throw refused(shown, leaves)
    // Opening a pipe blocks, and a link may replace the file that was just resolved.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
    const handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return await readBounded(handle, containment)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof Invalid) throw error
    throw refused(shown, `cannot be read (${codeOf(error)})`)
  }
}

/** Whether a real path lies below the real path of a directory. */
export function isWithin(real: string, root: string): boolean {
  return real.startsWith(root.endsWith(sep) ? root : root + sep)
}

/** What to do about a link that leaves its directory. */
export const leaves =
  'is a link that leaves the policy directory: replace it with a copy of what it points to'

/** Reads at most the limit, also of a file that grows meanwhile. */
async function readBounded(handle: FileHandle, containment: Containment): Promise<Buffer> {
  const { shown, maxBytes, limit } = containment
  const found = await handle.stat()
  if (found.isDirectory()) throw refused(shown, 'is a directory: a file is expected here')
  if (!found.isFile()) throw refused(shown, 'is not a regular file')
  const tooLarge = `is too large: the limit is ${limit}`
  if (found.size > maxBytes) throw refused(shown, tooLarge)

  let bytes = Buffer.allocUnsafeSlow(found.size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length)
    if (bytesRead === 0) return bytes.subarray(0, length)
    length += bytesRead
    if (length > maxBytes) throw refused(shown, tooLarge)
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length, maxBytes + 1))
  }
}

/** The code of an error of the file system. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unreadable'
}

function refused(file: string, message: string): Invalid {
  return new Invalid([{ file, message }])
}

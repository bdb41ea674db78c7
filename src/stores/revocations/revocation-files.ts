import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FileState } from '../files/replace-file.ts'

/** The file of one process, and those of the others that run, or ran, beside it. */
export interface SnapshotLocation {
  /** What the names of all of them begin with. */
  readonly file: string
  /** The number of this process among several; `undefined` when it is alone. */
  readonly worker?: number | undefined
}

/**
 * Each worker has a file of its own: what it alone knows, because the store could not be reached,
 * must not be lost to what another one writes.
 */
export function ownFile({ file, worker }: SnapshotLocation): string {
  return worker === undefined ? file : `${file}.${worker}`
}

/** The files of all processes under this name. */
export async function findFiles({ file }: SnapshotLocation): Promise<readonly string[]> {
  const base = basename(file)
  const names = await readdir(dirname(file)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .filter((name) => name === base || isNumbered(name, base))
    .map((name) => join(dirname(file), name))
}

function isNumbered(name: string, base: string): boolean {
  return name.startsWith(`${base}.`) && /^\d{1,4}$/.test(name.slice(base.length + 1))
}

/**
 * Adds to a file in this state, waits for the disk, and gives its new state. `undefined`, and nothing
 * added, when the file is gone or in another state: it was cut, or another process wrote it.
 */
export async function appendTo(
  file: string,
  text: string,
  left: FileState,
): Promise<FileState | undefined> {
  const handle = await openPresent(file)
  if (handle === undefined) return undefined
  try {
    const { ino, size, mtimeMs } = await handle.stat()
    if (ino !== left.ino || size !== left.size || mtimeMs !== left.mtimeMs) return undefined
    await handle.writeFile(text)
    await handle.datasync()
    return await handle.stat()
  } finally {
    await handle.close()
  }
}

async function openPresent(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_WRONLY | constants.O_APPEND)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

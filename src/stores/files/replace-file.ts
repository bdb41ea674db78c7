import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ownerForNewFile } from './directory-owner.ts'

/** Shows whether a file is unchanged: new content changes at least one of these. */
export type FileState = Pick<Stats, 'ino' | 'size' | 'mtimeMs'>

/**
 * Replaces a file atomically, readable by its owner only: readers, and a restart after a crash, find
 * the old content or the new. Several processes may do so at once; the last one wins. Returns the
 * state of the new file.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array | readonly string[],
): Promise<FileState> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    const owner = await ownerForNewFile(dirname(file))
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
    await handle.writeFile(content)
    // A rename can reach the disk before the content does.
    await handle.sync()
    const state = await handle.stat()
    await handle.close()
    await rename(temporary, file)
    return state
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}

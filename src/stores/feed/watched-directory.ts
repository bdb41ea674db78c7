import { createHash } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fault, type FaultPart, Invalid } from '../../kernel/errors.ts'

/** How long files must be unchanged before they are loaded. */
const SETTLE_MS = 100
const MAX_READINGS = 20

/** The files of a directory at one moment. */
export interface Reading<File> {
  readonly files: readonly File[]
  /** Equal for equal files. */
  readonly checksum: string
}

export type WatchedDirectory<File extends object> = ReturnType<typeof createWatchedDirectory<File>>

interface WatchedDirectoryParts<File> {
  readonly directory: string
  /** Reads every file that counts, in name order, or throws `Invalid`. */
  readonly readFiles: (directory: string) => Promise<readonly File[]>
  /** The files that count, in a directory where others may change all the time. Unset: all. */
  readonly names?: readonly string[]
  /** Equal for equal files; by default that of their JSON text. */
  readonly checksumOf?: (files: readonly File[]) => Promise<string>
  /** The part that the Fault names when the files keep changing. */
  readonly part: FaultPart
}

/**
 * A directory that people and Kubernetes change while we run. A change is seen at once where the
 * system reports it, and at the next poll where it does not: Kubernetes replaces a link inside the
 * directory, others the directory itself. Files are compared by content, and used only when they have
 * not changed for a moment, so that a half-saved file is never loaded.
 */
export function createWatchedDirectory<File extends object>({
  directory,
  readFiles,
  names,
  checksumOf = checksumOfJson,
  part,
}: WatchedDirectoryParts<File>) {
  let onHint: (() => void) | undefined
  let watched: { readonly watcher: FSWatcher; readonly inode: number } | undefined

  async function rewatch(): Promise<void> {
    if (onHint === undefined) return
    try {
      const { ino: inode } = await stat(directory)
      // Meanwhile it may have been closed.
      if (watched?.inode === inode || onHint === undefined) return
      watched?.watcher.close()
      watched = undefined
      const hint = onHint
      const watcher = watch(directory, (_, name) => {
        if (mayConcern(name)) hint()
      })
      watcher.on('error', () => {
        watcher.close()
        if (watched?.watcher === watcher) watched = undefined
      })
      watched = { watcher, inode }
    } catch {
      // Missing, or no watches left: polling continues and reports what is wrong with the directory.
    }
  }

  /** Kubernetes replaces `..data`, a link that the files lead through. */
  function mayConcern(name: string | null): boolean {
    return name === null || names === undefined || names.includes(name) || name.startsWith('..')
  }

  async function readOnce(): Promise<Reading<File> | Invalid> {
    try {
      const files = await readFiles(directory)
      return { files, checksum: await checksumOf(files) }
    } catch (error) {
      if (error instanceof Invalid) return error
      throw error
    }
  }

  return {
    /** The files, or `undefined` when they have the known checksum. Throws when it cannot read them. */
    async read(known: string | undefined): Promise<Reading<File> | undefined> {
      for (let reading = 0; reading < MAX_READINGS; reading++) {
        const before = await fingerprint(directory, names)
        const found = await readOnce()
        if (!(found instanceof Invalid) && found.checksum === known) return undefined
        // At startup do not wait: an edit in progress causes a hint later.
        if (known !== undefined) await pause(SETTLE_MS)
        // Covers a link whose file is gone, too: Kubernetes removes it a moment later.
        if ((await fingerprint(directory, names)) !== before) continue
        if (found instanceof Invalid) throw found
        return found
      }
      throw new Fault(part, { reason: `the files in ${directory} keep changing` })
    },
    /** From now on, calls back when something may be new. A hint too many does no harm. */
    watch(hint: () => void) {
      onHint = hint
    },
    /** To be called every few seconds, so that hints keep coming. Never throws. */
    check: rewatch,
    async close() {
      onHint = undefined
      watched?.watcher.close()
    },
  }
}

async function checksumOfJson(files: readonly object[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(JSON.stringify(file))
  return hash.digest('hex')
}

/** Changes with every write in the directory, even one that restores the old content. */
async function fingerprint(
  directory: string,
  only: readonly string[] | undefined,
): Promise<string> {
  try {
    const names = only ?? (await readdir(directory)).sort()
    const parts = await Promise.all(names.map((name) => fingerprintOf(join(directory, name))))
    return parts.map((part, at) => `${names[at]}:${part}`).join()
  } catch (error) {
    return String(error)
  }
}

async function fingerprintOf(file: string): Promise<string> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    return `${ino}:${mtimeNs}:${size}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable'
  }
}

import { createHash } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fault, Invalid } from '../errors.ts'
import { readPolicyFiles } from './policy-files.ts'
import type { Offer, PolicySource } from './policy-source.ts'

/** How long files must have stayed the same before they are taken for what was meant. */
const SETTLE_MS = 100
const MOST_READINGS = 20

/**
 * A policy directory as a source. A change is seen at once where the system tells of it, and at
 * the next poll where it does not: Kubernetes replaces a link inside the directory, others the
 * directory itself. Files are compared by content, and taken only when nobody wrote to them for a
 * moment, so that no half-saved work comes into force.
 */
export function createPolicyDirectory(directory: string): PolicySource {
  let onHint: (() => void) | undefined
  let watched: { readonly watcher: FSWatcher; readonly inode: number } | undefined

  async function rewatch(): Promise<void> {
    if (onHint === undefined) return
    try {
      const { ino: inode } = await stat(directory)
      if (watched?.inode === inode) return
      watched?.watcher.close()
      watched = undefined
      const watcher = watch(directory, onHint)
      watcher.on('error', () => {
        watcher.close()
        if (watched?.watcher === watcher) watched = undefined
      })
      watched = { watcher, inode }
    } catch {
      // Away, or no watches left: polling goes on, and tells what is wrong with the directory.
    }
  }

  return {
    name: 'files',
    async read(known): Promise<Offer | undefined> {
      for (let reading = 0; reading < MOST_READINGS; reading++) {
        const before = await fingerprint(directory)
        const offer = await readOffer(directory)
        if (offer instanceof Invalid) {
          // A file that was there a moment ago is no error yet.
          if ((await fingerprint(directory)) !== before) continue
          throw offer
        }
        if (offer.checksum === known?.checksum) return undefined
        // At the start there is nothing to wait for: whoever edits now causes a hint later.
        if (known !== undefined) await pause(SETTLE_MS)
        if ((await fingerprint(directory)) === before) return offer
      }
      throw new Fault('policies', { reason: `the files in ${directory} keep changing` })
    },
    watch(hint) {
      onHint = hint
    },
    check: rewatch,
    async close() {
      onHint = undefined
      watched?.watcher.close()
    },
  }
}

async function readOffer(directory: string): Promise<Offer | Invalid> {
  try {
    const files = await readPolicyFiles(directory)
    const hash = createHash('sha256')
    for (const { name, text } of files) hash.update(JSON.stringify([name, text]))
    return { files, checksum: hash.digest('hex') }
  } catch (error) {
    if (error instanceof Invalid) return error
    throw error
  }
}

/** Changes with whatever is written in the directory, also when it ends as it was. */
async function fingerprint(directory: string): Promise<string> {
  try {
    const names = (await readdir(directory)).sort()
    const stats = await Promise.all(
      names.map((name) => stat(join(directory, name), { bigint: true })),
    )
    return stats
      .map(({ ino, mtimeNs, size }, at) => `${names[at]}:${ino}:${mtimeNs}:${size}`)
      .join()
  } catch (error) {
    return String(error)
  }
}

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { createWatchedDirectory } from '../feed/watched-directory.ts'
import { largeBytes } from './document/stored-text.ts'
import { fileOf, readPolicyBytes } from './policy-files.ts'
import type { PolicySource } from './policy-source.ts'
import type { PolicyBytes } from './policy-task.ts'
import { createPolicyThreads } from './policy-threads.ts'

/** A policy directory as a source. */
export function createPolicyDirectory(directory: string): PolicySource {
  const threads = createPolicyThreads()
  const watched = createWatchedDirectory({
    directory,
    readFiles: readPolicyBytes,
    checksumOf: checksumInPieces,
    part: 'policies',
  })
  return {
    ...watched,
    name: 'files',
    async read(known, signal) {
      const reading = await watched.read(known?.checksum)
      if (reading === undefined) return undefined
      const { files, checksum } = reading
      // At the start there are no requests to delay.
      if (sizeOf(files) < largeBytes || known === undefined || !threads.usable()) {
        return { files: files.map(fileOf), checksum }
      }
      return { loading: threads.start({ kind: 'files', files }, signal), checksum }
    },
  }
}

/** So many bytes are hashed before requests get their turn. */
const pieceBytes = 128 * 1024

async function checksumInPieces(files: readonly PolicyBytes[]): Promise<string> {
  const hash = createHash('sha256')
  for (const { name, bytes } of files) {
    hash.update(JSON.stringify([name, bytes.length]))
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      if (start > 0) await setImmediate()
      hash.update(bytes.subarray(start, start + pieceBytes))
    }
  }
  return hash.digest('hex')
}

function sizeOf(files: readonly PolicyBytes[]): number {
  return files.reduce((size, { bytes }) => size + bytes.length, 0)
}

import { open } from 'node:fs/promises'
import type { Known } from './policy-source.ts'

/** The checksum of the file, and what `formatSnapshot` writes before the files. */
const head =
  /^[0-9a-f]{64}\n\{"revision":"(?<revision>r-[0-9a-f]+)","sequence":(?<sequence>\d{1,16}),"checksum":"(?<checksum>[^"\\]{1,256})"/

/** What a snapshot file claims to hold, and its size. */
export interface SnapshotHead extends Known {
  readonly bytes: number
}

/** Reads only the beginning; `undefined` when that does not say which revision it is. */
export async function readSnapshotHead(file: string): Promise<SnapshotHead | undefined> {
  try {
    const handle = await open(file, 'r')
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0)
      const known = knownOf(buffer.toString('latin1', 0, bytesRead))
      return known && { ...known, bytes: (await handle.stat()).size }
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}

function knownOf(text: string): Known | undefined {
  const { revision, sequence, checksum } = head.exec(text)?.groups ?? {}
  if (revision === undefined || checksum === undefined) return undefined
  return { revision, sequence: Number(sequence), checksum }
}

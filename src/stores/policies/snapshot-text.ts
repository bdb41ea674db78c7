import { hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { hasStrings, readJson } from '../json-text.ts'
import { isRevision } from './document/policy-document.ts'
import type { Known, Offer } from './policy-source.ts'

/** The text under which an offer is kept: the checksum of what follows comes first. */
export function formatSnapshot({ files, checksum, revision, sequence }: Offer): string {
  const texts = files.map(({ name, text }) => ({ name, text }))
  const body = JSON.stringify({ revision, sequence, checksum, files: texts })
  return `${hash('sha256', body)}\n${body}`
}

/** Reads that text; `undefined` when it does not fit its checksum or has another form. */
export function parseSnapshot(text: string): Offer | undefined {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || hash('sha256', body) !== text.slice(0, end)) return undefined
  const value = readJson(body)
  return isOffer(value) ? value : undefined
}

function isOffer(value: unknown): value is Offer {
  if (!hasStrings(value, ['revision', 'checksum']) || !isRevision(value['revision'])) return false
  const { files, sequence } = value
  if (!Number.isSafeInteger(sequence) || !Array.isArray(files)) return false
  return files.every((file) => hasStrings(file, ['name', 'text']))
}

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

import { hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Fault } from '../../kernel/errors.ts'
import { hasStrings, readJson } from '../../kernel/json.ts'
import { readSigned, type Signed } from '../../signing/statement.ts'
import { isSequence } from '../latest-time.ts'
import { isRevision, parseDocument } from './document/policy-document.ts'
import type { Offer } from './policy-source.ts'

/**
 * The text under which an offer is kept: the checksum of what follows comes first. What is signed is
 * kept as the document that the signatures are about, and can be verified again.
 */
export function formatSnapshot(offer: Offer): string {
  const { files, checksum, revision, sequence, author, verified, document } = offer
  const texts = files.map(({ name, text }) => ({ name, text }))
  const content =
    verified === undefined || document === undefined
      ? { author, files: texts }
      : { serial: verified.statement.serial, signed: verified.signed, document }
  const body = JSON.stringify({ revision, sequence, checksum, ...content })
  return `${hash('sha256', body)}\n${body}`
}

/** Reads that text; `undefined` when it does not fit its checksum or has another form. */
export function parseSnapshot(text: string): KeptOffer | undefined {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || hash('sha256', body) !== text.slice(0, end)) return undefined
  const value = readJson(body)
  return isSignedOffer(value) ? signedOffer(value) : isOffer(value) ? value : undefined
}

/** What was kept; its signatures are not verified. */
export interface KeptOffer extends Offer {
  readonly revision: string
  readonly signed?: Signed
}

interface StoredSigned {
  readonly revision: string
  readonly sequence: number
  readonly checksum: string
  readonly document: string
  readonly signed: unknown
}

function isSignedOffer(value: unknown): value is StoredSigned {
  if (!hasStrings(value, ['revision', 'checksum', 'document'])) return false
  return isRevision(value['revision']) && Number.isSafeInteger(value['sequence'])
}

function signedOffer(stored: StoredSigned): KeptOffer | undefined {
  const { revision, sequence, document } = stored
  const signed = readSigned(stored.signed)
  try {
    const { files, checksum } = parseDocument(document, revision)
    if (checksum !== stored.checksum) return undefined
    return { files, checksum, revision, sequence, document, ...(signed && { signed }) }
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

function isOffer(value: unknown): value is KeptOffer {
  if (!hasStrings(value, ['revision', 'checksum']) || !isRevision(value['revision'])) return false
  const { files, sequence, author } = value
  if (author !== undefined && typeof author !== 'string') return false
  if (!isSequence(sequence) || !Array.isArray(files)) return false
  return files.every((file) => hasStrings(file, ['name', 'text']))
}

/** The checksum of the file, and what `formatSnapshot` writes before the files. */
const head =
  /^[0-9a-f]{64}\n\{"revision":"(?<revision>r-[0-9a-f]+)","sequence":(?<sequence>\d{1,16}),"checksum":"(?<checksum>[^"\\]{1,256})"(?:,"serial":(?<serial>\d{1,16}))?/

/** Which offer a snapshot is of. */
export interface SnapshotIdentity {
  readonly checksum: string
  readonly revision?: string
  readonly sequence?: number
  /** The serial of the signed statement. */
  readonly serial?: number
}

/** What a snapshot file claims to hold, and its size. */
export interface SnapshotHead extends SnapshotIdentity {
  readonly bytes: number
}

/** Reads only the beginning; `undefined` when that does not say which revision it is. */
export async function readSnapshotHead(file: string): Promise<SnapshotHead | undefined> {
  try {
    const handle = await open(file, 'r')
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0)
      const known = identityIn(buffer.toString('latin1', 0, bytesRead))
      return known && { ...known, bytes: (await handle.stat()).size }
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}

function identityIn(text: string): SnapshotIdentity | undefined {
  const { revision, sequence, checksum, serial } = head.exec(text)?.groups ?? {}
  if (revision === undefined || checksum === undefined) return undefined
  const found = { revision, sequence: Number(sequence), checksum }
  return serial === undefined ? found : { ...found, serial: Number(serial) }
}

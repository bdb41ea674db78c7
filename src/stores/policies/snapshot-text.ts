import { hash } from 'node:crypto'
import { hasStrings, readJson } from '../json-text.ts'
import { isRevision } from './document/policy-document.ts'
import type { Offer } from './policy-source.ts'

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

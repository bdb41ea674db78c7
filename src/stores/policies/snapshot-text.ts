import { createHash, hash } from 'node:crypto'
import { finish, type Steps } from '../../policy/rule/steps.ts'
import { hasTexts, readJson } from '../json-text.ts'
import { isRevision } from './document/policy-document.ts'
import { slicesOf } from './document/text-slices.ts'
import type { Offer } from './policy-source.ts'

/** The text under which an offer is kept: the checksum of what follows comes first. */
export function formatSnapshot(offer: Offer): string {
  return finish(formatSnapshotInSteps(offer)).join('')
}

/** What `formatSnapshot` answers, in steps and in pieces. */
export function* formatSnapshotInSteps(offer: Offer): Steps<readonly string[]> {
  const { files, checksum, revision, sequence } = offer
  const rest = JSON.stringify({ revision, sequence, checksum })
  const pieces = [`${rest.slice(0, -1)},"files":[`]
  for (const [index, { name, text }] of files.entries()) {
    pieces.push(`${index === 0 ? '' : ','}{"name":${JSON.stringify(name)},"text":"`)
    for (const slice of slicesOf(text)) {
      pieces.push(JSON.stringify(slice).slice(1, -1))
      yield
    }
    pieces.push('"}')
  }
  pieces.push(']}')

  const sum = createHash('sha256')
  for (const piece of pieces) {
    sum.update(piece)
    yield
  }
  return [`${sum.digest('hex')}\n`, ...pieces]
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
  if (!hasTexts(value, ['revision', 'checksum']) || !isRevision(value['revision'])) return false
  const { files, sequence } = value
  if (!Number.isSafeInteger(sequence) || !Array.isArray(files)) return false
  return files.every((file) => hasTexts(file, ['name', 'text']))
}

import { createHash, hash } from 'node:crypto'
import { basename } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Fault, formatProblem, Invalid } from '../../../kernel/errors.ts'
import { hasStrings, readJson } from '../../../kernel/json.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../../policy/set/policy-set.ts'

/** One revision of the policies as stored: complete, verified by its checksum, never changed. */
export interface PolicyDocument {
  readonly revision: string
  /** `model.conf`, `*.csv` and `exclusions.yaml`, by base name. */
  readonly files: readonly PolicyFile[]
  readonly author: string
  readonly message: string
  /** RFC 3339. */
  readonly at: string
  /** The revision that was active when this one was created. */
  readonly parent: string | undefined
  /** SHA-256, in hexadecimal, over the JSON text of the rest. */
  readonly checksum: string
}

/** Who publishes, why, after what and when. */
interface Authorship {
  readonly author: string
  readonly message: string
  readonly parent: string | undefined
  readonly now: Date
}

/** Creates a document from policy files. Throws `Invalid` when they are not a valid policy. */
export function createDocument(
  files: readonly PolicyFile[],
  { author, message, parent, now }: Authorship,
): PolicyDocument {
  const { revision } = parsePolicySet(files)
  const content = {
    revision,
    files: files
      .filter(({ name }) => /(?:\.conf|\.csv|\.yaml)$/.test(name))
      .map(({ name, text }) => ({ name: basename(name), text })),
    author,
    message,
    at: now.toISOString(),
    parent,
  }
  return { ...content, checksum: checksumOf(JSON.stringify(content)) }
}

/** The text under which a document is stored; its checksum, over all that precedes, comes last. */
export function formatDocument({ checksum, ...content }: PolicyDocument): string {
  return JSON.stringify({ ...content, checksum })
}

/**
 * Reads a stored document and verifies it. Throws a Fault on anything that is cut short, altered,
 * or filed under the wrong revision.
 */
export function parseDocument(text: string, revision: string): PolicyDocument {
  const document = readJson(text)
  if (!isDocument(document)) throw broken(revision, 'not a policy document')
  const ending = `,"checksum":"${document.checksum}"}`
  const content = `${text.slice(0, -ending.length)}}`
  if (!text.endsWith(ending) || checksumOf(content) !== document.checksum) {
    throw broken(revision, 'checksum mismatch')
  }
  if (document.revision !== revision) throw broken(revision, `it belongs to ${document.revision}`)
  return document
}

/**
 * The checksum of a document as stored, whatever it claims, in steps that let requests pass: over all but
 * the checksum at its end, as `parseDocument` computes it.
 */
export async function checksumOfStored(pieces: readonly Uint8Array[]): Promise<string> {
  const digest = createHash('sha256')
  let left = pieces.reduce((size, { length }) => size + length, 0) - endingLength
  for (const piece of pieces) {
    digest.update(piece.subarray(0, Math.max(0, left)))
    left -= piece.length
    await nextTurn()
  }
  return digest.update('}').digest('hex')
}

/** Of `,"checksum":"…"}` with 64 digits. */
const endingLength = 79

/**
 * The policy of a document. Throws a Fault when it is invalid, which a checksum does not show, or has
 * another revision.
 */
export function policyOf({ revision, files }: PolicyDocument): PolicySet {
  const set = parsed(files, revision)
  if (set.revision !== revision)
    throw broken(revision, `revision mismatch, its content is ${set.revision}`)
  return set
}

function parsed(files: readonly PolicyFile[], revision: string): PolicySet {
  try {
    return parsePolicySet(files)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const [first] = error.problems
    throw broken(revision, first === undefined ? error.message : formatProblem(first))
  }
}

/** Whether this is the name of a revision, as `policy-set.ts` gives them. */
export function isRevision(value: unknown): value is string {
  return typeof value === 'string' && /^r-[0-9a-f]{12,64}$/.test(value)
}

function checksumOf(content: string): string {
  return hash('sha256', content)
}

function isDocument(value: unknown): value is PolicyDocument {
  if (!hasStrings(value, ['author', 'message', 'at', 'checksum'])) return false
  const { revision, parent, files } = value
  if (!isRevision(revision) || !(parent === undefined || typeof parent === 'string')) return false
  return Array.isArray(files) && files.every((file) => hasStrings(file, ['name', 'text']))
}

function broken(revision: string, why: string): Fault {
  return new Fault('redis', { reason: `the policy document of ${revision} is invalid: ${why}` })
}

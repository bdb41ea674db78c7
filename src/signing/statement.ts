import { isRecord, readJson } from '../kernel/json.ts'

/** Where a policy decides: for every request, or beside the live one without effect. */
export type Purpose = 'live' | 'shadow'

/** The policy that the signers saw when they signed its successor. */
export interface Predecessor {
  readonly revision: string
  readonly serial: number
}

/** What is signed: which document may be used for what, after what, and who says why. */
export interface Statement {
  readonly version: 1
  readonly purpose: Purpose
  readonly revision: string
  /** The checksum of the stored document. */
  readonly document: string
  /** `null` for the first one. */
  readonly after: Predecessor | null
  /** The time of its creation in milliseconds, and above the serial of its predecessor. */
  readonly serial: number
  readonly author: string
  readonly message: string
  /** RFC 3339. */
  readonly at: string
}

/** A statement as exact text, which is never written anew, and its signatures. */
export interface Signed {
  readonly statement: string
  readonly signatures: readonly string[]
}

export const maxStatement = 16_384
export const maxSignatures = 32

/** The namespace of its signatures, which `ssh-keygen -n` takes. */
export function namespaceOf(purpose: Purpose): `postern-policy-${Purpose}` {
  return `postern-policy-${purpose}`
}

/** What a statement says, apart from its order. */
interface StatementParts extends Pick<Statement, 'purpose' | 'after' | 'author' | 'message'> {
  readonly document: { readonly revision: string; readonly checksum: string }
  readonly now: Date
}

/** The text to sign for a document; `undefined` when author and message are too long together. */
export function createStatement(parts: StatementParts): string | undefined {
  const { purpose, after, author, message, document, now } = parts
  const text = formatStatement({
    version: 1,
    purpose,
    revision: document.revision,
    document: document.checksum,
    after,
    // A clock that ran ahead may have made the predecessor.
    serial: Math.max(now.getTime(), (after?.serial ?? 0) + 1),
    author,
    message,
    at: now.toISOString(),
  })
  return parseStatement(text) === undefined ? undefined : text
}

/** The text to sign: one form for each statement. */
export function formatStatement(statement: Statement): string {
  const { version, purpose, revision, document, after, serial, author, message, at } = statement
  return JSON.stringify({
    version,
    purpose,
    revision,
    document,
    after: after && { revision: after.revision, serial: after.serial },
    serial,
    author,
    message,
    at,
  })
}

/**
 * Reads a statement; `undefined` for any text that `formatStatement` does not write. So no field can
 * appear twice, and people who read the text see what Postern sees.
 */
export function parseStatement(text: string): Statement | undefined {
  if (text.length > maxStatement) return undefined
  const value = readJson(text)
  return isStatement(value) && formatStatement(value) === text ? value : undefined
}

function isStatement(value: unknown): value is Statement {
  if (!isRecord(value)) return false
  const { version, purpose, revision, document, after, serial, author, message, at } = value
  return (
    version === 1 &&
    (purpose === 'live' || purpose === 'shadow') &&
    isPredecessor({ revision, serial }) &&
    typeof document === 'string' &&
    /^[0-9a-f]{64}$/.test(document) &&
    (after === null || (isRecord(after) && isPredecessor(after))) &&
    [author, message, at].every((text) => typeof text === 'string')
  )
}

function isPredecessor({ revision, serial }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof revision === 'string' &&
    /^r-[0-9a-f]{12,64}$/.test(revision) &&
    Number.isSafeInteger(serial) &&
    Number(serial) > 0 &&
    // The next serial must be a safe integer too.
    Number(serial) < Number.MAX_SAFE_INTEGER
  )
}

/**
 * The signed statement under `signed` in stored JSON; `undefined` when the field is absent. One that
 * is malformed or too large becomes one that no trust accepts: it must not hide behind "unsigned".
 */
export function readSigned(value: unknown): Signed | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value)) return unusable
  const { statement, signatures } = value
  if (typeof statement !== 'string' || statement.length > maxStatement) return unusable
  if (!Array.isArray(signatures) || signatures.length > maxSignatures) return unusable
  if (!signatures.every((one) => typeof one === 'string')) return unusable
  return { statement, signatures }
}

const unusable: Signed = { statement: '', signatures: [] }

import { Refusal } from '../errors.ts'
import { maxPasswordBytes } from './passwords/password-rules.ts'

/** The validated fields of a login. */
export interface LoginRequest {
  readonly username: string
  readonly password: string
  readonly uuid: string
  readonly code: string
}

/** An unvalidated login request. */
export interface LoginBody {
  readonly contentType: string | undefined
  /** `undefined` when the body was too large or incomplete. */
  readonly bytes: Uint8Array | undefined
}

/** Binds and validates: a JSON object with four non-empty strings, in dev mode too. Others are ignored. */
export function bindLoginRequest({ contentType, bytes }: LoginBody): LoginRequest {
  if (!isJson(contentType)) throw bad('the content type is not application/json')
  if (bytes === undefined) throw bad('the body is too large, or was cut short')
  const fields = parseFields(bytes)

  const username = field(fields, 'username', 128)
  const password = field(fields, 'password', maxPasswordBytes)
  const uuid = field(fields, 'uuid', 128)
  const code = field(fields, 'code', 32)
  return { username, password, uuid, code }
}

/** The attempted name, for the record of an attempt that failed validation. */
export function attemptedName({ bytes }: LoginBody): string {
  try {
    const name = bytes === undefined ? undefined : parseFields(bytes).get('username')
    return typeof name === 'string' ? name.slice(0, 128) : ''
  } catch {
    return ''
  }
}

/** One type, exactly: odd content types have made servers skip their checks (CVE-2026-25223). */
function isJson(contentType: string | undefined): boolean {
  return /^application\/json(?:; ?charset=utf-8)?$/i.test(contentType ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseFields(bytes: Uint8Array): ReadonlyMap<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw bad('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad('the body is not a JSON object')
  }
  // In a Map of own members `__proto__` is a name like any other.
  return new Map(Object.entries(value))
}

function field(fields: ReadonlyMap<string, unknown>, name: string, maxBytes: number): string {
  const value = fields.get(name)
  if (typeof value !== 'string' || value === '') throw bad(`${name} is missing`)
  if (Buffer.byteLength(value) > maxBytes) throw bad(`${name} is too long`)
  // C strings end at NUL: a hash of "a\0b" could be one of "a".
  if (value.includes('\0') || !value.isWellFormed()) throw bad(`${name} is not plain text`)
  return value
}

function bad(reason: string): Refusal {
  return new Refusal('bad-login-request', { reason })
}

import { Refusal } from '../errors.ts'

/** The unvalidated body of a request to one of our endpoints. */
export interface JsonBody {
  readonly contentType: string | undefined
  /** `undefined` when the body was too large or incomplete. */
  readonly bytes: Uint8Array | undefined
}

type BadRequest = 'bad-login-request' | 'bad-password-request'

/** The members of a JSON object. Everything else is refused as `kind`. */
export function readJsonFields({ contentType, bytes }: JsonBody, kind: BadRequest): JsonFields {
  if (!isJson(contentType)) {
    throw new Refusal(kind, { reason: 'the content type is not application/json' })
  }
  if (bytes === undefined) {
    throw new Refusal(kind, { reason: 'the body is too large, or was cut short' })
  }
  return parseJsonFields(bytes, kind)
}

export function parseJsonFields(bytes: Uint8Array, kind: BadRequest): JsonFields {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Refusal(kind, { reason: 'the body is not JSON' })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(kind, { reason: 'the body is not a JSON object' })
  }
  return new JsonFields(kind, value)
}

class JsonFields {
  readonly #kind: BadRequest
  /** In a Map of own members `__proto__` is a name like any other. */
  readonly #fields: ReadonlyMap<string, unknown>

  constructor(kind: BadRequest, value: object) {
    this.#kind = kind
    this.#fields = new Map(Object.entries(value))
  }

  get(name: string): unknown {
    return this.#fields.get(name)
  }

  /** Any text. */
  string(name: string): string {
    const value = this.#fields.get(name)
    if (typeof value !== 'string') throw this.#bad(`${name} is missing`)
    return value
  }

  /** A text that is not empty and that a database and bcrypt read as we do. */
  text(name: string, maxBytes: number): string {
    const value = this.string(name)
    if (value === '') throw this.#bad(`${name} is missing`)
    if (Buffer.byteLength(value) > maxBytes) throw this.#bad(`${name} is too long`)
    // C strings end at NUL: a hash of "a\0b" could be one of "a".
    if (value.includes('\0') || !value.isWellFormed()) throw this.#bad(`${name} is not plain text`)
    return value
  }

  #bad(reason: string): Refusal {
    return new Refusal(this.#kind, { reason })
  }
}

/** One type, exactly: odd content types have made servers skip their checks (CVE-2026-25223). */
function isJson(contentType: string | undefined): boolean {
  return /^application\/json(?:; ?charset=utf-8)?$/i.test(contentType ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

import { Refusal } from '../kernel/errors.ts'

export type BadRequest = 'bad-login-request' | 'bad-password-request'

/** The named values of a request to one of our endpoints, of any type until they are read. */
export class Fields {
  readonly #kind: BadRequest
  /** In a Map of own members `__proto__` is a name like any other. */
  readonly #fields: ReadonlyMap<string, unknown>

  constructor(kind: BadRequest, fields: Iterable<readonly [string, unknown]>) {
    this.#kind = kind
    this.#fields = new Map(fields)
  }

  /** A copy of the fields with these values added. */
  with(fields: Iterable<readonly [string, unknown]>): Fields {
    return new Fields(this.#kind, [...this.#fields, ...fields])
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

  /** `text`, or `undefined` where the field is absent, null or empty, as in a form left blank. */
  optionalText(name: string, maxBytes: number): string | undefined {
    const value = this.#fields.get(name)
    if (value === undefined || value === null || value === '') return undefined
    return this.text(name, maxBytes)
  }

  #bad(reason: string): Refusal {
    return new Refusal(this.#kind, { reason })
  }
}

/** An answer that is an error. */
export class Problem extends Error {
  readonly status: number
  /** Which refusal or fault it is, such as `urn:postern:problem:confirmation-needed`. */
  readonly type: string
  /** The type in one word; `undefined` where the status says it. */
  readonly kind: string | undefined
  /** What is wrong, line by line. */
  readonly messages: readonly string[]
  /** The document of the response, for callers that know more about it. */
  readonly body: unknown

  constructor(status: number, body: unknown) {
    const { type, detail, errors } = Object(body) as Readonly<Record<string, unknown>>
    const entries = Array.isArray(errors) ? (errors as readonly Entry[]) : []
    const messages = entries.flatMap(({ message }) => textIn(message))
    const [about = `HTTP status ${status}`] = textIn(detail)
    super(messages.length === 0 ? about : messages.join('\n'))
    this.name = 'Problem'
    this.status = status
    // RFC 9457: a problem without a type is no more than its status.
    this.type = textIn(type)[0] ?? 'about:blank'
    this.kind = textIn(entries[0]?.kind)[0]
    this.messages = messages
    this.body = body
  }
}

interface Entry {
  readonly message?: unknown
  readonly kind?: unknown
}

function textIn(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : []
}

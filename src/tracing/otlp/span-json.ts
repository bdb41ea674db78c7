import type { SpanAttributes } from '../span-attributes.ts'

/** SpanKind of OTLP. */
export const SERVER = 2
export const CLIENT = 3

const ERROR = 2
/** Bits of `flags`: it is known whether the parent is remote, and the parent is. */
const KNOWS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** A span that has ended. */
interface FinishedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly isParentRemote: boolean
  readonly flags: number
  readonly state: string | undefined
  readonly name: string
  readonly kind: typeof SERVER | typeof CLIENT
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: SpanAttributes
  readonly error: string | undefined
}

/** A span in the JSON form of OTLP. Written by hand: two of them are made for each request. */
export function toSpanJson(span: FinishedSpan): string {
  const { traceId, spanId, parentId, state, name, kind, error } = span
  const flags = span.flags | KNOWS_REMOTE | (span.isParentRemote ? IS_REMOTE : 0)
  const parent = parentId === undefined ? '' : `,"parentSpanId":"${parentId}"`
  const traceState = state === undefined ? '' : `,"traceState":${JSON.stringify(state)}`
  const times = `"startTimeUnixNano":"${toNanoseconds(span.startMs)}","endTimeUnixNano":"${toNanoseconds(span.endMs)}"`
  const attributes = toAttributes({ ...span.attributes, 'error.type': error })
  const status = error === undefined ? '' : `,"status":{"code":${ERROR}}`
  return `{"traceId":"${traceId}","spanId":"${spanId}"${parent}${traceState},"flags":${flags},"name":${JSON.stringify(name)},"kind":${kind},${times},"attributes":${attributes}${status}}`
}

/** What the spans of one export have in common. */
interface Source {
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
}

/** What comes before and after the spans of an export, which are separated by commas. */
export function toFrame({ resource, version }: Source): readonly [string, string] {
  const attributes = toAttributes(resource)
  const scope = JSON.stringify({ name: 'postern', version })
  return [
    `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${scope},"spans":[`,
    ']}]}]}',
  ]
}

/** The JSON form of Protocol Buffers writes 64-bit integers as text. */
function toAttributes(attributes: SpanAttributes): string {
  let text = ''
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined) continue
    const typed =
      typeof value === 'number'
        ? `{"intValue":"${value}"}`
        : `{"stringValue":${JSON.stringify(value)}}`
    text += `${text === '' ? '' : ','}{"key":${JSON.stringify(key)},"value":${typed}}`
  }
  return `[${text}]`
}

/** As text: a number has too few digits. */
function toNanoseconds(ms: number): string {
  const whole = Math.floor(ms)
  const rest = Math.floor((ms - whole) * 1_000_000)
  return `${whole}${String(rest).padStart(6, '0')}`
}

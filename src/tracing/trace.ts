import { randomFillSync } from 'node:crypto'

/** The place of a request in a trace: the trace, and the gateway's own span. */
export interface Trace {
  readonly traceId: string
  readonly spanId: string
  /** The two lowest bits of W3C Trace Context level 2: sampled, random. */
  readonly flags: number
  /** Data of upstream tracing systems, to be passed on. */
  readonly state: string | undefined
}

/** Version, trace, span and flags; later versions may append a hyphen and more. */
const form = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

const nothing = /^0+$/

/**
 * Reads traceparent and tracestate by W3C Trace Context level 2. Ignores both if traceparent is
 * malformed, all zero, repeated, or longer than version 00 allows.
 */
export function readTrace(parent: string, state: string | undefined): Trace | undefined {
  // Later versions may be longer, but not by this much.
  if (parent.length > 512) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(parent) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  if (nothing.test(traceId) || nothing.test(spanId)) return undefined
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & 3,
    state: state === undefined ? undefined : readState(state),
  }
}

/** The value of traceparent, in version 00. */
export function formatTrace({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-0${flags & 3}`
}

const mostMembers = 32
const mostStateLength = 512
const longMember = 128
const member = /^[a-z\d][a-z\d_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/

/** The whole tracestate, shortened by the standard; `undefined` if any part is malformed. */
function readState(text: string): string | undefined {
  const members = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (members.length === 0 || members.length > mostMembers) return undefined
  if (!members.every((one) => member.test(one))) return undefined
  return shortened(members).join(',') || undefined
}

/** W3C Trace Context 3.3.1.5: drops long members first, then the oldest. */
function shortened(members: readonly string[]): readonly string[] {
  let left = [...members]
  const isTooLong = () => left.join(',').length > mostStateLength
  if (isTooLong()) left = left.filter((one) => one.length <= longMember)
  while (isTooLong()) left.pop()
  return left
}

const idBytes = 8
const pool = Buffer.alloc(idBytes * 512)
let used = pool.length

/** A new span ID. Random bytes come from a pool: a call for each ID is expensive. */
export function newSpanId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const id = pool.toString('hex', used, used + idBytes)
  used += idBytes
  return nothing.test(id) ? newSpanId() : id
}

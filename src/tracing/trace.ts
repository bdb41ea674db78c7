import { randomFillSync } from 'node:crypto'

/** The place of a request in a trace: which one it is, and which span in it is ours. */
export interface Trace {
  readonly traceId: string
  readonly spanId: string
  /** The two lowest bits of W3C Trace Context level 2: sampled, random. */
  readonly flags: number
  /** What tracing systems before us want to be passed on. */
  readonly state: string | undefined
}

/** Version, trace, span and flags; what a later version has behind them begins with a hyphen. */
const form = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

const nothing = /^0+$/

/**
 * Reads traceparent and tracestate by W3C Trace Context level 2. What is malformed, all zero, there
 * twice or longer than version 00 allows is no trace, and tracestate then says nothing either.
 */
export function readTrace(parent: string, state: string | undefined): Trace | undefined {
  // A version that is not known yet may be longer, but nothing needs this much.
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

/** The text of traceparent, in the one version there is. */
export function formatTrace({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-0${flags & 3}`
}

const mostMembers = 32
const mostStateLength = 512
const longMember = 128
const member = /^[a-z\d][a-z\d_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/

/** All of it, or nothing when a part of it is malformed; shortened as the standard says. */
function readState(text: string): string | undefined {
  const members = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (members.length === 0 || members.length > mostMembers) return undefined
  if (!members.every((one) => member.test(one))) return undefined
  return shortened(members).join(',') || undefined
}

/** W3C Trace Context 3.3.1.5: long members go first, then those that have been there longest. */
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

/** An ID for a span of ours. Drawn from a pool, since asking for every few bytes costs a call. */
export function newSpanId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const id = pool.toString('hex', used, used + idBytes)
  used += idBytes
  return nothing.test(id) ? newSpanId() : id
}

import { type PooledBuffer, takeBuffer } from './buffer-pool.ts'
import { type ChunkReader, createChunkReader } from './chunks.ts'
import { agreesTo, type Framing, type ResponseHead, readHead } from './response-head.ts'
import { Malformed } from './wire-error.ts'

/** The limit of Node's own parser. */
const maxHeadBytes = 16_384
/** A response that arrives at once and is not longer is delivered with `complete`. */
export const maxComplete = 16_384
/** For all interim responses together. The response timeout bounds how long they may come. */
export const maxInterimBytes = 65_536

const headEnd = Buffer.from('\r\n\r\n')
const start = Buffer.from('HTTP/1.')
const nothing = Buffer.alloc(0)

interface ResponseEvents {
  complete(head: ResponseHead, body: string): void
  head(head: ResponseHead): void
  /** The listener owns the chunk until it calls `release`. */
  data(chunk: Buffer, release: PooledBuffer['release']): void
  /** The server switched protocols; `rest` are the first bytes of the new one. */
  switched(head: ResponseHead, rest: Buffer): void
}

/** `more`: the response is incomplete. `done`: it is complete. `excess`: bytes follow it. */
export type Progress = 'more' | 'done' | 'excess'

/** Reads the responses of a connection, one after the other. Throws Malformed. */
export type ResponseReader = ReturnType<typeof createResponseReader>

const noTrailers: readonly string[] = []

/** For one connection. */
export function createResponseReader(events: ResponseEvents) {
  let method = ''
  let upgrade: string | undefined
  let interimBytes = 0
  /** An incomplete head. */
  let carried: Buffer = nothing
  let head: ResponseHead | undefined
  let left = 0
  let chunks: ChunkReader | undefined
  let streamed = false
  /** The part of the body in the current read, and the buffer that holds it. */
  let data: Buffer = nothing
  let buffer: PooledBuffer | undefined

  /** Where the final head ends, or -1 while it is incomplete. */
  function readFinalHead(bytes: Buffer): number {
    let from = 0
    for (;;) {
      const end = bytes.indexOf(headEnd, from)
      if (end - from > maxHeadBytes) throw new Malformed('response headers too large')
      if (end === -1) {
        carry(bytes.subarray(from))
        return -1
      }
      const next = readHead(bytes.toString('latin1', from, end), method)
      const length = end + headEnd.length - from
      from += length
      if (next.status >= 200) {
        head = next
        return from
      }
      countInterim(next, length)
      if (next.status === 101) {
        head = next
        return from
      }
      if (from === bytes.length) return -1
    }
  }

  function carry(rest: Buffer): void {
    if (rest.length > maxHeadBytes) throw new Malformed('response headers too large')
    const compared = Math.min(rest.length, start.length)
    // Otherwise we would wait for a server that speaks another protocol.
    if (rest.compare(start, 0, compared, 0, compared) !== 0) {
      throw new Malformed('not an HTTP/1.1 response')
    }
    // With bare LFs, the CRLF CRLF that we look for would never come.
    const lineEnd = rest.indexOf('\n')
    if (lineEnd !== -1 && rest[lineEnd - 1] !== 0x0d)
      throw new Malformed('header line ends in a bare LF')
    carried = Buffer.from(rest)
  }

  function countInterim(next: ResponseHead, bytes: number): void {
    if (next.status === 101 && !agreesTo(next, upgrade)) {
      throw new Malformed('unsolicited 101 Switching Protocols')
    }
    interimBytes += bytes
    if (interimBytes > maxInterimBytes) throw new Malformed('more than 64 KiB of interim responses')
  }

  function readBody(bytes: Buffer, from: number, framing: Framing): Progress {
    if (framing === 'none') return from < bytes.length ? 'excess' : 'done'
    if (framing === 'close') {
      copyData(bytes, from, bytes.length)
      return 'more'
    }
    if (framing === 'chunked') return readChunks(bytes, from)
    const end = Math.min(bytes.length, from + left)
    left -= end - from
    copyData(bytes, from, end)
    if (left > 0) return 'more'
    return end < bytes.length ? 'excess' : 'done'
  }

  function copyData(bytes: Buffer, from: number, end: number): void {
    buffer = takeBuffer(end - from)
    data = buffer.bytes
    bytes.copy(data, 0, from, end)
  }

  function readChunks(bytes: Buffer, from: number): Progress {
    chunks ??= createChunkReader(maxHeadBytes)
    buffer = takeBuffer(bytes.length - from)
    const end = chunks.read(bytes, from, buffer.bytes)
    data = buffer.bytes.subarray(0, chunks.written())
    if (!chunks.isDone()) return 'more'
    return end < bytes.length ? 'excess' : 'done'
  }

  function deliverData(): void {
    if (buffer !== undefined && data.length > 0) events.data(data, buffer.release)
    else buffer?.release()
    // Otherwise an idle connection would keep its last chunk in memory.
    data = nothing
    buffer = undefined
  }

  function beginResponse(bytes: Buffer): Progress {
    const all = carried.length === 0 ? bytes : Buffer.concat([carried, bytes])
    carried = nothing
    const from = readFinalHead(all)
    if (from === -1 || head === undefined) return 'more'
    if (head.status === 101) {
      events.switched(head, Buffer.from(all.subarray(from)))
      return 'done'
    }
    const { framing } = head
    const length = framing === 'none' ? 0 : framing
    if (typeof length === 'number' && length <= maxComplete && all.length - from >= length) {
      events.complete(head, length === 0 ? '' : all.toString('latin1', from, from + length))
      return all.length - from > length ? 'excess' : 'done'
    }
    left = typeof length === 'number' ? length : 0
    // Before the first event: an error here can still become a fault response.
    const progress = readBody(all, from, framing)
    streamed = true
    events.head(head)
    deliverData()
    return progress
  }

  function continueResponse(bytes: Buffer, framing: Framing): Progress {
    const progress = readBody(bytes, 0, framing)
    deliverData()
    return progress
  }

  return {
    /** The next response is to a request with this method, and with this Upgrade. */
    begin(nextMethod: string, nextUpgrade: string | undefined) {
      method = nextMethod
      upgrade = nextUpgrade
      interimBytes = 0
      carried = nothing
      head = undefined
      chunks = undefined
      streamed = false
    },
    /** `bytes` may be overwritten afterwards. */
    read: (bytes: Buffer) =>
      head === undefined ? beginResponse(bytes) : continueResponse(bytes, head.framing),
    /** Whether an orderly close of the connection completes the response. */
    endsHere: () => head?.framing === 'close',
    /** Whether the final head has been read. */
    hasHead: () => head !== undefined,
    /** Whether it is delivered with `head` and not with `complete`. */
    isStreamed: () => streamed,
    /** Of the response that is done. */
    trailers: () => chunks?.trailers() ?? noTrailers,
    lastHead: () => head,
  }
}

import { type PooledBuffer, takeBuffer } from './buffer-pool.ts'
import { type ChunkReader, createChunkReader } from './chunks.ts'
import { agreesTo, type Framing, type ResponseHead, readHead } from './response-head.ts'
import { Malformed } from './wire-error.ts'

/** What a head may take, as in Node's own parser. */
const maxHeadBytes = 16_384
/** An answer that came in one piece and is not longer is handed on in one piece. */
const maxComplete = 16_384
/** All interim answers before the final one. The time for an answer bounds how long they may come. */
const maxInterimBytes = 65_536

const headEnd = Buffer.from('\r\n\r\n')
const start = Buffer.from('HTTP/1.')
const nothing = Buffer.alloc(0)

/** What is reported about a response while it is read. */
interface ResponseEvents {
  complete(head: ResponseHead, body: string): void
  head(head: ResponseHead): void
  /** The chunk is the listener's to keep, unless it says with `release` that it is done with it. */
  data(chunk: Buffer, release: PooledBuffer['release']): void
  /** The server agreed to another protocol; `rest` is the beginning of that. */
  switched(head: ResponseHead, rest: Buffer): void
}

/** `more`: the answer goes on. `done`: nothing of it is left to come. `excess`: more came than that. */
export type Progress = 'more' | 'done' | 'excess'

/** Reads one answer after the other from the bytes of a connection. Throws Malformed. */
export interface ResponseReader {
  /** The next answer is one to a request with this method, which asked for `upgrade`, if for any. */
  begin(method: string, upgrade: string | undefined): void
  /** Takes what came. `bytes` may be overwritten afterwards. */
  read(bytes: Buffer): Progress
  /** The connection was closed in order: whether the response is complete with that. */
  readonly endsHere: () => boolean
  /** Whether the final head has been read. */
  readonly hasHead: () => boolean
  /** Whether it was reported with `head` and not with `complete`. */
  readonly isInPieces: () => boolean
  /** Of the answer that is over. */
  readonly trailers: () => readonly string[]
  readonly lastHead: () => ResponseHead | undefined
}

const noTrailers: readonly string[] = []

/** For one connection. */
export function createResponseReader(events: ResponseEvents): ResponseReader {
  let method = ''
  let upgrade: string | undefined
  let interimBytes = 0
  /** The beginning of a head whose rest has not come. */
  let carried: Buffer = nothing
  let head: ResponseHead | undefined
  let left = 0
  let chunks: ChunkReader | undefined
  let inPieces = false
  /** What the last read brought of the body, and the buffer that holds it. */
  let data: Buffer = nothing
  let buffer: PooledBuffer | undefined

  /** Where the final head ends, or -1 while it has not all come. */
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
      const taken = end + headEnd.length - from
      from += taken
      if (next.status >= 200) {
        head = next
        return from
      }
      takeInterim(next, taken)
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
    // Else whatever speaks another protocol would be waited for.
    if (rest.compare(start, 0, compared, 0, compared) !== 0) {
      throw new Malformed('no answer of HTTP/1.1')
    }
    // Nor would the end come that we look for.
    const lineEnd = rest.indexOf('\n')
    if (lineEnd !== -1 && rest[lineEnd - 1] !== 0x0d)
      throw new Malformed('header line ends in a bare LF')
    carried = Buffer.from(rest)
  }

  function takeInterim(next: ResponseHead, bytes: number): void {
    if (next.status === 101 && !agreesTo(next, upgrade)) {
      throw new Malformed('unsolicited 101 Switching Protocols')
    }
    interimBytes += bytes
    if (interimBytes > maxInterimBytes) throw new Malformed('more than 64 KiB of interim answers')
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

  function tellData(): void {
    if (buffer !== undefined && data.length > 0) events.data(data, buffer.release)
    else buffer?.release()
    // Else a connection at rest would hold on to the last piece it read.
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
    // Before anything is told: what breaks here can still be answered as the fault that it is.
    const progress = readBody(all, from, framing)
    inPieces = true
    events.head(head)
    tellData()
    return progress
  }

  function goOn(bytes: Buffer, framing: Framing): Progress {
    const progress = readBody(bytes, 0, framing)
    tellData()
    return progress
  }

  return {
    begin(nextMethod, nextUpgrade) {
      method = nextMethod
      upgrade = nextUpgrade
      interimBytes = 0
      carried = nothing
      head = undefined
      chunks = undefined
      inPieces = false
    },
    read: (bytes) => (head === undefined ? beginResponse(bytes) : goOn(bytes, head.framing)),
    endsHere: () => head?.framing === 'close',
    hasHead: () => head !== undefined,
    isInPieces: () => inPieces,
    trailers: () => chunks?.trailers() ?? noTrailers,
    lastHead: () => head,
  }
}

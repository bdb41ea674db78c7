import { FrameType, preface } from '../../src/h2/frames.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import type { RequestFields, ResponseFields } from '../../src/h2/message-fields.ts'
import { Session } from '../../src/h2/session.ts'
import type { Stream, StreamEvents } from '../../src/h2/stream.ts'
import { mutatedChunks, type Random, randomOf } from './mutated-frames.ts'

/** What became of one sequence of frames. */
export interface FuzzResult {
  readonly frames: number
  readonly delivered: number
  readonly hasFailed: boolean
  readonly flood: string | undefined
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const name = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const value = /^(?![ \t])[\t\x20-\x7e\x80-\xff]*(?<![ \t])$/
const target = /^(\/[\x21-\x7e\x80-\xff]*|\*)$/
const ofConnections = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/

interface Watched {
  readonly stream: Stream
  readonly announced: number | undefined
  bytes: number
  hasEnded: boolean
  closed: number
}

/**
 * One session and a peer that sends it mutated frames. Throws at the first thing that must never happen:
 * an exception, a message that breaks a rule, events out of order, or frames that we must not send.
 */
export function fuzzSession(seed: number): FuzzResult {
  const random = randomOf(seed)
  const role = random(4) === 0 ? 'client' : 'server'
  const sequence = mutatedChunks(random, role)
  const watch = new Watch(random, role)
  for (const chunk of sequence.chunks) watch.receive(chunk)
  watch.finish()
  return {
    frames: sequence.frames,
    delivered: watch.streams.length,
    hasFailed: watch.end !== undefined && watch.end.code !== 0,
    flood: watch.end?.flood,
  }
}

class Watch {
  readonly #random: Random
  readonly #role: 'server' | 'client'
  readonly streams: Watched[] = []
  readonly #session: Session
  readonly #output = new OutputCheck()
  end: { readonly code: number; readonly flood: string | undefined } | undefined
  #isDone = false

  constructor(random: Random, role: 'server' | 'client') {
    this.#random = random
    this.#role = role
    this.#session = new Session(
      role,
      {
        write: (bytes) => {
          this.#output.check(bytes)
          return random(8) !== 0
        },
      },
      {
        maxStreams: 1 + random(20),
        streamWindow: 65_535,
        connectionWindow: 100_000,
        headerBytes: 4096,
        headerCount: 40,
      },
      {
        request: (stream, fields) => {
          this.#mustBeOpen()
          checkRequest(fields)
          return this.#watch(stream, fields.contentLength)
        },
        rejected: () => this.#mustBeOpen(),
        idle: () => this.#mustBeOpen(),
        goaway: () => this.#mustBeOpen(),
        settings: () => this.#mustBeOpen(),
        ended: (end) => {
          this.#mustBeOpen()
          this.end = end
        },
      },
    )
    if (role === 'client') this.#openRequests()
  }

  receive(chunk: Buffer): void {
    this.#session.receive(chunk)
    if (this.#random(3) === 0) this.#session.drained()
    for (const watched of this.streams) if (watched.closed === 0) this.#act(watched)
    this.#checkSize()
  }

  finish(): void {
    if (this.#random(4) === 0) this.#session.shutDown()
    this.#session.drained()
    this.#session.disconnected('closed')
    if (this.end === undefined) throw new Error('the session has not ended')
    this.#isDone = true
    for (const { stream, closed } of this.streams) {
      if (closed !== 1) throw new Error(`stream ${stream.id} was closed ${closed} times`)
    }
  }

  #openRequests(): void {
    const fields = [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', '/']
    for (let left = 1 + this.#random(4); left > 0; left--) {
      const late: { events?: StreamEvents } = {}
      const stream = this.#session.open(fields, this.#random(2) === 0, {
        head: (response) => late.events?.head(response),
        data: (chunk) => late.events?.data(chunk),
        end: (trailers) => late.events?.end(trailers),
        drain() {},
        closed: (abort) => late.events?.closed(abort),
      })
      late.events = this.#watch(stream, undefined)
    }
  }

  #watch(stream: Stream, announced: number | undefined): StreamEvents {
    const watched: Watched = { stream, announced, bytes: 0, hasEnded: false, closed: 0 }
    this.streams.push(watched)
    const mustBeOpen = (): void => {
      this.#mustBeOpen()
      if (watched.closed > 0) throw new Error('an event of a closed stream')
    }
    return {
      head: (response) => {
        mustBeOpen()
        checkResponse(response)
      },
      data: (chunk) => {
        mustBeOpen()
        if (watched.hasEnded) throw new Error('data after the end')
        watched.bytes += chunk.length
        if (watched.bytes > (announced ?? watched.bytes)) throw new Error('body is too long')
      },
      end: (trailers) => {
        mustBeOpen()
        if (watched.hasEnded) throw new Error('two ends')
        if (watched.bytes !== (announced ?? watched.bytes)) throw new Error('body is too short')
        checkFields(trailers)
        watched.hasEnded = true
      },
      drain: mustBeOpen,
      closed: (abort) => {
        mustBeOpen()
        watched.closed++
        const isWhole = this.#role === 'server' || watched.hasEnded
        if (abort === undefined && !isWhole)
          throw new Error('an incomplete response looks complete')
      },
    }
  }

  /** What a handler might do. */
  #act({ stream, bytes }: Watched): void {
    const random = this.#random
    switch (random(10)) {
      case 0:
        if (this.#role === 'server')
          stream.sendHeaders([':status', '200', 'x', 'y'.repeat(random(99))], random(3) === 0)
        return
      case 1:
        if (this.#role === 'client' || this.#output.hasHead(stream.id))
          stream.write(Buffer.alloc(random(40_000)))
        return
      case 2:
        if (this.#role === 'client' || this.#output.hasHead(stream.id))
          stream.end(random(2) === 0 ? ['x', 'y'] : undefined)
        return
      case 3:
        if (random(4) === 0) stream.reset(8, 'test')
        return
      default:
        stream.consumed(random(bytes + 1))
    }
  }

  #checkSize(): void {
    const open = this.streams.filter(({ closed }) => closed === 0).length
    if (this.#session.size !== open) {
      throw new Error(`${open} streams are open, and the session has ${this.#session.size}`)
    }
  }

  #mustBeOpen(): void {
    if (this.end !== undefined || this.#isDone) throw new Error('an event after the end')
  }
}

/** Checks what we send, as a strict peer would. */
class OutputCheck {
  readonly #decoder = new Decoder({ headerBytes: 1_000_000, headerCount: 10_000 })
  readonly #heads = new Set<number>()
  readonly #ended = new Set<number>()
  readonly #reset = new Set<number>()
  #parts: Buffer[] = []

  hasHead(id: number): boolean {
    return this.#heads.has(id)
  }

  check(written: Buffer): void {
    let bytes = written.subarray(0, preface.length).equals(preface)
      ? written.subarray(preface.length)
      : written
    while (bytes.length > 0) {
      const end = 9 + bytes.readUIntBE(0, 3)
      if (end > 9 + 16_384 || end > bytes.length)
        throw new Error('we sent a frame that is too long')
      this.#frame(
        bytes.readUInt32BE(5),
        bytes[3] as number,
        bytes[4] as number,
        bytes.subarray(9, end),
      )
      bytes = bytes.subarray(end)
    }
  }

  #frame(id: number, type: number, flags: number, payload: Buffer): void {
    if (type === FrameType.rstStream) {
      if (this.#reset.has(id)) throw new Error(`we reset stream ${id} twice`)
      this.#reset.add(id)
      return
    }
    if (type === FrameType.headers || type === FrameType.continuation)
      this.#headers(id, flags, payload)
    else if (type !== FrameType.data) return
    if (this.#reset.has(id) || (this.#ended.has(id) && type !== FrameType.continuation)) {
      throw new Error(`we sent frame ${type} on stream ${id} after its end`)
    }
    if (type === FrameType.data && !this.#heads.has(id))
      throw new Error('we sent data before the head')
    if ((flags & 1) !== 0 && type !== FrameType.continuation) this.#ended.add(id)
  }

  #headers(id: number, flags: number, payload: Buffer): void {
    this.#heads.add(id)
    this.#parts.push(payload)
    if ((flags & 4) === 0) return
    for (const { problem } of this.#decoder.decode(Buffer.concat(this.#parts)).fields) {
      if (problem !== undefined) throw new Error(`we sent a field with a problem: ${problem}`)
    }
    this.#parts = []
  }
}

function checkRequest({ method, scheme, path, host, headers }: RequestFields): void {
  if (!token.test(method)) throw new Error(`delivered method ${JSON.stringify(method)}`)
  if (method === 'CONNECT') {
    if (scheme !== '' || path !== '' || host === undefined) throw new Error('delivered CONNECT')
  } else {
    if (scheme !== 'http' && scheme !== 'https') throw new Error(`delivered scheme ${scheme}`)
    if (!target.test(path)) throw new Error(`delivered path ${JSON.stringify(path)}`)
    if (path === '*' && method !== 'OPTIONS') throw new Error('delivered * ')
  }
  if (host !== undefined && !value.test(host))
    throw new Error(`delivered host ${JSON.stringify(host)}`)
  checkFields(headers)
  const names = headers.filter((_, at) => at % 2 === 0)
  if (names.includes('host')) throw new Error('delivered Host among the headers')
  for (const single of ['cookie', 'content-length']) {
    if (names.indexOf(single) !== names.lastIndexOf(single))
      throw new Error(`delivered two ${single}`)
  }
}

function checkResponse({ status, headers }: ResponseFields): void {
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`status ${status}`)
  checkFields(headers)
}

function checkFields(fields: readonly string[]): void {
  for (let at = 0; at < fields.length; at += 2) {
    const [key, text] = [fields[at] as string, fields[at + 1] as string]
    if (!name.test(key) || ofConnections.test(key))
      throw new Error(`delivered ${JSON.stringify(key)}`)
    if (!value.test(text)) throw new Error(`delivered ${key}: ${JSON.stringify(text)}`)
  }
}

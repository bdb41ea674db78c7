import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { tokenOf } from './tokens.ts'

/** What one side sent or got: how much, and its digest. */
export interface Told {
  readonly bytes: number
  readonly sha256: string
}

/** One stream through the gateway, as both ends saw it. */
export interface Streamed {
  readonly sent: Told
  readonly received: Told
}

export interface StreamOptions {
  readonly port: number
  /** Which of several: each has a content of its own. */
  readonly stream: number
  readonly bytes: number
  /** The most that the receiver takes in a second; a content is made as fast as it is taken. */
  readonly bytesPerSecond: number
  readonly onProgress?: (bytes: number) => void
  /** Speaks HTTP/2, each stream on a connection of its own. */
  readonly http2?: boolean
}

const blockBytes = 65_536
const noise = randomBytes(blockBytes)

/** Bytes that are told apart by stream and place, made as they are read; nothing is kept. */
function content(stream: number, bytes: number): { body: Readable; told: () => Told } {
  const hash = createHash('sha256')
  let made = 0
  const body = new Readable({
    highWaterMark: blockBytes,
    read() {
      const block = Buffer.from(noise.subarray(0, Math.min(blockBytes, bytes - made)))
      if (block.length === 0) {
        this.push(null)
        return
      }
      if (block.length >= 16) {
        block.writeUInt32LE(stream, 0)
        block.writeDoubleLE(made, 8)
      }
      made += block.length
      hash.update(block)
      this.push(block)
    },
  })
  return { body, told: () => ({ bytes: made, sha256: hash.copy().digest('hex') }) }
}

/** Reads to the end, no faster than told: what is not read must wait at the sender. */
async function readSlowly(
  message: Readable,
  { bytesPerSecond, onProgress }: Pick<StreamOptions, 'bytesPerSecond' | 'onProgress'>,
): Promise<Told> {
  const hash = createHash('sha256')
  const start = performance.now()
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
    onProgress?.(chunk.length)
    const ahead = (bytes / bytesPerSecond) * 1000 - (performance.now() - start)
    if (ahead > 20) await pause(ahead)
  }
  return { bytes, sha256: hash.digest('hex') }
}

export interface StreamUpstream {
  readonly origin: string
  /** What was sent as the answer to this stream. */
  sent(stream: number): Told | undefined
  close(): Promise<void>
}

/**
 * An upstream that makes downloads (`/download/<stream>/<bytes>`, every second one in chunks) and
 * takes uploads in (`/upload/<bytes per second>`), answering those with what it got. `/events` begins
 * an answer that never ends.
 */
export async function startStreamUpstream(): Promise<StreamUpstream> {
  const downloads = new Map<number, () => Told>()
  const server = createServer(async (message, reply) => {
    const [, kind, first, second] = (message.url ?? '').split('/')
    if (kind === 'download') {
      const [stream, bytes] = [Number(first), Number(second)]
      const { body, told } = content(stream, bytes)
      downloads.set(stream, told)
      reply.writeHead(200, stream % 2 === 0 ? { 'Content-Length': bytes } : {})
      body.pipe(reply)
      reply.on('close', () => body.destroy())
    } else if (kind === 'upload') {
      // An upload that is cut short is for its sender to tell of.
      const told = readSlowly(message, { bytesPerSecond: Number(first) }).catch(() => undefined)
      reply.end(JSON.stringify((await told) ?? {}))
    } else if (kind === 'events') {
      reply.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    } else reply.end('ok')
  })
  server.requestTimeout = 0
  // It has written an answer long before a slow client has read it: with the usual five seconds it
  // would close connections that the gateway has only just got back.
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: (stream) => downloads.get(stream)?.(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const headers = { Authorization: `Bearer ${tokenOf('admin')}` }

async function answerOf(
  options: StreamOptions & { readonly path: string; readonly method: string },
  body?: Readable,
): Promise<Readable> {
  const { port, path, method, stream, bytes } = options
  const sized = body !== undefined && stream % 2 === 0 ? { 'Content-Length': bytes } : {}
  if (options.http2 === true) {
    return answerOverHttp2(port, { ':path': path, ':method': method, ...headers, ...sized }, body)
  }
  const sending = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { ...headers, ...sized },
    agent: false,
  })
  // An error after the answer has begun is that of the answer.
  sending.on('error', () => {})
  if (body === undefined) sending.end()
  else body.pipe(sending)
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`)
  return answer
}

async function answerOverHttp2(
  port: number,
  fields: Readonly<Record<string, string | number>>,
  body: Readable | undefined,
): Promise<Readable> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const sending = session.request(fields, { endStream: body === undefined })
  // An error after the answer has begun is that of the answer.
  session.on('error', () => {})
  sending.on('error', () => {})
  sending.on('close', () => session.close())
  body?.pipe(sending)
  const [head] = await once(sending, 'response')
  if (head[':status'] !== 200) throw new Error(`${fields[':path']}: ${head[':status']}`)
  return sending
}

/** A download that the client reads slowly. */
export async function download(
  upstream: StreamUpstream,
  options: StreamOptions,
): Promise<Streamed> {
  const path = `/download/${options.stream}/${options.bytes}`
  const answer = await answerOf({ ...options, path, method: 'GET' })
  const received = await readSlowly(answer, options)
  return { received, sent: upstream.sent(options.stream) ?? { bytes: 0, sha256: '' } }
}

/** An upload that the upstream reads slowly; every second one in chunks. */
export async function upload(options: StreamOptions): Promise<Streamed> {
  const { body, told } = content(options.stream, options.bytes)
  body.on('data', (chunk: Buffer) => options.onProgress?.(chunk.length))
  body.pause()
  const path = `/upload/${options.bytesPerSecond}`
  const answer = await answerOf({ ...options, path, method: 'POST' }, body)
  const text = Buffer.concat(await answer.toArray()).toString()
  return { sent: told(), received: JSON.parse(text) as Told }
}

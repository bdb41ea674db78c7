import { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { type PlainLimits, type PlainRequest, readPlainRequest } from '../wire/plain-request.ts'
import { type AskedPlainly, WholeBody } from './asked.ts'
import { PlainReply, type ReplyingConnection } from './plain-reply.ts'
import type { PublicListener } from './public-listener.ts'
import { setReplyUnderWay } from './reply-under-way.ts'

export interface ConnectionLimits extends PlainLimits {
  readonly headersTimeoutMs: number
  readonly keepAliveTimeoutMs: number
}

/** A connection as long as nothing but plain requests came on it. */
interface PlainConnection extends ReplyingConnection {
  /** Whether it has ever asked anything. */
  asked: boolean
  /** Since when it waits for a request, by the clock of `performance`. */
  waitingSince: number
  reply: PlainReply | undefined
  /** What came before the answer had left. */
  kept: Buffer[] | undefined
  keptBytes: number
  /** Whether its last answer has been given. */
  over: boolean
  readonly stopListening: () => void
}

/**
 * Reads the requests of a server itself as long as they are plain ones (`wire/plain-request.ts`),
 * which costs less than Node's parser, its objects and its streams (decision 13). The first bytes on a
 * connection that are anything else go to Node, with all that follows them there: it reads chunks,
 * pieces, upgrades and mistakes, and it alone says what is malformed. Both bring what they have read
 * to the listeners for `request`.
 *
 *   waiting     for a request; closed when none comes in time
 *   answering   what comes meanwhile is kept
 *   handed over it is Node's, for good
 */
export function readPlainly(server: PublicListener, limits: ConnectionLimits): void {
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection'
  const [nodes, ...others] = server.listeners(event)
  if (nodes === undefined || others.length > 0) throw new Error('Node listens in another way')
  const connections = new Set<PlainConnection>()
  const keepAlive = `timeout=${Math.floor(limits.keepAliveTimeoutMs / 1000)}`

  function begin(socket: Socket): void {
    const take = (chunk: Buffer) => read(it, chunk)
    // As Node does without httpAllowHalfOpen: a client that is done sending is done.
    const end = () => void socket.end()
    const close = () => {
      connections.delete(it)
      it.reply?.left()
    }
    const it: PlainConnection = {
      socket,
      keepAlive,
      answered: () => goOn(it),
      asked: false,
      waitingSince: performance.now(),
      reply: undefined,
      kept: undefined,
      keptBytes: 0,
      over: false,
      stopListening() {
        socket.off('data', take).off('end', end).off('close', close).off('error', ignore)
      },
    }
    connections.add(it)
    socket.on('error', ignore).on('close', close).on('end', end).on('data', take)
    setReadingMore(socket, true)
  }

  function read(it: PlainConnection, bytes: Buffer): void {
    // What came behind the last request of a connection was never asked.
    if (it.over) return
    if (it.reply !== undefined || it.kept !== undefined) {
      keep(it, bytes)
      return
    }
    // RFC 9112 2.2: to be passed over before a request. Node would wait for the rest of one.
    if (it.asked && isEmptyLines(bytes)) return
    const plain = readPlainRequest(bytes, limits)
    if (plain === undefined) handOver(it, bytes)
    else ask(it, plain, bytes)
  }

  /** Not paused: nobody would see the client leave then, and its request would go on without it. */
  function keep(it: PlainConnection, bytes: Buffer): void {
    it.kept ??= []
    it.kept.push(bytes)
    it.keptBytes += bytes.length
    if (it.keptBytes > mostKept) it.socket.destroy()
  }

  function ask(it: PlainConnection, plain: PlainRequest, bytes: Buffer): void {
    const { socket } = it
    const { method, target, headers, bodyAt } = plain
    const reply = new PlainReply(it, method)
    it.asked = true
    it.reply = reply
    setReplyUnderWay(socket, reply)
    const request: AskedPlainly = {
      method,
      url: target,
      httpVersion: '1.1',
      rawHeaders: headers,
      socket,
      complete: true,
      body: bodyAt === bytes.length ? undefined : new WholeBody(bytes.subarray(bodyAt)),
    }
    server.emit('request', request as never, reply as never)
  }

  function goOn(it: PlainConnection): void {
    const { socket, reply } = it
    it.reply = undefined
    it.waitingSince = performance.now()
    setReplyUnderWay(socket, null)
    if (reply?.shouldKeepAlive === false) {
      it.over = true
      socket.destroySoon()
    } else if (it.kept !== undefined) setImmediate(readKept, it)
  }

  function readKept(it: PlainConnection): void {
    const { kept = [], socket } = it
    it.kept = undefined
    it.keptBytes = 0
    if (!socket.destroyed) read(it, Buffer.concat(kept))
  }

  function handOver(it: PlainConnection, bytes: Buffer): void {
    connections.delete(it)
    it.stopListening()
    setReadingMore(it.socket, false)
    nodes?.call(server, it.socket)
    it.socket.emit('data', bytes)
  }

  /** Those that have asked before and do not now. */
  function idle(): PlainConnection[] {
    return [...connections].filter((it) => it.asked && it.reply === undefined && !it.kept)
  }

  function closeLate(): void {
    const now = performance.now()
    for (const it of connections) {
      if (it.reply !== undefined || it.kept !== undefined) continue
      const waited = now - it.waitingSince
      if (it.asked && waited > limits.keepAliveTimeoutMs + graceMs) it.socket.destroy()
      if (!it.asked && waited > limits.headersTimeoutMs) server.emit('clientError', late, it.socket)
    }
  }

  server.off(event, nodes as never)
  server.on(event, begin)
  let timer: NodeJS.Timeout | undefined
  server.on('listening', () => {
    clearInterval(timer)
    timer = setInterval(closeLate, lookEveryMs).unref()
  })
  server.on('close', () => clearInterval(timer))
  const closeNodesIdle = server.closeIdleConnections
  server.closeIdleConnections = () => {
    closeNodesIdle.call(server)
    for (const { socket } of idle()) socket.destroy()
  }
}

const lookEveryMs = 1000
/** Longer than the client is told: what it sends at the last moment is still on its way. */
const graceMs = 1000
/** How far ahead a client may be that does not wait for answers. */
const mostKept = 65_536

/**
 * Behind each piece that a stream hands out, Node looks in a tick of its own whether it is to read
 * more, unless it is doing so already. A socket that is not paused is told of more by the system;
 * the tick is 4 % of a request.
 */
function setReadingMore(socket: Socket, isReading: boolean): void {
  const { _readableState: state } = socket as { _readableState?: { readingMore?: boolean } }
  if (state?.readingMore !== undefined) state.readingMore = isReading
}

function isEmptyLines(bytes: Buffer): boolean {
  return bytes[0] === 0x0d && /^(?:\r\n)+$/.test(bytes.toString('latin1'))
}

/** What Node says when nothing comes. */
const late = Object.assign(new Error('no request came in time'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
})

function ignore(): void {}

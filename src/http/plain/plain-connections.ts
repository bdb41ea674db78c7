import type { Socket } from 'node:net'
import { ArrivalRate, afterArrivals } from '../connections/arrival-rate.ts'
import type { ClientConnection, ClientConnections } from '../connections/client-connections.ts'
import type { ClientFaults } from '../connections/client-faults.ts'
import { CompleteBody, type PlainIncomingRequest } from '../connections/incoming-request.ts'
import { KeptBytes } from '../connections/kept-bytes.ts'
import { connectionEvent, type NodeConnections } from '../connections/node-connections.ts'
import { maxKept } from '../connections/paced-parser.ts'
import { peerAddress } from '../connections/peer-address.ts'
import { setReplyInProgress } from '../connections/reply-in-progress.ts'
import type { PublicListener } from '../port/public-listener.ts'
import { PlainReply, type ReplyingConnection } from './plain-reply.ts'
import { type PlainLimits, type PlainRequest, readPlainRequest } from './plain-request.ts'

interface ConnectionLimits extends PlainLimits {
  readonly headersTimeoutMs: number
  readonly keepAliveTimeoutMs: number
}

interface PlainParts {
  readonly clients: Pick<ClientConnections, 'of'>
  readonly faults: Pick<ClientFaults, 'requestRejected'>
  /** Reads whatever is not plain. */
  readonly node: Pick<NodeConnections, 'readFrom'>
}

/** A connection as long as nothing but plain requests came on it. */
interface PlainConnection extends ReplyingConnection {
  readonly client: ClientConnection
  /** Whether it has ever asked anything. */
  asked: boolean
  reply: PlainReply | undefined
  /** What came before the answer had left. */
  kept: KeptBytes | undefined
  /** Whether its first bytes were held back, to see whether the client stays. */
  heldBack: boolean
  /** Whether its last answer has been given. */
  over: boolean
  readonly stopListening: () => void
}

/**
 * Reads the requests of a server itself as long as they are plain ones (`plain-request.ts`),
 * which costs less than Node's parser, its objects and its streams (decision 13). The first bytes on a
 * connection that are anything else go to Node, with all that follows them there: it reads chunks,
 * pieces, upgrades and mistakes, one request at a time, and it alone says what is malformed. Both bring what they have read
 * to the listeners for `request`.
 *
 *   waiting     for a request; closed when none comes in time
 *   answering   what comes meanwhile is kept
 *   handed over it is Node's, for good
 */
export function readPlainRequests(
  server: PublicListener,
  limits: ConnectionLimits,
  { clients, faults, node }: PlainParts,
): void {
  const connections = new Set<PlainConnection>()
  const rate = new ArrivalRate()
  const keepAlive = `timeout=${Math.floor(limits.keepAliveTimeoutMs / 1000)}`

  function begin(socket: Socket): void {
    const take = (chunk: Buffer) => read(it, chunk)
    // As Node does without httpAllowHalfOpen: a client that is done sending is done.
    const end = () => {
      if (it.heldBack && !it.asked) leave(it)
      else socket.end()
    }
    const close = () => {
      connections.delete(it)
      it.reply?.left()
    }
    const it: PlainConnection = {
      socket,
      keepAlive,
      client: clients.of(socket),
      answered: () => goOn(it),
      asked: false,
      reply: undefined,
      kept: undefined,
      heldBack: false,
      over: false,
      stopListening() {
        socket.off('data', take).off('end', end).off('close', close).off('error', ignore)
      },
    }
    connections.add(it)
    rate.arrived()
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
    if (!it.asked && !it.heldBack && rate.isCrowd()) {
      holdBack(it, bytes)
      return
    }
    // RFC 9112 2.2: to be passed over before a request. Node would wait for the rest of one.
    if (it.asked && isEmptyLines(bytes)) return
    const plain = readPlainRequest(bytes, limits)
    if (plain === undefined) handOver(it, bytes)
    else ask(it, plain, bytes)
  }

  function holdBack(it: PlainConnection, bytes: Buffer): void {
    it.heldBack = true
    keep(it, bytes)
    afterArrivals(() => readKept(it))
  }

  function leave({ socket }: PlainConnection): void {
    faults.requestRejected('client-left', peerAddress(socket))
    socket.destroy()
  }

  /** Paused as late as can be: a client that leaves then is not seen to, and its request goes on. */
  function keep(it: PlainConnection, bytes: Buffer): void {
    it.kept ??= new KeptBytes()
    it.kept.push(bytes)
    if (it.kept.length > maxKept) it.socket.pause()
  }

  function ask(it: PlainConnection, plain: PlainRequest, bytes: Buffer): void {
    const { socket } = it
    const { method, target, headers, bodyAt } = plain
    const reply = new PlainReply(it, method)
    it.asked = true
    it.reply = reply
    it.client.began()
    setReplyInProgress(socket, reply)
    const request: PlainIncomingRequest = {
      method,
      url: target,
      httpVersion: '1.1',
      rawHeaders: headers,
      socket,
      complete: true,
      body: bodyAt === bytes.length ? undefined : new CompleteBody(bytes.subarray(bodyAt)),
    }
    server.emit('request', request as never, reply as never)
  }

  function goOn(it: PlainConnection): void {
    const { socket, reply } = it
    it.reply = undefined
    it.client.ended()
    setReplyInProgress(socket, null)
    if (reply?.shouldKeepAlive === false) {
      it.over = true
      socket.destroySoon()
    } else if (it.kept !== undefined) setImmediate(readKept, it)
  }

  function readKept(it: PlainConnection): void {
    const { kept, socket } = it
    it.kept = undefined
    if (socket.destroyed || kept === undefined) return
    if (socket.isPaused()) socket.resume()
    read(it, kept.take())
  }

  function handOver(it: PlainConnection, bytes: Buffer): void {
    connections.delete(it)
    it.stopListening()
    setReadingMore(it.socket, false)
    node.readFrom(it.socket, bytes)
  }

  /** Those that have asked before and do not now. */
  function idle(): PlainConnection[] {
    return [...connections].filter((it) => it.asked && it.reply === undefined && !it.kept)
  }

  function closeLate(): void {
    const now = performance.now()
    for (const it of connections) {
      if (it.reply !== undefined || it.kept !== undefined) continue
      const waited = now - it.client.idleSince
      if (it.asked && waited > limits.keepAliveTimeoutMs + graceMs) it.socket.destroy()
      if (!it.asked && waited > limits.headersTimeoutMs) server.emit('clientError', late, it.socket)
    }
  }

  server.on(connectionEvent(server), begin)
  let timer: NodeJS.Timeout | undefined
  server.on('listening', () => {
    clearInterval(timer)
    timer = setInterval(closeLate, lookEveryMs).unref()
  })
  server.on('close', () => clearInterval(timer))
  const closeIdle = server.closeIdleConnections
  server.closeIdleConnections = () => {
    closeIdle.call(server)
    for (const { socket } of idle()) socket.destroy()
  }
}

const lookEveryMs = 1000
/** Longer than the client is told: what it sends at the last moment is still on its way. */
const graceMs = 1000

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
const late = Object.assign(new Error('no request within the timeout'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
})

function ignore(): void {}

import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Fault } from '../errors.ts'
import type { Reply } from '../gateway/reply.ts'
import { createRequestId } from '../gateway/request-id.ts'
import type { Arrival, Notes, Upgrade } from '../gateway/stages.ts'
import type { Log } from '../log.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Asked } from './asked.ts'
import { endedRequest } from './ended-request.ts'
import type { RefusalEnvelopes } from './envelope.ts'
import type { Overload } from './overload.ts'
import { readPlainly } from './plain-connections.ts'
import { createListener, type PublicListener, type PublicTls } from './public-listener.ts'
import { errorReply, replyError } from './reply-error.ts'
import { replyUnderWay } from './reply-under-way.ts'
import { logRequest } from './request-log.ts'
import { createTurns } from './turns.ts'
import { createUpgradeFinder, replyOn } from './upgrades.ts'

export interface PublicServerParts {
  readonly pass: (arrival: Arrival, reply: Reply) => Promise<void> | void
  readonly refusals: RefusalEnvelopes
  readonly log: Log
  readonly metrics: RequestMetrics
  /** Absent when nothing is done about traces. */
  readonly tracing: Tracing | undefined
  readonly overload: Overload
  /** Marks answers to requests that never get into the line. */
  readonly mark?: (arrival: Arrival, reply: Reply) => void
  readonly limits: {
    readonly headerBytes: number
    readonly headerCount: number
    readonly headersTimeoutMs: number
    readonly requestTimeoutMs: number
    readonly stallTimeoutMs: number
    readonly keepAliveTimeoutMs: number
  }
  /** The protocols that a client may ask to go on in. */
  readonly upgrades: readonly string[]
  /** Makes it speak TLS and nothing else. */
  readonly tls?: PublicTls | undefined
}

/**
 * The public port: every request, whatever its path, goes into the line. There is no router and no
 * other handler here, so there is no second reading of a path that could let one past the checks.
 */
export function createPublicServer(parts: PublicServerParts): PublicListener {
  const { pass, refusals, log, metrics, overload, tracing, limits } = parts
  const findUpgrade = createUpgradeFinder(parts.upgrades)
  /** Requests with an Upgrade that is not offered. */
  const passedOver = new WeakSet<IncomingMessage>()
  const server = createListener(parts.tls, {
    insecureHTTPParser: false,
    requireHostHeader: false, // we refuse a missing Host ourselves, with our own answer
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1000,
    noDelay: true,
    // What has no body needs no stream that waits for one.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback(request) {
      if (findUpgrade(request) !== undefined) return true
      passedOver.add(request)
      return false
    },
  })
  server.maxHeadersCount = limits.headerCount
  readPlainly(server, limits)

  async function handle(request: Asked, reply: Reply, upgrade?: Upgrade): Promise<void> {
    const startedAt = performance.now()
    const notes: Notes = {}
    let error: unknown
    // What came in one packet behind such a request, Node's parser drops without a word.
    if (request instanceof IncomingMessage && passedOver.has(request)) reply.shouldKeepAlive = false
    if (!overload.enter()) return shed(request, reply)
    metrics.began()
    const trace = tracing?.begin(request)
    if (trace !== undefined) notes.trace = trace
    try {
      await pass(toArrival(request, notes, upgrade), reply)
    } catch (thrown) {
      error = thrown
      // Node is still reading what came with the head, and whether that is all decides whether the
      // connection can be kept.
      if (!request.complete) await Promise.resolve()
      const answer = errorReply(thrown, refusals)
      replyError(thrown, answer, { request, reply, requestId: notes.requestId })
    }
    overload.leave()
    if (reply.writableLength > 0 && !reply.closed) cutUnlessRead(reply, limits.stallTimeoutMs)
    const ended = endedRequest({ request, reply, notes, error, startedAt })
    logRequest(log, ended)
    tracing?.ended?.(trace, ended)
    metrics.ended(ended)
  }

  /** Cheap: nothing of the request is read, and no line is written for it. */
  function shed(request: Asked, reply: Reply): void {
    metrics.shed(request.method ?? '')
    parts.mark?.(toArrival(request, {}), reply)
    replyError(tooMuch, errorReply(tooMuch, refusals), {
      request,
      reply,
      requestId: createRequestId(),
    })
  }

  function goOnIn(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const protocol = findUpgrade(request)
    // A Node without shouldUpgradeCallback brings every request with Upgrade here, unread.
    if (protocol === undefined) refuseOnSocket(socket, '501 Not Implemented')
    // It cannot wait for its turn: the parser has let go of the connection.
    else if (replyUnderWay(socket) !== undefined) socket.destroy()
    else void handle(request, replyOn(request, socket), { protocol, head })
  }

  const inTurn = createTurns(handle)
  server.on('request', inTurn)
  server.on('checkContinue', inTurn)
  server.on('checkExpectation', inTurn)
  server.on('clientError', answerClientError)
  server.on('upgrade', (request, socket, head) => goOnIn(request, socket as Socket, head))
  return server
}

/** One for all: to make an error is dear. */
const tooMuch = new Fault('overloaded')

/** The last of an answer has left our hands, but a client that does not read would hold it here. */
function cutUnlessRead(reply: Reply, withinMs: number): void {
  const timer = setTimeout(() => reply.destroy(), withinMs)
  reply.once('close', () => clearTimeout(timer))
}

function toArrival(request: Asked, notes: Notes, upgrade?: Upgrade): Arrival {
  const { socket } = request
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    rawHeaders: request.rawHeaders,
    remoteAddress: plainAddress(socket.remoteAddress ?? ''),
    encrypted: 'encrypted' in socket,
    body: request instanceof IncomingMessage ? request : request.body,
    upgrade,
    notes,
  }
}

/** An IPv4 client on a dual-stack socket is the same client. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** What the parser refused before there was a request. The connection cannot be trusted further. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // An answer to the request before would be taken for one to that request.
  const busy = replyUnderWay(socket) !== undefined
  // The request before asked for the end of the connection and will have its answer.
  if (busy && error.code === 'HPE_CLOSED_CONNECTION') return
  if (!socket.writable || busy || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  refuseOnSocket(socket, parserStatuses[error.code ?? ''] ?? '400 Bad Request')
}

/** Answers where there is no reply object, and ends the connection whatever the client does. */
function refuseOnSocket(socket: Socket, status: string): void {
  const body = JSON.stringify({ code: Number(status.slice(0, 3)), msg: 'malformed request' })
  socket.on('error', () => {})
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    // A client that keeps its side open would keep the connection for ever.
    () => socket.destroy(),
  )
}

const parserStatuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

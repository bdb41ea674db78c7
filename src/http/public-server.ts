import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Arrival, Upgrade } from '../gateway/arrival/arrival.ts'
import type { Notes } from '../gateway/arrival/notes.ts'
import { createRequestId } from '../gateway/arrival/request-id.ts'
import type { Reply } from '../gateway/reply.ts'
import { Fault, Refusal, type RefusalKind } from '../kernel/errors.ts'
import type { Log } from '../log/log.ts'
import type { RequestRejection } from '../metrics/connection-metrics.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { ClientConnections } from './connections/client-connections.ts'
import type { ClientFaults } from './connections/client-faults.ts'
import { cutSocket, wasCut } from './connections/cut-sockets.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'
import { Lingering } from './connections/lingering.ts'
import { createNodeConnections } from './connections/node-connections.ts'
import { peerAddress } from './connections/peer-address.ts'
import { replyInProgress } from './connections/reply-in-progress.ts'
import { endedRequest } from './ended-request.ts'
import { acceptConnections, type Http2Ports } from './h2/accept-connections.ts'
import type { Handling } from './handling.ts'
import { jsonText } from './json-reply.ts'
import { readPlainRequests } from './plain/plain-connections.ts'
import type { Overload } from './port/overload.ts'
import { createListener, type PublicListener, type PublicTls } from './port/public-listener.ts'
import { replyRedirect } from './redirect-reply.ts'
import { logRequest } from './request-log.ts'
import { createRequestQueue } from './request-queue.ts'
import { createUpgradeFinder, replyOn } from './upgrades.ts'

interface PublicServerParts {
  /** How requests are handled that begin now. */
  readonly current: () => Handling
  readonly log: Log
  readonly metrics: RequestMetrics
  /** Absent when tracing is off. */
  readonly tracing: Tracing | undefined
  readonly overload: Overload
  readonly clients: Pick<ClientConnections, 'of'>
  readonly faults: ClientFaults
  readonly limits: {
    readonly headerBytes: number
    readonly headerCount: number
    readonly headersTimeoutMs: number
    readonly requestTimeoutMs: number
    readonly keepAliveTimeoutMs: number
  }
  /** Whether the plain request reader (decision 13) reads what it can before Node's parser does. */
  readonly plainRequests: boolean
  readonly http2: Http2Ports
  /** The protocols that a client may switch to. */
  readonly upgrades: readonly string[]
  /** Set: TLS only. Unset: plain HTTP. */
  readonly tls?: PublicTls | undefined
}

/**
 * The public port: every request, whatever its path, enters the pipeline. Without a router or another
 * handler, no second reading of a path can bypass the checks.
 */
export function createPublicServer(parts: PublicServerParts): PublicListener {
  const { current, log, metrics, overload, tracing, limits, clients, faults } = parts
  const findUpgrade = createUpgradeFinder(parts.upgrades)
  /** Requests with an Upgrade that is not offered. */
  const passedOver = new WeakSet<IncomingMessage>()
  const server = createListener(parts.tls, parts.http2.enabled, {
    insecureHTTPParser: false,
    requireHostHeader: false, // the pipeline refuses a missing Host, with our own response
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1000,
    noDelay: true,
    // A request without a body needs no stream.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback(request) {
      if (findUpgrade(request) !== undefined) return true
      passedOver.add(request)
      return false
    },
  })
  server.maxHeadersCount = limits.headerCount
  const lingering = new Lingering()
  const node = createNodeConnections(server, { clients, faults, lingering })
  const http1 = parts.plainRequests
    ? readPlainRequests(server, limits, { clients, faults, node })
    : node.begin
  const isSecure = parts.tls !== undefined
  acceptConnections(server, http1, { ...parts, isSecure })

  async function handle(request: IncomingRequest, reply: Reply, upgrade?: Upgrade): Promise<void> {
    const startedAt = performance.now()
    const handling = current()
    const notes: Notes = {}
    let error: unknown
    // Node's parser silently drops what arrives in the same packet behind such a request.
    if (request instanceof IncomingMessage && passedOver.has(request)) reply.shouldKeepAlive = false
    if (!overload.enter()) return shed(request, reply, handling)
    metrics.began()
    const trace = tracing?.begin(request)
    if (trace !== undefined) notes.trace = trace
    const arrival = toArrival(request, notes, upgrade)
    try {
      await handling.pass(arrival, reply)
      error = notes.shown
    } catch (thrown) {
      error = thrown
      // Node is still parsing the packet with the head. Only a complete request keeps its connection.
      if (!request.complete) await Promise.resolve()
      const location = handling.redirectOf?.(thrown, arrival)
      if (location !== undefined && !reply.headersSent) replyRedirect(location, request, reply)
      else handling.replyError(thrown, { request, reply, requestId: notes.requestId, arrival })
    }
    overload.leave()
    if (reply.writableLength > 0 && !reply.closed) cutUnlessRead(reply, handling.stallTimeoutMs)
    if (notes.cut === 'client' && wasCut(request.socket)) notes.cut = 'gateway'
    const ended = endedRequest({ request, reply, notes, error, startedAt })
    logRequest(log, ended)
    tracing?.ended?.(trace, ended)
    metrics.ended(ended)
  }

  /** Cheap: the request is neither read nor logged. */
  function shed(request: IncomingRequest, reply: Reply, handling: Handling): void {
    metrics.shed(request.method ?? '')
    handling.mark?.(toArrival(request, {}), reply)
    handling.replyError(overloaded, { request, reply, requestId: createRequestId() })
  }

  function switchProtocol(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const protocol = findUpgrade(request)
    const behind = node.release(socket)
    // A Node without shouldUpgradeCallback emits every request with Upgrade here, unread.
    if (protocol === undefined) refuse(socket, 'upgrade')
    else {
      const upgrade = { protocol, head: Buffer.concat([head, behind]) }
      void handle(request, replyOn(request, socket), upgrade)
    }
  }

  /** The parser rejected bytes before there was a request. The connection cannot be trusted further. */
  function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    if (lingering.has(socket)) return
    // The client would take our response for that to the request before.
    const busy = replyInProgress(socket) !== undefined
    // The request before asked to close the connection and still gets its response.
    if (busy && error.code === 'HPE_CLOSED_CONNECTION') return
    const left = error.code === 'ECONNRESET' || error.code === 'EPIPE'
    const reason = rejectionOf(error)
    const request = node.fail(socket)
    if (left || socket.destroyed) socket.destroy()
    else if (request !== undefined) rejectBody(request, socket, reason)
    else if (!socket.writable || busy) {
      faults.requestRejected(reason, peerAddress(socket))
      socket.destroy()
    } else refuse(socket, reason)
  }

  /** The request has begun, so its own log line reports the outcome. */
  function rejectBody(request: IncomingMessage, socket: Socket, reason: RequestRejection): void {
    const reply = replyInProgress(socket)
    if (reason === 'incomplete') socket.destroy()
    else if (reply === undefined || reply.headersSent) {
      faults.closed('broken-body', peerAddress(socket))
      // A complete response must still reach its client.
      if (reply === undefined) lingering.end(socket)
      else cutSocket(socket)
    } else {
      reply.shouldKeepAlive = false
      breakBody(request, new Refusal(bodyRefusals[reason] ?? 'bad-request', { reason }))
    }
  }

  /** Answers without a reply object, then closes the connection. */
  function refuse(socket: Socket, reason: RequestRejection): void {
    faults.requestRejected(reason, peerAddress(socket))
    const status = rejectionStatuses[reason]
    const { text } = current().messages.usual['bad-request']
    const body = jsonText({ code: Number(status.slice(0, 3)), msg: text })
    lingering.end(
      socket,
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }

  /** The response is written, but a client that does not read would keep it in memory. */
  function cutUnlessRead(reply: Reply, stallTimeoutMs: number): void {
    const { socket } = reply
    const timer = setTimeout(() => {
      faults.closed('unread-response', socket === null ? undefined : peerAddress(socket))
      reply.destroy()
    }, stallTimeoutMs)
    reply.once('close', () => clearTimeout(timer))
  }

  const enqueue = createRequestQueue(handle)
  server.on('request', (request: IncomingRequest, reply: Reply) => {
    // Streams do not wait for each other.
    if (request.httpVersion === '2') void handle(request, reply)
    else enqueue(request, reply)
  })
  server.on('checkContinue', enqueue)
  server.on('checkExpectation', enqueue)
  server.on('clientError', answerClientError)
  server.on('upgrade', (request, socket, head) => switchProtocol(request, socket as Socket, head))
  server.on('connect', (_, socket) => {
    node.release(socket as Socket)
    refuse(socket as Socket, 'method')
  })
  return server
}

/** Shared: creating an error is expensive. */
const overloaded = new Fault('overloaded')

function toArrival(request: IncomingRequest, notes: Notes, upgrade?: Upgrade): Arrival {
  const { socket } = request
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    rawHeaders: request.rawHeaders,
    remoteAddress: peerAddress(socket) ?? '',
    encrypted: 'encrypted' in socket,
    serverName: serverNameOf(socket),
    body: request instanceof IncomingMessage ? request : request.body,
    upgrade,
    notes,
  }
}

/** Node sets `false` for a client that sent no name. */
function serverNameOf(socket: object): string | undefined {
  const name = 'servername' in socket ? socket.servername : undefined
  return typeof name === 'string' ? name : undefined
}

/**
 * Fails a request whose body will never be complete, although its client still reads. Destroying the
 * request would close the connection under the response.
 */
function breakBody(request: IncomingMessage & { failure?: Refusal }, reason: Refusal): void {
  request.failure = reason
  // Without a listener it would be an uncaught exception; a later reader of the body finds `failure`.
  if (request.listenerCount('error') > 0) request.emit('error', reason)
}

/** The reason, of the closed list, for which the parser rejected it. */
function rejectionOf({ code }: NodeJS.ErrnoException): RequestRejection {
  return parserRejections[code ?? ''] ?? 'malformed'
}

const parserRejections: Readonly<Record<string, RequestRejection>> = {
  HPE_INVALID_EOF_STATE: 'incomplete',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'chunk-extensions-too-large',
  HPE_PAUSED_H2_UPGRADE: 'http2',
  ERR_HTTP_REQUEST_TIMEOUT: 'timeout',
}

/** The refusal for a rejected body; every other reason is a bad request. */
const bodyRefusals: Readonly<Partial<Record<RequestRejection, RefusalKind>>> = {
  'chunk-extensions-too-large': 'body-too-large',
  timeout: 'body-too-slow',
}

const rejectionStatuses: Readonly<Record<RequestRejection, string>> = {
  malformed: '400 Bad Request',
  incomplete: '400 Bad Request',
  'headers-too-large': '431 Request Header Fields Too Large',
  'chunk-extensions-too-large': '413 Payload Too Large',
  timeout: '408 Request Timeout',
  'client-left': '400 Bad Request',
  http2: '505 HTTP Version Not Supported',
  refused: '503 Service Unavailable',
  method: '405 Method Not Allowed',
  upgrade: '501 Not Implemented',
}

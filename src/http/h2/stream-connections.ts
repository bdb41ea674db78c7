import type { Socket } from 'node:net'
import { isStreamingType } from '../../gateway/arrival/grpc-type.ts'
import { ErrorCode } from '../../h2/error-codes.ts'
import type { RequestFields } from '../../h2/message-fields.ts'
import { Session } from '../../h2/session.ts'
import type { SessionEnd } from '../../h2/session-events.ts'
import type { Stream, StreamEvents } from '../../h2/stream.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { ClientConnection, ClientConnections } from '../connections/client-connections.ts'
import type { ClientFaults } from '../connections/client-faults.ts'
import type { StreamIncomingRequest } from '../connections/incoming-request.ts'
import { peerAddress } from '../connections/peer-address.ts'
import { checkTimeouts } from '../connections/timeout-checks.ts'
import type { PublicListener } from '../port/public-listener.ts'
import { StreamBody } from './stream-body.ts'
import { StreamReply } from './stream-reply.ts'

export interface StreamLimits {
  readonly headerBytes: number
  readonly headerCount: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** The most requests in progress on one connection. */
  readonly maxStreams: number
}

export interface StreamParts {
  readonly clients: Pick<ClientConnections, 'of'>
  readonly faults: Pick<ClientFaults, 'requestRejected' | 'closed'>
}

interface StreamConnection {
  readonly socket: Socket
  readonly client: ClientConnection
  readonly session: Session
  readonly openedAt: number
  readonly requests: Map<Stream, OpenRequest>
  hasRequested: boolean
}

interface OpenRequest {
  readonly body: StreamBody | undefined
  readonly startedAt: number
}

/**
 * How much a client may send ahead: enough for a fast upload over a long line, little enough that a
 * thousand connections with unread bodies fit into memory.
 */
const streamWindow = 131_072
const connectionWindow = 1_048_576

/** What is the request line in HTTP/1.1 does not count as headers; `:authority` does, as Host. */
const pseudoHeaders = 3

/**
 * Reads connections of HTTP/2, whose requests are then like any other: the server emits `request` for
 * each, and `StreamReply` takes its response. Requests of one connection run side by side, up to a limit.
 */
export class StreamConnections {
  readonly #server: PublicListener
  readonly #limits: StreamLimits
  readonly #parts: StreamParts
  readonly #connections = new Set<StreamConnection>()
  #isLeaving = false

  constructor(server: PublicListener, limits: StreamLimits, parts: StreamParts) {
    this.#server = server
    this.#limits = limits
    this.#parts = parts
    checkTimeouts(server, () => this.#closeTimedOut())
    server.on('shutdown', () => this.#announceShutdown())
    const closeIdle = server.closeIdleConnections
    server.closeIdleConnections = () => {
      closeIdle.call(server)
      for (const { session } of [...this.#connections]) session.shutDown()
    }
  }

  begin(socket: Socket): void {
    const { headerBytes, headerCount, maxStreams } = this.#limits
    const session = new Session(
      'server',
      { write: (bytes) => socket.destroyed || socket.write(bytes) },
      {
        maxStreams,
        streamWindow,
        connectionWindow,
        headerBytes,
        headerCount: headerCount + pseudoHeaders,
      },
      {
        request: (stream, fields) => this.#startRequest(it, stream, fields),
        rejected: (reason) => {
          const known = reason === 'too-large' ? 'headers-too-large' : reason
          this.#parts.faults.requestRejected(known, peerAddress(socket))
        },
        idle() {},
        goaway() {},
        settings() {},
        ended: (end) => this.#ended(it, end),
      },
    )
    const it: StreamConnection = {
      socket,
      session,
      client: this.#parts.clients.of(socket),
      openedAt: performance.now(),
      requests: new Map(),
      hasRequested: false,
    }
    this.#connections.add(it)
    socket
      .on('error', ignore)
      .on('data', (chunk: Buffer) => session.receive(chunk))
      .on('drain', () => session.drained())
      .on('end', () => session.disconnected('closed by the client'))
      .on('close', () => {
        this.#connections.delete(it)
        session.disconnected('connection closed')
      })
  }

  #startRequest(it: StreamConnection, stream: Stream, fields: RequestFields): StreamEvents {
    const { socket, client, requests } = it
    const { method } = fields
    if (!client.mayBegin()) return this.#refuse(it, stream)
    // A call without messages has a body too: servers of gRPC wait for the end of it, in a frame of its own.
    const body = stream.remoteEnded && !isStreaming(fields) ? undefined : new StreamBody(stream)
    const reply = new StreamReply(stream, socket, method)
    const request = toRequest(fields, socket, body)
    it.hasRequested = true
    requests.set(stream, { body, startedAt: performance.now() })
    client.began()
    if (this.#isLeaving) it.session.announceShutdown()
    // Not yet: the session calls the events of a stream only after it has them.
    queueMicrotask(() => this.#server.emit('request', request as never, reply as never))
    return {
      head() {},
      data: (chunk) => body?.arrived(chunk),
      end: () => body?.ended(),
      drain: () => void reply.emit('drain'),
      closed(abort) {
        requests.delete(stream)
        client.ended()
        body?.destroy()
        reply.left(abort)
      },
    }
  }

  /** One address has as many requests in progress as it may have connections. */
  #refuse({ socket }: StreamConnection, stream: Stream): StreamEvents {
    this.#parts.faults.requestRejected('refused', peerAddress(socket))
    stream.reset(ErrorCode.refusedStream, 'too many requests of one address')
    return refused
  }

  #ended({ socket }: StreamConnection, { flood, code }: SessionEnd): void {
    if (flood !== undefined) this.#parts.faults.closed('flood', peerAddress(socket))
    else if (code !== ErrorCode.noError) {
      this.#parts.faults.requestRejected('malformed', peerAddress(socket))
    }
    if (socket.destroyed) return
    const destroy = () => void socket.destroy()
    // A client that keeps its side open has been told why we close ours. One that has done nothing wrong
    // may still be reading its last response.
    socket.end(() => setTimeout(destroy, lingerMs).unref())
    setTimeout(destroy, code === ErrorCode.noError ? readingMs : lingerMs).unref()
  }

  #announceShutdown(): void {
    this.#isLeaving = true
    for (const { session } of this.#connections) session.announceShutdown()
  }

  #closeTimedOut(): void {
    const { headersTimeoutMs, keepAliveTimeoutMs } = this.#limits
    const now = performance.now()
    for (const it of [...this.#connections]) {
      const { session, socket, client, hasRequested, openedAt } = it
      const isUnfinished = now - (session.unfinishedSince ?? now) > headersTimeoutMs
      if (isUnfinished || (!hasRequested && now - openedAt > headersTimeoutMs)) {
        this.#parts.faults.requestRejected('timeout', peerAddress(socket))
        session.destroy(ErrorCode.noError, 'no complete request within the timeout')
      } else if (hasRequested && session.size === 0) {
        if (now - client.idleSince > keepAliveTimeoutMs + graceMs) session.shutDown()
      } else this.#failSlowBodies(it, now)
    }
  }

  #failSlowBodies({ requests }: StreamConnection, now: number): void {
    for (const { body, startedAt } of requests.values()) {
      if (body === undefined || body.complete || body.lasts === true) continue
      if (now - startedAt > this.#limits.requestTimeoutMs) {
        body.fail(new Refusal('body-too-slow', { reason: 'timeout' }))
      }
    }
  }
}

function toRequest(
  { method, path, host, headers, contentLength }: RequestFields,
  socket: Socket,
  body: StreamBody | undefined,
): StreamIncomingRequest {
  const rawHeaders = host === undefined ? headers : ['host', host, ...headers]
  // HTTP/2 shows where a body ends. To the pipeline this says the same, and no client can send it.
  if (body !== undefined && contentLength === undefined) {
    rawHeaders.push('transfer-encoding', 'chunked')
  }
  return {
    method,
    url: path,
    httpVersion: '2',
    rawHeaders,
    socket,
    body,
    get complete() {
      return body === undefined || body.complete
    },
  }
}

function isStreaming({ headers }: RequestFields): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === 'content-type') return isStreamingType(headers[at + 1])
  }
  return false
}

const refused: StreamEvents = { head() {}, data() {}, end() {}, drain() {}, closed() {} }

const lingerMs = 1000
const readingMs = 60_000
/** Beyond the timeout: a request sent at the last moment is still on its way. */
const graceMs = 1000

function ignore(): void {}

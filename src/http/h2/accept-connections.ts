import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { preface } from '../../h2/frames.ts'
import { connectionEvent } from '../connections/node-connections.ts'
import { timeoutError } from '../connections/timeout-error.ts'
import type { PublicListener } from '../port/public-listener.ts'
import { StreamConnections, type StreamLimits, type StreamParts } from './stream-connections.ts'

/** Where a port speaks HTTP/2. */
export interface Http2Ports {
  /** Whether clients of TLS may choose HTTP/2. */
  readonly enabled: boolean
  /** Whether clients without TLS may begin with HTTP/2 (h2c). */
  readonly plain: boolean
  readonly maxStreams: number
}

interface AcceptParts extends StreamParts {
  readonly http2: Http2Ports
  readonly isSecure: boolean
  readonly limits: Omit<StreamLimits, 'maxStreams'>
}

/** Hands each connection to the reader of its protocol. */
export function acceptConnections(
  server: PublicListener,
  http1: (socket: Socket) => void,
  { http2, isSecure, limits, clients, faults }: AcceptParts,
): void {
  const event = connectionEvent(server)
  if (!(isSecure ? http2.enabled : http2.plain)) {
    server.on(event, http1)
    return
  }
  const { maxStreams } = http2
  const streams = new StreamConnections(server, { ...limits, maxStreams }, { clients, faults })
  const begin = (socket: Socket) => streams.begin(socket)
  if (isSecure) {
    server.on(event, (socket: TLSSocket) =>
      socket.alpnProtocol === 'h2' ? begin(socket) : http1(socket),
    )
    return
  }
  const timedOut = (socket: Socket) => server.emit('clientError', timeoutError, socket)
  const readers = { http1, http2: begin, timedOut }
  server.on(event, (socket: Socket) =>
    choosePlainProtocol(socket, limits.headersTimeoutMs, readers),
  )
}

interface Readers {
  readonly http1: (socket: Socket) => void
  readonly http2: (socket: Socket) => void
  /** It has sent too little to choose one. */
  readonly timedOut: (socket: Socket) => void
}

/** No method of HTTP/1.1 begins like that (RFC 9113 3.4), so three bytes decide. */
const start = preface.subarray(0, 3)

/**
 * Reads the first bytes of a connection in the clear, and hands it with them to the reader of its
 * protocol. A client of HTTP/2 that knows the server (h2c) begins with the preface.
 */
function choosePlainProtocol(
  socket: Socket,
  timeoutMs: number,
  { http1, http2, timedOut }: Readers,
): void {
  let first: Buffer = Buffer.alloc(0)
  let isChoosing = true
  // As `checkTimeouts` does: what has arrived is read first.
  const timer = setTimeout(() => setImmediate(timeOut), timeoutMs).unref()

  function timeOut(): void {
    if (!isChoosing) return
    stop()
    socket.on('error', () => socket.destroy())
    timedOut(socket)
  }

  function take(chunk: Buffer): void {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const length = Math.min(first.length, start.length)
    const isLike = start.compare(first, 0, length, 0, length) === 0
    if (isLike && length < start.length) return
    stop()
    socket.pause()
    socket.unshift(first)
    if (isLike) http2(socket)
    else http1(socket)
    socket.resume()
  }
  function leave(): void {
    stop()
    socket.destroy()
  }
  function stop(): void {
    isChoosing = false
    clearTimeout(timer)
    socket.off('data', take).off('end', leave).off('error', leave).off('close', stop)
  }
  socket.on('data', take).on('end', leave).on('error', leave).on('close', stop)
}

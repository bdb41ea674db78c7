import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { connectionEvent } from '../connections/node-connections.ts'
import { timeoutError } from '../connections/timeout-error.ts'
import type { PublicListener } from '../port/public-listener.ts'
import { choosePlainProtocol } from './prior-knowledge.ts'
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

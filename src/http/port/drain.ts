import { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { cutSocket } from '../connections/cut-sockets.ts'
import { endsOf } from '../connections/peer-address.ts'
import { replyInProgress } from '../connections/reply-in-progress.ts'
import type { Listeners } from './listeners.ts'
import type { PublicListener } from './public-listener.ts'

interface DrainTimes {
  /** How long new requests are still accepted, so that a load balancer can notice. */
  readonly graceMs: number
  /** How long connections that are idle then may still send a request. */
  readonly idleMs: number
  /** When the connections that are still open are closed, counted from the start of the drain. */
  readonly deadlineMs: number
}

interface DrainOptions {
  readonly closeTunnels?: () => void
  /** Ends the grace period and closes all connections at once when it fires. */
  readonly abortSignal?: AbortSignal | undefined
  /** Called with the number of connections that were closed before they were done. */
  readonly onCut?: (connections: number) => void
}

/**
 * The shutdown of a server:
 *
 *   serving   as before
 *   grace     not ready, but still accepts requests. Every response that has not begun closes its
 *             connection, and says so; connections of HTTP/2 get a first GOAWAY
 *   emptying  accepts no connections. Open ones get one more response: HTTP can announce a close only
 *             with a response, and a close without it would lose a request that is on its way
 *   closing   closes idle connections and those that never sent a request
 *   closed    no connection is open: all were answered, or the deadline closed the rest
 *
 * Tunnels do not end by themselves and are closed after the grace period.
 */
export function createDrain(
  server: PublicListener,
  listeners: Pick<Listeners, 'close'>,
  times: DrainTimes,
  options: DrainOptions = {},
) {
  const { closeTunnels = () => {}, abortSignal = never, onCut = () => {} } = options
  const connections = createConnections(server)
  let draining = false
  let arrivals = 0

  server.prependListener('connection', () => void arrivals++)
  // Every request emits exactly one of these.
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.prependListener(event, (request, reply) => {
      arrivals++
      connections.requested(request.socket)
      if (draining) reply.shouldKeepAlive = false
    })
  }
  server.prependListener('upgrade', (_, socket) => connections.requested(socket as Socket))

  /**
   * To close a connection with a request in its buffer is to fail that request. So the grace period
   * ends when the event loop has just read everything.
   */
  async function quietMoment(): Promise<void> {
    for (let attempt = 0; attempt < 50; attempt++) {
      const before = { arrivals, at: performance.now() }
      await turn()
      if (arrivals === before.arrivals && performance.now() - before.at < 1) return
    }
  }

  async function close(): Promise<void> {
    const startedAt = performance.now()
    draining = true
    server.emit('shutdown')
    for (const socket of connections.open) closeAfterReply(socket)
    await pause(times.graceMs, undefined, { signal: abortSignal }).catch(() => {})
    await quietMoment()

    const closed = listeners.close()
    closeTunnels()
    const leftMs = times.deadlineMs - (performance.now() - startedAt)
    const deadline = setTimeout(cut, Math.max(0, leftMs))
    abortSignal.addEventListener('abort', cut)
    if (abortSignal.aborted) cut()
    const used = new AbortController()
    const end = () => used.abort()
    closed.then(end, end)
    await pause(times.idleMs, undefined, { signal: used.signal }).catch(() => {})
    await quietMoment()

    server.close()
    connections.closeSilent()
    // A busy connection becomes idle after its response, and would otherwise stay open.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), 50)
    const late = setTimeout(connections.closeWithoutRequest, headMs)
    await closed
    // A closed request is logged only after its socket has emitted `close`.
    for (let turns = 0; connections.open.size > 0 && turns < 1000; turns++) await turn()
    await turn()
    abortSignal.removeEventListener('abort', cut)
    clearInterval(sweep)
    clearTimeout(late)
    clearTimeout(deadline)
  }

  function cut(): void {
    if (connections.open.size > 0) onCut(connections.open.size)
    connections.closeAll()
    server.closeAllConnections()
  }

  return { close, isDraining: () => draining }
}

const never = new AbortController().signal

/** How long the first request of a connection may still take to arrive while the server closes. */
const headMs = 1000

/** Makes the response in progress close its connection, if its headers are not sent yet. */
function closeAfterReply(socket: Socket): void {
  const reply = replyInProgress(socket)
  if (reply !== undefined && !reply.headersSent) reply.shouldKeepAlive = false
}

/** Every connection of a server, and which of them have never sent a request. */
function createConnections(server: PublicListener) {
  /** Connections on which HTTP has begun. */
  const open = new Set<Socket>()
  const withoutRequest = new Set<Socket>()
  /** Connections in a TLS handshake, by their two addresses: TLS continues in another socket object. */
  const handshaking = new Map<string, Socket>()

  function begin(socket: Socket): void {
    handshaking.delete(endsOf(socket))
    open.add(socket)
    withoutRequest.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      withoutRequest.delete(socket)
    })
  }
  function handshake(socket: Socket): void {
    const ends = endsOf(socket)
    handshaking.set(ends, socket)
    socket.once('close', () => {
      if (handshaking.get(ends) === socket) handshaking.delete(ends)
    })
  }

  if (server instanceof TlsServer) {
    server.on('connection', handshake)
    server.on('secureConnection', begin)
  } else {
    server.on('connection', begin)
  }

  const destroy = (sockets: Iterable<Socket>) => {
    for (const socket of sockets) cutSocket(socket)
  }
  return {
    open,
    requested: (socket: Socket) => void withoutRequest.delete(socket),
    /** Closes those that have not sent a byte yet. */
    closeSilent() {
      destroy(handshaking.values())
      for (const socket of withoutRequest) if (socket.bytesRead === 0) socket.destroy()
    },
    closeWithoutRequest: () => destroy(withoutRequest),
    closeAll() {
      destroy(handshaking.values())
      destroy(open)
    },
  }
}

import { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { cutSocket } from '../connections/cut-sockets.ts'
import { endsOf } from '../connections/peer-address.ts'
import { replyUnderWay } from '../connections/reply-in-progress.ts'
import type { Doors } from './listeners.ts'
import type { PublicListener } from './public-listener.ts'

interface DrainTimes {
  /** How long new requests are still taken, so that a balancer can notice. */
  readonly graceMs: number
  /** How long connections that are idle then may still be used. */
  readonly idleMs: number
  /** When what is then still open is cut, counted from the beginning. */
  readonly deadlineMs: number
}

interface DrainOptions {
  readonly closeTunnels?: () => void
  /** Ends the grace and cuts what is open when it fires, whatever the times say. */
  readonly abortSignal?: AbortSignal | undefined
  /** Told how many connections were cut. */
  readonly onCut?: (connections: number) => void
}

/**
 * The end of a server, once it is asked for:
 *
 *   serving   as ever
 *   grace     told to be not ready, still taking requests; each answer that has not begun yet is
 *             the last of its connection, and says so
 *   emptying  takes no connection. On those that are open one more request is still answered: to
 *             close one that its client is about to use would be to lose that request, and HTTP has
 *             no other way to tell than with an answer
 *   closing   what is still idle, or never asked anything, is closed
 *   closed    nothing is open: everything was answered, or the deadline cut what was left
 *
 * Tunnels have no end of their own and are closed after the grace.
 */
export function createDrain(
  server: PublicListener,
  doors: Pick<Doors, 'close'>,
  times: DrainTimes,
  options: DrainOptions = {},
) {
  const { closeTunnels = () => {}, abortSignal = never, onCut = () => {} } = options
  const connections = createConnections(server)
  let draining = false
  let arrivals = 0

  server.prependListener('connection', () => void arrivals++)
  // A request comes by one of these, and only by one.
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.prependListener(event, (request, reply) => {
      arrivals++
      connections.asked(request.socket)
      if (draining) reply.shouldKeepAlive = false
    })
  }
  server.prependListener('upgrade', (_, socket) => connections.asked(socket as Socket))

  /**
   * A connection that is closed with a request in its buffer is a request that fails. So the end of
   * the grace is at a moment when the event loop has just read all there was.
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
    for (const socket of connections.open) lastAnswer(socket)
    await pause(times.graceMs, undefined, { signal: abortSignal }).catch(() => {})
    await quietMoment()

    const closed = doors.close()
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
    // A connection that was busy becomes idle when its answer is out, and would then be kept.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), 50)
    const unasked = setTimeout(connections.closeUnasked, headMs)
    await closed
    // Those that were cut are over only when their sockets are, and are written down after that.
    for (let turns = 0; connections.open.size > 0 && turns < 1000; turns++) await turn()
    await turn()
    abortSignal.removeEventListener('abort', cut)
    clearInterval(sweep)
    clearTimeout(unasked)
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

/** How long the first request of a connection may still take to arrive once no other may come. */
const headMs = 1000

/** Makes the answer under way say that it is the last one, if it has not said anything yet. */
function lastAnswer(socket: Socket): void {
  const reply = replyUnderWay(socket)
  if (reply !== undefined && !reply.headersSent) reply.shouldKeepAlive = false
}

/** Every connection of a server, and which of them have never asked anything. */
function createConnections(server: PublicListener) {
  /** Those that HTTP is spoken on. */
  const open = new Set<Socket>()
  const unasked = new Set<Socket>()
  /** TLS is not settled yet. It ends as another object, which has the same ends. */
  const greeting = new Map<string, Socket>()

  function begin(socket: Socket): void {
    greeting.delete(endsOf(socket))
    open.add(socket)
    unasked.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      unasked.delete(socket)
    })
  }
  function greet(socket: Socket): void {
    const ends = endsOf(socket)
    greeting.set(ends, socket)
    socket.once('close', () => {
      if (greeting.get(ends) === socket) greeting.delete(ends)
    })
  }

  if (server instanceof TlsServer) {
    server.on('connection', greet)
    server.on('secureConnection', begin)
  } else {
    server.on('connection', begin)
  }

  const destroy = (sockets: Iterable<Socket>) => {
    for (const socket of sockets) cutSocket(socket)
  }
  return {
    open,
    asked: (socket: Socket) => void unasked.delete(socket),
    /** Closes those that have not sent a byte. */
    closeSilent() {
      destroy(greeting.values())
      for (const socket of unasked) if (socket.bytesRead === 0) socket.destroy()
    },
    closeUnasked: () => destroy(unasked),
    closeAll() {
      destroy(greeting.values())
      destroy(open)
    },
  }
}

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { PublicListener } from './public-listener.ts'

export interface DrainTimes {
  /** How long new requests are still taken, so that a balancer can notice. */
  readonly graceMs: number
  /** When what is then still open is cut, counted from the beginning. */
  readonly deadlineMs: number
}

/**
 * The end of a server, once it is asked for:
 *
 *   serving   as ever
 *   grace     told to be not ready, still taking requests, each answer the last of its connection
 *   closing   takes no connection; idle ones, those that never asked anything and tunnels, which
 *             have no end of their own, are closed
 *   closed    nothing is open: everything was answered, or the deadline cut what was left
 */
export function createDrain(
  server: PublicListener,
  { graceMs, deadlineMs }: DrainTimes,
  closeTunnels: () => void = () => {},
) {
  const silent = new Map<string, Socket>()
  /** Those that the server has let go of, and would neither close nor stop waiting for. */
  const upgraded = new Set<Socket>()
  let draining = false

  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket)
    silent.set(ends, socket)
    socket.once('close', () => {
      if (silent.get(ends) === socket) silent.delete(ends)
    })
  })
  server.prependListener('request', (request, reply) => {
    silent.delete(endsOf(request.socket))
    if (draining) reply.shouldKeepAlive = false
  })

  server.prependListener('upgrade', (_, socket) => {
    silent.delete(endsOf(socket as Socket))
    upgraded.add(socket as Socket)
    socket.once('close', () => upgraded.delete(socket as Socket))
  })

  function cutAll(): void {
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
  }

  async function close(): Promise<void> {
    draining = true
    await pause(graceMs)
    const closed = once(server, 'close')
    server.close()
    closeTunnels()
    for (const socket of silent.values()) socket.destroy()
    // A connection that was busy becomes idle when its answer is out, and would then be kept.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const cut = setTimeout(cutAll, Math.max(0, deadlineMs - graceMs))
    await closed
    clearInterval(sweep)
    clearTimeout(cut)
  }

  return { close, isDraining: () => draining }
}

/** Under TLS the socket of a request is another object than the one that connected. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

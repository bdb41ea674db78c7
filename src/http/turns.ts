import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle = (request: IncomingMessage, reply: ServerResponse) => Promise<void>

/** A client that does not wait for answers may be this many requests ahead. */
const mostWaiting = 100

/**
 * Handles the requests of one connection one after the other. Node would start them all at once:
 * a single client could then occupy every connection to an upstream with one write. `handle` must
 * not reject.
 */
export function createTurns(
  handle: Handle,
): (request: IncomingMessage, reply: ServerResponse) => void {
  const lines = new WeakMap<Socket, { waiting: number; last: Promise<void> }>()

  return (request, reply) => {
    const { socket } = request
    const line = lines.get(socket) ?? { waiting: 0, last: Promise.resolve() }
    lines.set(socket, line)
    if (++line.waiting > mostWaiting) {
      socket.destroy()
      return
    }
    line.last = line.last.then(async () => {
      if (!socket.destroyed) await handle(request, reply)
      line.waiting--
    })
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle = (request: IncomingMessage, reply: ServerResponse) => Promise<void>

/** A client that does not wait for answers may be this many requests ahead. */
const mostWaiting = 100

/** The requests of one connection, and the reply that the next of them has to wait for. */
interface Line {
  waiting: number
  last: Promise<void>
  reply: ServerResponse | undefined
}

/**
 * Handles the requests of one connection one after the other, each when the answer before it has
 * left. Node would start them all at once: a single client could then occupy every connection to
 * an upstream, or have a hundred answers kept for it, with one write. `handle` must not reject.
 */
export function createTurns(
  handle: Handle,
): (request: IncomingMessage, reply: ServerResponse) => void {
  const lines = new WeakMap<Socket, Line>()

  return (request, reply) => {
    const { socket } = request
    const line = lines.get(socket) ?? { waiting: 0, last: Promise.resolve(), reply: undefined }
    lines.set(socket, line)
    if (++line.waiting > mostWaiting) {
      socket.destroy()
      return
    }

    const { last, reply: before } = line
    line.reply = reply
    line.last = take()

    async function take(): Promise<void> {
      await last
      if (before !== undefined && !before.closed) await closed(before)
      // After an answer that ends the connection, nothing that came behind it may still run.
      if (!socket.destroyed && before?.shouldKeepAlive !== false) await handle(request, reply)
      line.waiting--
    }
  }
}

function closed(reply: ServerResponse): Promise<void> {
  return new Promise((resolve) => reply.once('close', resolve))
}

import type { Socket } from 'node:net'
import type { Reply } from '../gateway/reply.ts'
import type { Asked } from './connections/incoming-request.ts'

type Handle = (request: Asked, reply: Reply) => Promise<void>

/** The requests of one connection: the one whose turn it is or was, and those behind it. */
interface Line {
  readonly socket: Socket
  busy: boolean
  reply: Reply | undefined
  waiting: [Asked, Reply][] | undefined
}

/**
 * Handles the requests of one connection one after the other, each when the answer before it has
 * left. Node would start them all at once: a single client could then occupy every connection to
 * an upstream, or have a hundred answers kept for it, with one write. What reads a connection brings
 * the next request when the one before has its answer, so at most a few wait here. `handle` must not
 * reject.
 */
export function createTurns(handle: Handle): (request: Asked, reply: Reply) => void {
  const lines = new WeakMap<Socket, Line>()

  function begin(line: Line, request: Asked, reply: Reply): void {
    // After an answer that ends the connection, nothing that came behind it may still run.
    if (line.socket.destroyed || line.reply?.shouldKeepAlive === false) return
    line.busy = true
    line.reply = reply
    void handle(request, reply).then(() => {
      line.busy = false
      if (line.waiting !== undefined) advance(line)
    })
  }
  function advance(line: Line): void {
    if (line.busy) return
    if (line.reply?.closed === false) {
      line.reply.once('close', () => advance(line))
      return
    }
    const next = line.waiting?.shift()
    if (line.waiting?.length === 0) line.waiting = undefined
    if (next !== undefined) begin(line, ...next)
  }

  return (request, reply) => {
    const { socket } = request
    let line = lines.get(socket)
    if (line === undefined) {
      line = { socket, busy: false, reply: undefined, waiting: undefined }
      lines.set(socket, line)
    }
    if (!line.busy && line.waiting === undefined && line.reply?.closed !== false) {
      begin(line, request, reply)
      return
    }
    line.waiting ??= []
    if (line.waiting.push([request, reply]) === 1) advance(line)
  }
}

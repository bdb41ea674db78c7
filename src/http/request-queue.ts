import type { Socket } from 'node:net'
import type { Reply } from '../gateway/reply.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'

type Handle = (request: IncomingRequest, reply: Reply) => Promise<void>

/** The requests of one connection: the current or last one, and those behind it. */
interface Queue {
  readonly socket: Socket
  busy: boolean
  reply: Reply | undefined
  waiting: [IncomingRequest, Reply][] | undefined
}

/**
 * Handles the requests of a connection one after the other, each when the response before it has been
 * sent. Node would start them all at once: with one write, a client could occupy every connection to
 * an upstream, or have a hundred responses buffered. The readers in front deliver a request when the
 * one before has its response, so the queue stays short. `handle` must not reject.
 */
export function createRequestQueue(
  handle: Handle,
): (request: IncomingRequest, reply: Reply) => void {
  const queues = new WeakMap<Socket, Queue>()

  function begin(queue: Queue, request: IncomingRequest, reply: Reply): void {
    // Requests behind a response that closes the connection must not run.
    if (queue.socket.destroyed || queue.reply?.shouldKeepAlive === false) return
    queue.busy = true
    queue.reply = reply
    void handle(request, reply).then(() => {
      queue.busy = false
      if (queue.waiting !== undefined) advance(queue)
    })
  }
  function advance(queue: Queue): void {
    if (queue.busy) return
    if (queue.reply?.closed === false) {
      queue.reply.once('close', () => advance(queue))
      return
    }
    const next = queue.waiting?.shift()
    if (queue.waiting?.length === 0) queue.waiting = undefined
    if (next !== undefined) begin(queue, ...next)
  }

  return (request, reply) => {
    const { socket } = request
    let queue = queues.get(socket)
    if (queue === undefined) {
      queue = { socket, busy: false, reply: undefined, waiting: undefined }
      queues.set(socket, queue)
    }
    if (!queue.busy && queue.waiting === undefined && queue.reply?.closed !== false) {
      begin(queue, request, reply)
      return
    }
    queue.waiting ??= []
    if (queue.waiting.push([request, reply]) === 1) advance(queue)
  }
}

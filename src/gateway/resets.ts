import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

const readBefore = Symbol('bytes read before the request')

interface PooledSocket extends Socket {
  [readBefore]?: number
}

let resetting = false
const withAnswer = new WeakSet<Error>()

// undici takes the reset of a connection for the end of an answer that has neither length nor
// chunks: what was cut off would reach the client as whole. It tells nobody, and it listens for
// the error itself, so we have to hear of it first.
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { readonly socket: PooledSocket }
  socket.prependListener('error', (error: Error) => {
    if (socket.bytesRead > (socket[readBefore] ?? 0)) withAnswer.add(error)
    resetting = true
    queueMicrotask(() => {
      resetting = false
    })
  })
})

// Nor does it tell whether a connection broke before an answer or within its headers.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { readonly socket: PooledSocket }
  socket[readBefore] = socket.bytesRead
})

/** Whether what undici tells right now comes of a connection that broke. */
export function isResetting(): boolean {
  return resetting
}

/** Whether the connection that broke with this error had brought bytes of an answer. */
export function hadAnswer(error: Error): boolean {
  return withAnswer.has(error)
}

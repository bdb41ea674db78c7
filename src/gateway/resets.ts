import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

let resetting = false

// undici takes the reset of a connection for the end of an answer that has neither length nor
// chunks: what was cut off would reach the client as whole. It tells nobody, and it listens for
// the error itself, so we have to hear of it first.
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { readonly socket: Socket }
  socket.prependListener('error', () => {
    resetting = true
    queueMicrotask(() => {
      resetting = false
    })
  })
})

/** Whether what undici tells right now comes of a connection that broke. */
export function isResetting(): boolean {
  return resetting
}

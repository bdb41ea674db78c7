import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The protocol that a request asks for, if it is allowed. */
type FindUpgrade = (request: IncomingMessage) => string | undefined

/**
 * Ignores every protocol that is not listed, as RFC 9110 7.8 allows: the request then continues without
 * an upgrade. h2c, which some clients always ask for, would open a connection without any checks.
 */
export function createUpgradeFinder(protocols: readonly string[]): FindUpgrade {
  return ({ method, headers, httpVersion }) => {
    if (headers.upgrade === undefined || method !== 'GET') return undefined
    // RFC 9110 7.8: ignore it in an HTTP/1.0 request.
    if (httpVersion === '1.0') return undefined
    // With a body, it would be unclear where the other protocol begins.
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
      return undefined
    }
    const protocol = headers.upgrade.toLowerCase()
    return protocols.includes(protocol) ? protocol : undefined
  }
}

/** The reply on a connection that Node's parser has released. It is the last one there. */
export function replyOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const reply = new ServerResponse(request)
  reply.shouldKeepAlive = false
  socket.on('error', () => {})
  reply.assignSocket(socket)
  // The connection is not read until there is a response, so a disconnect would go unnoticed.
  socket.once('end', () => {
    if (reply.socket === socket) socket.destroy()
  })
  socket.read(0)
  // Node no longer emits it here, and without it a long response to a slow client would stop.
  socket.on('drain', () => {
    if (reply.socket === socket && !reply.writableEnded) reply.emit('drain')
  })
  reply.on('finish', () => socket.destroySoon())
  return reply
}

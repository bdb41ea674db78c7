import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The protocol that a request asks to go on in, if it is one that may be asked for. */
type FindUpgrade = (request: IncomingMessage) => string | undefined

/**
 * Only what is listed counts. Anything else in Upgrade is passed over, as RFC 9110 7.8 allows, and
 * the request is a plain one: h2c, which some clients ask for every time, would open a connection
 * on which nothing is checked any more.
 */
export function createUpgradeFinder(protocols: readonly string[]): FindUpgrade {
  return ({ method, headers, httpVersion }) => {
    if (headers.upgrade === undefined || method !== 'GET') return undefined
    // RFC 9110 7.8: to be ignored in an HTTP/1.0 request.
    if (httpVersion === '1.0') return undefined
    // With a body, it would be unclear where the other protocol begins.
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
      return undefined
    }
    const protocol = headers.upgrade.toLowerCase()
    return protocols.includes(protocol) ? protocol : undefined
  }
}

/** A reply on a connection that Node's parser has let go of. It is the last one there. */
export function replyOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const reply = new ServerResponse(request)
  reply.shouldKeepAlive = false
  socket.on('error', () => {})
  reply.assignSocket(socket)
  // Nobody reads the connection until there is an answer, so nobody would see the client leave.
  socket.once('end', () => {
    if (reply.socket === socket) socket.destroy()
  })
  socket.read(0)
  // Node has stopped telling this too: without it, a long answer to a slow reader never goes on.
  socket.on('drain', () => {
    if (reply.socket === socket && !reply.writableEnded) reply.emit('drain')
  })
  reply.on('finish', () => socket.destroySoon())
  return reply
}

import type { Socket } from 'node:net'
import type { Reply } from '../reply.ts'

/** Writes the answer by hand: what follows on this connection is no longer HTTP. */
export function switchProtocols(
  reply: Reply,
  client: Socket,
  [protocol, headers]: readonly [string, readonly string[]],
): void {
  reply.detachSocket(client)
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${protocol}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** The client has part of an answer: ending the connection is the only way left to say so. */
export function breakOff(reply: Reply): void {
  const { socket, req } = reply
  // To a client of HTTP/1.0, a connection that is closed in order is an answer that is whole. TLS has
  // an end of its own, which is not sent, and no reset.
  if (req.httpVersionMinor === 0 && socket !== null && !('encrypted' in socket)) {
    socket.resetAndDestroy()
  }
  reply.destroy()
}

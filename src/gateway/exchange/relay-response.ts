import type { Socket } from 'node:net'
import { nextTick } from 'node:process'
import type { Duplex } from 'node:stream'
import { atEndOfTurn } from '../../wire/end-of-turn.ts'
import type { ResponseHead } from '../../wire/response-head.ts'
import type { Reply } from '../reply.ts'
import { finish, leave, type Running, report } from './running-exchange.ts'
import { cutUnlessRead } from './unread-response.ts'

/**
 * How many bytes a client may leave unread before the upstream is paused. With less, every write would
 * pause the upstream even for a client that reads at full speed.
 */
const maxUnread = 131_072

/* The response handler of an exchange. `this` is the exchange. */

export function complete(this: Running, head: ResponseHead, body: string): void {
  const { reply } = this.parts
  const headers = beginResponse(this, head)
  // Before the response is sent: a request read in this turn may already use the connection.
  report(this, 'answered')
  atEndOfTurn(() => {
    if (this.finished) return
    try {
      reply.writeHead(head.status, headers)
      // A string is sent in one write with the headers.
      reply.end(body, 'latin1')
      finish(this, 'answered')
    } catch (error) {
      finish(this, 'answered', error as Error)
    }
  })
}

export function head(this: Running, head: ResponseHead): void {
  const { reply, takesTrailers, relayTrailers, eventStreams } = this.parts
  const out = beginResponse(this, head)
  eventStreams.began(head, reply)
  // Node refuses to announce trailers without chunked encoding.
  if (takesTrailers && head.framing === 'chunked') {
    const names = relayTrailers.announced(head.headers)
    if (names !== undefined) out.push('Trailer', names)
  }
  reply.writeHead(head.status, out)
  reply.on('drain', () => resumeUpstream(this))
  // Node holds headers back until the first data, and events may come minutes later.
  nextTick(flush, this)
}

export function data(this: Running, chunk: Buffer, release: () => void): boolean {
  const { reply, unread } = this.parts
  this.streaming = true
  // After an error the chunk may still be queued, so its buffer must not be reused.
  const left = (error?: Error | null) => {
    if (!error) release()
  }
  if (reply.write(chunk, left) || reply.writableLength < maxUnread) return true
  this.stopWaiting?.()
  this.stopWaiting = cutUnlessRead(unread, {
    isWanted: () => isWanted(this),
    cut: () => cutOff(this),
  })
  return false
}

export function end(this: Running, trailers: readonly string[]): void {
  const { reply, takesTrailers, relayTrailers } = this.parts
  if (takesTrailers) reply.addTrailers(relayTrailers.relayed(trailers))
  reply.end()
  finish(this, 'answered')
}

export function upgraded(this: Running, head: ResponseHead, socket: Duplex): void {
  const { reply, upgrade, tunnels } = this.parts
  const client = reply.socket
  if (this.finished || client === null || upgrade === undefined) {
    socket.destroy()
    return
  }
  const { target } = this
  const { protocol, head: first } = upgrade
  const headers = beginResponse(this, head)
  // A tunnel lasts until it is idle.
  clearTimeout(this.deadline)
  reply.off('close', this.onClose)
  reply.statusCode = head.status
  switchProtocols(reply, client, [protocol, headers])
  this.tunnel = tunnels.open({ protocol, client, upstream: socket, head: first })
  target.tunnelled()
  report(this, 'answered')
  void this.tunnel.ended.then(() => {
    target.tunnelEnded()
    finish(this, 'answered')
  })
}

function beginResponse(it: Running, head: ResponseHead): string[] {
  it.responding = true
  it.target.answered(it.attempt, it.parts.who, head.status)
  const { relayHeaders, carrier, sticky } = it.parts
  const headers = relayHeaders(head, carrier)
  // Of the target that responded, which after a retry is not the first one.
  sticky?.mark?.(headers, it.target)
  return headers
}

function flush({ finished, streaming, parts: { reply } }: Running): void {
  if (!finished && !streaming) reply.flushHeaders()
}

function resumeUpstream(it: Running): void {
  if (it.finished) return
  it.stopWaiting?.()
  it.stopWaiting = undefined
  if (it.call !== undefined) it.target.resume(it.call)
}

/** Whether requests of the same client, or of any, wait for its connection. */
function isWanted({ share, target, parts: { upstream } }: Running): boolean {
  if (share !== undefined && share.line.length > 0) return true
  return target.waiting() > upstream.settings.connections
}

function cutOff(it: Running): void {
  leave(it, 'gateway')
  it.parts.reply.destroy()
}

/** By hand: after this response the connection no longer carries HTTP. */
function switchProtocols(
  reply: Reply,
  client: Socket,
  [protocol, headers]: readonly [string, readonly string[]],
): void {
  reply.detachSocket(client)
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${protocol}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

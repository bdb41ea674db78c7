import { Refusal } from '../../errors.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Call } from '../../wire/pool.ts'
import type { ResponseHandler, WireRequest } from '../../wire/request-head.ts'
import type { Upgrade } from '../arrival/arrival.ts'
import type { Carrier, Notes } from '../arrival/notes.ts'
import type { RelayHeaders } from '../headers/relayed-headers.ts'
import type { RelayTrailers } from '../headers/relayed-trailers.ts'
import type { Reply } from '../reply.ts'
import type { Authorized } from '../stages.ts'
import type { Attempt } from '../upstream/breaker.ts'
import type { Share } from '../upstream/shares.ts'
import type { Ending, Target } from '../upstream/target.ts'
import { upstreamFault } from '../upstream/upstream-errors.ts'
import type { Upstream } from '../upstream/upstreams.ts'
import type { EventStreams } from './event-streams.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RequestBody } from './request-body.ts'
import type { Retryable } from './retry-target.ts'
import type { Tunnel, Tunnels } from './tunnels.ts'
import type { UnreadLimits } from './unread-response.ts'

export interface Exchange {
  readonly reply: Reply
  readonly upstream: Upstream
  readonly request: WireRequest
  /** The body of that request, if it has one. */
  readonly body: RequestBody | undefined
  /** Whose share of the connections it uses: the caller, or the address of one without a token. */
  readonly who: string
  readonly relayHeaders: RelayHeaders
  readonly relayTrailers: RelayTrailers
  /** Whether the client has said that it reads trailers. */
  readonly takesTrailers: boolean
  /** How long a client may leave an answer unread before it is cut off. */
  readonly unread: UnreadLimits
  readonly carrier: Carrier | undefined
  /** Whose token it is that allows this; absent on a public route. */
  readonly token: VerifiedToken | undefined
  readonly authorized: Authorized
  readonly openExchanges: OpenExchanges
  readonly tunnels: Tunnels
  readonly eventStreams: EventStreams
  /** What the client asked to go on with, if it did. */
  readonly upgrade: Upgrade | undefined
  readonly notes: Notes
}

/** An exchange, from its beginning until it is over. */
export interface Running extends ResponseHandler, Retryable {
  readonly parts: Exchange
  readonly settled: PromiseWithResolvers<void>
  readonly onClose: () => void
  /** How it is found when its token ends. */
  open: OpenExchange | undefined
  target: Target
  attempt: Attempt
  /** The share that it holds. */
  share: Share | undefined
  /** What ends its wait: for a share, or for the client to read. */
  stopWaiting: (() => void) | undefined
  call: Call | undefined
  timer: NodeJS.Timeout | undefined
  tunnel: Tunnel | undefined
  /** Whether the target knows how it ended. */
  reported: boolean
  responding: boolean
  streaming: boolean
  finished: boolean
}

/** Ends it, once. With an error, the client is told of that, or cut off if it has part of an answer. */
export function finish(it: Running, how: Ending, error?: Error): void {
  if (it.finished) return
  it.finished = true
  const { reply, request, notes, openExchanges } = it.parts
  clearTimeout(it.timer)
  it.stopWaiting?.()
  report(it, how, error)
  if (it.open !== undefined) openExchanges.leave(it.open)
  reply.off('close', it.onClose)
  request.upload?.stop()
  if (error !== undefined && reply.headersSent) {
    notes.cut ??= 'upstream'
    breakOff(reply)
  }
  if (error === undefined || reply.headersSent || it.tunnel !== undefined) it.settled.resolve()
  else it.settled.reject(error instanceof Refusal ? error : upstreamFault(error))
}

/** The target learns of it once: its place is free again. */
export function report(it: Running, how: Ending, error?: Error): void {
  if (it.reported) return
  it.reported = true
  it.target.ended(it.responding ? 'answered' : how, it.attempt, error)
  if (it.share === undefined) return
  it.parts.upstream.shares.release(it.share)
  it.share = undefined
}

/** Takes its request back from the target. */
function abort({ call, target }: Running): void {
  if (call !== undefined) target.abort(call)
}

/** Its client has left, or is cut off. */
export function leave(it: Running, by: 'client' | 'gateway' = 'client'): void {
  it.parts.notes.cut = by
  finish(it, 'inconclusive')
  abort(it)
}

/** Its token or its permission has ended. */
export function cut(it: Running, reason: Error): void {
  const isPolicy = reason instanceof Refusal && reason.kind === 'not-permitted'
  it.parts.notes.cut = isPolicy ? 'policy' : 'token'
  it.tunnel?.close(1008)
  giveUp(it, reason)
}

/** Ends it for a reason that the client is told of, if it has not been answered. */
export function giveUp(it: Running, error: Error): void {
  finish(it, 'inconclusive', error)
  abort(it)
}

/** The client has part of a response: only closing the connection can report the failure. */
function breakOff(reply: Reply): void {
  const { socket, req } = reply
  // An HTTP/1.0 client takes an orderly close for the end of a complete response, so reset. TLS has no
  // reset; there, the missing close_notify shows that the response was cut.
  if (req.httpVersionMinor === 0 && socket !== null && !('encrypted' in socket)) {
    socket.resetAndDestroy()
  }
  reply.destroy()
}

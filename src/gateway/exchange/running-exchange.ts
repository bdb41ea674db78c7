import { Fault, Refusal } from '../../kernel/errors.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Call } from '../../wire/pool.ts'
import type { ResponseHandler, WireRequest } from '../../wire/request-head.ts'
import type { Upgrade } from '../arrival/arrival.ts'
import type { Carrier, Notes } from '../arrival/notes.ts'
import type { RelayHeaders } from '../headers/relayed-headers.ts'
import type { RelayTrailers } from '../headers/relayed-trailers.ts'
import type { Reply } from '../reply.ts'
import type { Authorized } from '../stages.ts'
import type { Share } from '../upstream/shares.ts'
import type { StickyChoice } from '../upstream/sticky.ts'
import type { Attempt, Ending, Target } from '../upstream/target.ts'
import { isBroken, upstreamFault } from '../upstream/upstream-errors.ts'
import type { Upstream } from '../upstream/upstreams.ts'
import type { EventStreams } from './event-streams.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RequestBody } from './request-body.ts'
import { ClientLeft } from './request-body.ts'
import type { Retryable } from './retry-target.ts'
import type { Tunnel, Tunnels } from './tunnels.ts'
import type { UnreadLimits } from './unread-response.ts'

export interface Exchange {
  readonly reply: Reply
  readonly upstream: Upstream
  /** Only on a route whose clients stay with a target. */
  readonly sticky: StickyChoice | undefined
  readonly request: WireRequest
  /** The body of that request, if it has one. */
  readonly body: RequestBody | undefined
  /** The owner of the share it uses: the caller, or the address of a client without a token. */
  readonly who: string
  readonly relayHeaders: RelayHeaders
  readonly relayTrailers: RelayTrailers
  readonly takesTrailers: boolean
  readonly unread: UnreadLimits
  readonly carrier: Carrier | undefined
  /** A revocation of this token ends the exchange; absent on a public route and for a logout. */
  readonly token: VerifiedToken | undefined
  readonly authorized: Authorized
  readonly openExchanges: OpenExchanges
  readonly tunnels: Tunnels
  readonly eventStreams: EventStreams
  readonly upgrade: Upgrade | undefined
  /** How long all of it may take. */
  readonly totalMs: number | undefined
  readonly notes: Notes
}

/** The state of one exchange; `exchange.ts` lists its stages. */
export interface Running extends ResponseHandler, Retryable {
  readonly parts: Exchange
  readonly settled: PromiseWithResolvers<void>
  readonly onClose: () => void
  /** The entry of this exchange in `openExchanges`. */
  open: OpenExchange | undefined
  target: Target
  attempt: Attempt
  share: Share | undefined
  /** Ends its wait for a share, or for the client to read. */
  stopWaiting: (() => void) | undefined
  call: Call | undefined
  timer: NodeJS.Timeout | undefined
  /** Ends it after `totalMs`. */
  deadline: NodeJS.Timeout | undefined
  tunnel: Tunnel | undefined
  /** Whether the result was reported to the target. */
  reported: boolean
  responding: boolean
  streaming: boolean
  finished: boolean
}

/** Ends it, once. An error is reported to the client, or cuts it off if its response has begun. */
export function finish(it: Running, how: Ending, error?: Error): void {
  if (it.finished) return
  // The client's body may end before its connection: no fault of the target.
  if (error instanceof ClientLeft) {
    it.parts.notes.cut ??= 'client'
    finish(it, 'inconclusive')
    return
  }
  it.finished = true
  const { reply, request, notes, openExchanges } = it.parts
  clearTimeout(it.timer)
  if (it.deadline !== undefined) clearTimeout(it.deadline)
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

/** Reports the result to the target, once, and releases the share. */
export function report(it: Running, how: Ending, error?: Error): void {
  if (it.reported) return
  it.reported = true
  const ending = it.responding ? endingOfResponse(how, error) : how
  it.target.ended(ending, it.attempt, it.parts.who, error)
  if (it.share === undefined) return
  it.parts.upstream.shares.release(it.share)
  it.share = undefined
}

function endingOfResponse(how: Ending, error: Error | undefined): Ending {
  if (how === 'answered') return how
  return error !== undefined && isBroken(error) ? 'broken' : 'dropped'
}

function abort({ call, target }: Running): void {
  if (call !== undefined) target.abort(call)
}

/** The client has disconnected, or is cut off. */
export function leave(it: Running, by: 'client' | 'gateway' = 'client'): void {
  it.parts.notes.cut = by
  finish(it, 'inconclusive')
  abort(it)
}

/** The token or the permission was revoked, or has expired. */
export function cut(it: Running, reason: Error): void {
  const isPolicy = reason instanceof Refusal && reason.kind === 'not-permitted'
  it.parts.notes.cut = isPolicy ? 'policy' : 'token'
  it.tunnel?.close(1008)
  giveUp(it, reason)
}

/** Ends it with an error and aborts the request to the target. */
export function giveUp(it: Running, error: Error): void {
  finish(it, 'inconclusive', error)
  abort(it)
}

/** The total timeout of its route has passed. */
export function expire(it: Running): void {
  const { body, notes, reply } = it.parts
  if (reply.headersSent) notes.cut = 'gateway'
  // A request that still waits for a connection, or for its client, says nothing about the target.
  const isSent = it.call?.connection !== undefined && (body === undefined || body.isComplete())
  const reason = 'total timeout of the route'
  finish(it, isSent ? 'failed' : 'inconclusive', new Fault('upstream-timeout', { reason }))
  abort(it)
}

/** The client has part of a response: only closing the connection can report the failure. */
function breakOff(reply: Reply): void {
  const { socket, req } = reply
  const isOld = req.httpVersionMajor === 1 && req.httpVersionMinor === 0
  // An HTTP/1.0 client takes an orderly close for the end of a complete response, so reset. TLS has no
  // reset; there, the missing close_notify shows that the response was cut.
  if (isOld && socket !== null && !('encrypted' in socket)) {
    socket.resetAndDestroy()
  }
  reply.destroy()
}

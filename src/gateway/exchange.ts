import { nextTick } from 'node:process'
import type { Duplex } from 'node:stream'
import { Fault, Refusal } from '../errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { AnswerHead } from '../wire/answer-head.ts'
import { atEndOfTurn } from '../wire/end-of-turn.ts'
import type { Call } from '../wire/pool.ts'
import type { AnswerHandler, WireRequest } from '../wire/request-head.ts'
import { breakOff, switchProtocols } from './answering.ts'
import type { Attempt } from './breaker.ts'
import type { EventStreams } from './event-streams.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RelayHeaders } from './relayed-headers.ts'
import type { RelayTrailers } from './relayed-trailers.ts'
import type { Reply } from './reply.ts'
import type { RequestBody } from './request-body.ts'
import { type Retryable, retryTarget } from './retry-target.ts'
import { type Share, waitForShare } from './shares.ts'
import type { Authorized, Carrier, Notes, Upgrade } from './stages.ts'
import type { Ending, Target } from './target.ts'
import type { Tunnel, Tunnels } from './tunnels.ts'
import { cutUnlessRead, type UnreadLimits } from './unread-response.ts'
import { isStale, isUnreached, upstreamFault } from './upstream-errors.ts'
import type { Upstream } from './upstreams.ts'

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

/**
 * What a client may leave unread before the upstream is asked to wait. Less would stop and start a
 * client that reads as fast as it is sent to, with every write.
 */
const mostUnread = 131_072

/** An exchange, from its beginning until it is over. */
interface Running extends AnswerHandler, Retryable {
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
  told: boolean
  answering: boolean
  streaming: boolean
  over: boolean
}

/**
 * One request to an upstream and its answer, streamed with backpressure. Resolves when it is over
 * in whatever way; rejects with a Refusal or a Fault only while the client has not been answered.
 *
 *   gathering  the client has yet to send the beginning of its body; nothing of the upstream is taken
 *   waiting    its client has used up its share of the connections; ends like `queued`
 *   queued     every connection is taken; ends with a Fault when none comes free in time
 *   sent       the target has the request; the limits of the pool end a wait for the answer. What
 *              fails here without a byte of an answer may be sent again: queued, for a new connection
 *   answering  the answer is on its way to the client; a client that does not read is cut off
 *   tunnelling the target agreed to another protocol; bytes go both ways until a side closes
 *   over       nothing of this exchange holds a connection, a timer or a listener any more
 *
 * Whatever it is at, it is over soon after its token or its permission is.
 */
export function exchange(parts: Exchange): Promise<void> {
  const { reply, upstream, token, authorized, openExchanges } = parts
  // One object, with functions that all exchanges share: a function for each thing that can happen,
  // made for each request, was a tenth of what there is to collect.
  const it: Running = {
    parts,
    settled: Promise.withResolvers<void>(),
    onClose: () => leave(it),
    open: undefined,
    target: upstream.choose(parts.upgrade !== undefined),
    attempt: 0,
    share: undefined,
    stopWaiting: undefined,
    call: undefined,
    timer: undefined,
    tried: undefined,
    stale: undefined,
    counted: 0,
    tunnel: undefined,
    told: true,
    answering: false,
    streaming: false,
    over: false,
    sent,
    whole,
    head,
    data,
    end,
    upgraded,
    failed,
  }
  upstream.budget.sent()
  if (token !== undefined) {
    it.open = { token, authorized, cut: (reason) => cut(it, reason), place: -1 }
    openExchanges.enter(it.open)
  }
  reply.on('close', it.onClose)
  begin(it)
  // The client may have left while its token was being checked.
  if (reply.closed || reply.destroyed) leave(it)
  return it.settled.promise
}

function finish(it: Running, how: Ending, error?: Error): void {
  if (it.over) return
  it.over = true
  const { reply, request, notes, openExchanges } = it.parts
  clearTimeout(it.timer)
  it.stopWaiting?.()
  tell(it, how)
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
function tell(it: Running, how: Ending): void {
  if (it.told) return
  it.told = true
  it.target.ended(it.answering ? 'answered' : how, it.attempt)
  if (it.share === undefined) return
  it.parts.upstream.shares.release(it.share)
  it.share = undefined
}

/** A client that has sent nothing yet takes nothing from others. */
function begin(it: Running): void {
  const { body, upstream } = it.parts
  if (body === undefined || upstream.requestBufferBytes === 0 || body.isWhole())
    takeShare(it, false)
  else {
    body.gather(upstream.requestBufferBytes, {
      ready() {
        if (!it.over) takeShare(it, true)
      },
      failed: (error) => finish(it, 'untold', error),
    })
  }
}

/** `hasWaited`: whether its target was chosen some time ago. */
function takeShare(it: Running, hasWaited: boolean): void {
  const { upstream, who } = it.parts
  const share = upstream.shares.of(who)
  if (upstream.shares.hold(share)) {
    it.share = share
    if (hasWaited) sendNow(it)
    else send(it, false)
    return
  }
  it.stopWaiting = waitForShare(upstream.shares, share, {
    withinMs: upstream.queueTimeoutMs,
    begin() {
      it.stopWaiting = undefined
      it.share = share
      sendNow(it)
    },
    giveUp: (fault) => finish(it, 'untold', fault),
  })
  // It may have been refused at once.
  if (it.over) it.stopWaiting()
}

/** After a wait, the target that was chosen before it may no longer be the one to ask. */
function sendNow(it: Running): void {
  const { upstream, upgrade } = it.parts
  try {
    it.target = upstream.choose(upgrade !== undefined)
  } catch (error) {
    upstream.shares.release(it.share as Share)
    it.share = undefined
    finish(it, 'untold', error as Error)
    return
  }
  send(it, false)
}

function abort({ call, target }: Running): void {
  if (call !== undefined) target.abort(call)
}

function leave(it: Running): void {
  it.parts.notes.cut = 'client'
  finish(it, 'untold')
  abort(it)
}

/** Whether others wait for what it holds: of its own client, or of all. */
function isWanted({ share, target, parts: { upstream } }: Running): boolean {
  if (share !== undefined && share.line.length > 0) return true
  return target.waiting() > upstream.connections
}

function stall(it: Running): void {
  leave(it)
  it.parts.reply.destroy()
}

function cut(it: Running, reason: Error): void {
  const isPolicy = reason instanceof Refusal && reason.kind === 'not-permitted'
  it.parts.notes.cut = isPolicy ? 'policy' : 'token'
  it.tunnel?.close(1008)
  finish(it, 'untold', reason)
  abort(it)
}

function giveUpWaiting(it: Running): void {
  finish(it, 'untold', new Fault('upstream-busy', { reason: 'no connection came free in time' }))
  abort(it)
}

function send(it: Running, fresh: boolean): void {
  const { target } = it
  const { notes, upstream, request } = it.parts
  it.told = false
  it.attempt = target.began()
  notes.target = target.name
  notes.sentAt ??= performance.now()
  if (target.waiting() > upstream.connections) {
    it.timer = setTimeout(giveUpWaiting, upstream.queueTimeoutMs, it)
  }
  it.call = target.send(request, it, fresh)
}

function sendElsewhere(it: Running, error: Error): boolean {
  const other = retryTarget(it, error)
  if (other === undefined) return false
  const { notes } = it.parts
  clearTimeout(it.timer)
  it.timer = undefined
  it.target.ended(isStale(error) ? 'untold' : blame(error), it.attempt)
  it.target = other
  notes.retries = (notes.retries ?? 0) + 1
  send(it, true)
  return true
}

/** What is the client's doing, such as too long a body, is not held against the target. */
function blame(error: Error): Ending {
  if (error instanceof Refusal) return 'untold'
  return isUnreached(error) ? 'unreached' : 'failed'
}

function beginAnswer(it: Running, head: AnswerHead): string[] {
  it.answering = true
  it.target.answered(it.attempt)
  return it.parts.relayHeaders(head, it.parts.carrier)
}

function sent(this: Running): void {
  if (this.timer === undefined) return
  clearTimeout(this.timer)
  this.timer = undefined
}

function whole(this: Running, head: AnswerHead, body: string): void {
  const { reply } = this.parts
  const headers = beginAnswer(this, head)
  // Before the answer leaves: a request that is read in this very turn may have the place.
  tell(this, 'answered')
  atEndOfTurn(() => {
    if (this.over) return
    try {
      reply.writeHead(head.status, headers)
      // As text, it leaves in one piece with the headers.
      reply.end(body, 'latin1')
      finish(this, 'answered')
    } catch (error) {
      finish(this, 'answered', error as Error)
    }
  })
}

function head(this: Running, head: AnswerHead): void {
  const { reply, takesTrailers, relayTrailers, eventStreams } = this.parts
  const out = beginAnswer(this, head)
  eventStreams.began(head, reply)
  // Node refuses to announce trailers where there are no chunks that could carry them.
  if (takesTrailers && head.framing === 'chunked') {
    const names = relayTrailers.announced(head.headers)
    if (names !== undefined) out.push('Trailer', names)
  }
  reply.writeHead(head.status, out)
  reply.on('drain', () => goOn(this))
  // Node keeps headers until something follows; events may follow minutes later.
  nextTick(flush, this)
}

function flush({ over, streaming, parts: { reply } }: Running): void {
  if (!over && !streaming) reply.flushHeaders()
}

function goOn(it: Running): void {
  if (it.over) return
  it.stopWaiting?.()
  it.stopWaiting = undefined
  if (it.call !== undefined) it.target.resume(it.call)
}

function data(this: Running, chunk: Buffer, release: () => void): boolean {
  const { reply, unread } = this.parts
  this.streaming = true
  // What could not be sent may lie in a queue still: then it is not for others to write over.
  const left = (error?: Error | null) => {
    if (!error) release()
  }
  if (reply.write(chunk, left) || reply.writableLength < mostUnread) return true
  this.stopWaiting?.()
  this.stopWaiting = cutUnlessRead(unread, {
    isWanted: () => isWanted(this),
    cut: () => stall(this),
  })
  return false
}

function end(this: Running, trailers: readonly string[]): void {
  const { reply, takesTrailers, relayTrailers } = this.parts
  if (takesTrailers) reply.addTrailers(relayTrailers.relayed(trailers))
  reply.end()
  finish(this, 'answered')
}

function upgraded(this: Running, head: AnswerHead, socket: Duplex): void {
  const { reply, upgrade, tunnels } = this.parts
  const client = reply.socket
  if (this.over || client === null || upgrade === undefined) {
    socket.destroy()
    return
  }
  const { target } = this
  const { protocol, head: first } = upgrade
  const headers = beginAnswer(this, head)
  reply.off('close', this.onClose)
  reply.statusCode = head.status
  switchProtocols(reply, client, [protocol, headers])
  this.tunnel = tunnels.open({ protocol, client, upstream: socket, head: first })
  target.tunnelled()
  tell(this, 'answered')
  void this.tunnel.ended.then(() => {
    target.tunnelEnded()
    finish(this, 'answered')
  })
}

function failed(this: Running, error: Error): void {
  if (this.over || sendElsewhere(this, error)) return
  finish(this, blame(error), error)
}

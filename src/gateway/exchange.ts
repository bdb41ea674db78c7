import type { ServerResponse } from 'node:http'
import { nextTick } from 'node:process'
import type { Duplex } from 'node:stream'
import { Fault, Refusal } from '../errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { AnswerHead } from '../wire/answer-head.ts'
import { atEndOfTurn } from '../wire/end-of-turn.ts'
import type { Call } from '../wire/pool.ts'
import type { AnswerHandler, WireRequest } from '../wire/request-head.ts'
import { breakOff, switchProtocols } from './answering.ts'
import type { EventStreams } from './event-streams.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RelayHeaders } from './relayed-headers.ts'
import type { RelayTrailers } from './relayed-trailers.ts'
import type { Authorized, Carrier, Notes, Upgrade } from './stages.ts'
import type { Ending, Target } from './target.ts'
import type { Tunnel, Tunnels } from './tunnels.ts'
import { isCut, isUnheard, mayRepeat } from './upstream-errors.ts'
import type { Upstream } from './upstreams.ts'

export interface Exchange {
  readonly reply: ServerResponse
  readonly upstream: Upstream
  readonly request: WireRequest
  readonly relayHeaders: RelayHeaders
  readonly relayTrailers: RelayTrailers
  /** Whether the client has said that it reads trailers. */
  readonly takesTrailers: boolean
  /** How long a client may leave an answer unread before it is cut off. */
  readonly maxStallMs: number
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

/**
 * One request to an upstream and its answer, streamed with backpressure. Resolves when it is over
 * in whatever way, with the error if the client has not been answered; never rejects.
 *
 *   queued     every connection is taken; ends with a Fault when none comes free in time
 *   sent       the target has the request; the limits of the pool end a wait for the answer. What
 *              fails here without a byte of an answer may go to another target: queued again
 *   answering  the answer is on its way to the client; a client that does not read is cut off
 *   tunnelling the target agreed to another protocol; bytes go both ways until a side closes
 *   over       nothing of this exchange holds a connection, a timer or a listener any more
 *
 * Whatever it is at, it is over soon after its token or its permission is.
 */
export function exchange(parts: Exchange): Promise<Error | undefined> {
  const { reply, upstream, request, relayHeaders, maxStallMs, carrier, token, notes } = parts
  const { openExchanges } = parts
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  let call: Call | undefined
  let timer: NodeJS.Timeout | undefined
  let target: Target
  let attempt = 0
  let tunnel: Tunnel | undefined
  let tried: Set<Target> | undefined
  let answering = false
  let wholeBody = ''
  let streaming = false
  let over = false
  const open: OpenExchange | undefined = token && {
    token,
    authorized: parts.authorized,
    cut,
    place: -1,
  }

  function end(how: Ending, error?: Error): void {
    if (over) return
    over = true
    clearTimeout(timer)
    // The request of a tunnel has ended before.
    if (tunnel === undefined) target.ended(how, attempt)
    if (open !== undefined) openExchanges.leave(open)
    reply.off('close', leave)
    request.upload?.stop()
    if (error !== undefined && reply.headersSent) {
      notes.cut ??= 'upstream'
      breakOff(reply)
    }
    resolve(reply.headersSent || tunnel !== undefined ? undefined : error)
  }
  function abort(): void {
    if (call !== undefined) target.abort(call)
  }
  function leave(): void {
    notes.cut = 'client'
    end('untold')
    abort()
  }
  function stall(): void {
    leave()
    reply.destroy()
  }
  function cut(reason: Error): void {
    notes.cut = reason instanceof Refusal && reason.kind === 'not-permitted' ? 'policy' : 'token'
    tunnel?.close(1008)
    end('untold', reason)
    abort()
  }
  function answerWhole(): void {
    if (over) return
    // As text, it leaves in one piece with the headers.
    reply.end(wholeBody, 'latin1')
    end('answered')
  }
  function flush(): void {
    if (!over && !streaming) reply.flushHeaders()
  }
  function goOn(): void {
    clearTimeout(timer)
    if (call !== undefined) target.resume(call)
  }
  function giveUpWaiting(): void {
    end('untold', new Fault('upstream-busy', { reason: 'no connection came free in time' }))
    abort()
  }

  function send(): void {
    attempt = target.began()
    notes.target = target.name
    notes.sentAt ??= performance.now()
    if (target.waiting() > upstream.connections) {
      timer = setTimeout(giveUpWaiting, upstream.queueTimeoutMs)
    }
    call = target.send(request, handler)
  }
  function sendElsewhere(error: Error): boolean {
    const other = nextTarget(error)
    if (other === undefined) return false
    clearTimeout(timer)
    timer = undefined
    target.ended('failed', attempt)
    target = other
    notes.retries = (notes.retries ?? 0) + 1
    send()
    return true
  }
  /** What is the client's doing, such as too long a body, is not held against the target. */
  function blame(error: Error): Ending {
    if (answering) return 'answered'
    return error instanceof Refusal ? 'untold' : 'failed'
  }
  function nextTarget(error: Error): Target | undefined {
    if (answering || !mayRepeat(request) || !isUnheard(error)) return undefined
    if ((notes.retries ?? 0) >= upstream.retries) return undefined
    tried = (tried ?? new Set()).add(target)
    // A kept connection that its other end was just closing says nothing about the next one.
    const other =
      upstream.chooseAnother(parts.upgrade !== undefined, tried) ??
      (isCut(error) ? target : undefined)
    return other !== undefined && upstream.budget.take() ? other : undefined
  }
  function begin(head: AnswerHead): string[] {
    answering = true
    target.answered()
    return relayHeaders(head, carrier)
  }

  const handler: AnswerHandler = {
    sent() {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
    },
    whole(head, body) {
      reply.writeHead(head.status, begin(head))
      wholeBody = body
      atEndOfTurn(answerWhole)
    },
    head(head) {
      const out = begin(head)
      parts.eventStreams.began(head, reply)
      // Node refuses to announce trailers where there are no chunks that could carry them.
      if (parts.takesTrailers && head.framing === 'chunked') {
        const names = parts.relayTrailers.announced(head.headers)
        if (names !== undefined) out.push('Trailer', names)
      }
      reply.writeHead(head.status, out)
      reply.on('drain', goOn)
      // Node keeps headers until something follows; events may follow minutes later.
      nextTick(flush)
    },
    data(chunk) {
      streaming = true
      if (reply.write(chunk) || reply.writableLength < mostUnread) return true
      clearTimeout(timer)
      timer = setTimeout(stall, maxStallMs)
      return false
    },
    end(trailers) {
      if (parts.takesTrailers) reply.addTrailers(parts.relayTrailers.relayed(trailers))
      reply.off('drain', goOn)
      reply.end()
      end('answered')
    },
    upgraded(head, socket: Duplex) {
      const client = reply.socket
      if (over || client === null || parts.upgrade === undefined) {
        socket.destroy()
        return
      }
      const { protocol, head: first } = parts.upgrade
      const headers = begin(head)
      reply.off('close', leave)
      reply.statusCode = head.status
      switchProtocols(reply, client, [protocol, headers])
      tunnel = parts.tunnels.open({ protocol, client, upstream: socket, head: first })
      target.tunnelled()
      target.ended('answered', attempt)
      void tunnel.ended.then(() => {
        target.tunnelEnded()
        end('answered')
      })
    },
    failed(error) {
      if (over || sendElsewhere(error)) return
      end(blame(error), error)
    },
  }

  target = upstream.choose(parts.upgrade !== undefined)
  upstream.budget.sent()
  if (open !== undefined) openExchanges.enter(open)
  reply.on('close', leave)
  send()
  // The client may have left while its token was being checked.
  if (reply.closed || reply.destroyed) leave()
  return promise
}

import type { ServerResponse } from 'node:http'
import { nextTick } from 'node:process'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { Fault, Refusal } from '../errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import {
  breakOff,
  isAgreed,
  mayHaveTrailers,
  refuseStrangeCoding,
  switchProtocols,
} from './answering.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RelayHeaders } from './relayed-headers.ts'
import type { RelayTrailers } from './relayed-trailers.ts'
import { isResetting } from './resets.ts'
import type { Authorized, Carrier, Notes, Upgrade } from './stages.ts'
import type { Ending, Target } from './target.ts'
import type { Tunnel, Tunnels } from './tunnels.ts'
import { isCut, isUnheard, mayRepeat } from './upstream-errors.ts'
import type { Upstream } from './upstreams.ts'

export interface Exchange {
  readonly reply: ServerResponse
  readonly upstream: Upstream
  readonly options: Dispatcher.DispatchOptions
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
  /** What the client asked to go on with, if it did. */
  readonly upgrade: Upgrade | undefined
  readonly notes: Notes
}

/**
 * One request to an upstream and its answer, streamed with backpressure. Resolves when it is over
 * in whatever way, with the error if the client has not been answered; never rejects.
 *
 *   queued     every connection is taken; ends with a Fault when none comes free in time
 *   sent       the target has the request; undici's own limits end a wait for the answer, ours one
 *              for what follows interim answers. What fails here without a byte of an answer may
 *              go to another target: queued again
 *   answering  the answer is on its way to the client; a client that does not read is cut off
 *   tunnelling the target agreed to another protocol; bytes go both ways until a side closes
 *   over       nothing of this exchange holds a connection, a timer or a listener any more
 *
 * Whatever it is at, it is over soon after its token or its permission is.
 */
export function exchange(parts: Exchange): Promise<Error | undefined> {
  const { reply, upstream, options, relayHeaders, maxStallMs, carrier, token, notes } = parts
  const { openExchanges } = parts
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  let controller: Dispatcher.DispatchController | undefined
  let timer: NodeJS.Timeout | undefined
  let target: Target
  let attempt = 0
  /** undici has it, and has not begun with it: nothing takes it back. */
  let queued = false
  let tunnel: Tunnel | undefined
  let tried: Set<Target> | undefined
  let sent = false
  let answering = false
  let streaming = false
  let over = false
  const open: OpenExchange | undefined = token && { token, authorized: parts.authorized, cut }

  function end(how: Ending, error?: Error): void {
    if (over) return
    over = true
    clearTimeout(timer)
    // Who leaves a queue that cannot be left still takes a place in it: else there is no bound.
    if (queued) {
      target.left(attempt)
      if (options.body instanceof Readable) options.body.destroy()
    } else if (tunnel === undefined) target.ended(how, attempt)
    if (open !== undefined) openExchanges.leave(open)
    reply.off('close', leave)
    reply.off('drain', goOn)
    if (error !== undefined && reply.headersSent) {
      notes.cut ??= 'upstream'
      breakOff(reply)
    }
    resolve(reply.headersSent || tunnel !== undefined ? undefined : error)
  }
  function leave(): void {
    notes.cut = 'client'
    end('untold')
    controller?.abort(new Error('the client left'))
  }
  function stall(): void {
    leave()
    reply.destroy()
  }
  function cut(reason: Error): void {
    notes.cut = reason instanceof Refusal && reason.kind === 'not-permitted' ? 'policy' : 'token'
    tunnel?.close(1008)
    end('untold', reason)
    controller?.abort(new Error('it may not go on'))
  }
  function flush(): void {
    if (!over && !streaming) reply.flushHeaders()
  }
  function goOn(): void {
    clearTimeout(timer)
    controller?.resume()
  }
  function giveUpWaiting(): void {
    end('untold', new Fault('upstream-busy', { reason: 'no connection came free in time' }))
  }

  /** undici starts its clock again at every interim answer: a target could go on for ever. */
  function giveUpAsking(): void {
    const reason = 'no answer that is final in time'
    end('failed', new Fault('upstream-timeout', { reason }))
    controller?.abort(new Error(reason))
  }

  function send(): void {
    controller = undefined
    clearTimeout(timer)
    timer = undefined
    attempt = target.began()
    queued = true
    if (target.waiting() > upstream.connections) {
      timer = setTimeout(giveUpWaiting, upstream.queueTimeoutMs)
    }
    target.dispatch(options, handler)
  }
  function dequeue(): void {
    if (queued && over) target.ended('untold', attempt)
    queued = false
  }
  function sendElsewhere(error: Error): boolean {
    const other = nextTarget(error)
    if (other === undefined) return false
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
    if (answering || !mayRepeat(options) || !isUnheard(error)) return undefined
    if ((notes.retries ?? 0) >= upstream.retries) return undefined
    tried = (tried ?? new Set()).add(target)
    // A kept connection that its other end was just closing says nothing about the next one.
    const other =
      upstream.chooseAnother(parts.upgrade !== undefined, tried) ??
      (isCut(error) ? target : undefined)
    return other !== undefined && upstream.budget.take() ? other : undefined
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      dequeue()
      // Thrown, it costs the target nothing; aborting would end the connection.
      if (over) throw new Error('nobody waits for it any more')
      clearTimeout(timer)
      timer = undefined
      controller = started
    },
    onRequestSent() {
      // The time for an answer begins here, where a body took time of its own.
      sent = true
      if (over || answering || options.body === null) return
      timer ??= setTimeout(giveUpAsking, upstream.headersTimeoutMs)
    },
    onResponseStart(_, status, headers) {
      if (over) return
      if (status < 200) {
        // RFC 8297 3: clients of HTTP/1.1 have taken 103 for the answer, and the next one for that
        // to their next request. What we asked for ourselves, 100, never comes.
        if (sent) timer ??= setTimeout(giveUpAsking, upstream.headersTimeoutMs)
        return
      }
      clearTimeout(timer)
      answering = true
      refuseStrangeCoding(headers)
      target.answered()
      const out = relayHeaders(headers, status, carrier)
      if (parts.takesTrailers && mayHaveTrailers(options, status, headers)) {
        const names = parts.relayTrailers.announced(headers)
        if (names !== undefined) out.push('Trailer', names)
      }
      reply.writeHead(status, out)
      // Node keeps headers until something follows; events may follow minutes later.
      nextTick(flush)
    },
    onRequestUpgrade(_, status, headers, socket) {
      const client = reply.socket
      if (over || client === null || parts.upgrade === undefined) {
        socket.destroy()
        return
      }
      const { protocol, head } = parts.upgrade
      if (!isAgreed(protocol, headers)) {
        socket.destroy()
        end('failed', new Error('the upstream went on in a protocol that nobody asked for'))
        return
      }
      answering = true
      target.answered()
      reply.off('close', leave)
      reply.statusCode = status
      switchProtocols(reply, client, [protocol, relayHeaders(headers, status, carrier)])
      tunnel = parts.tunnels.open({ protocol, client, upstream: socket, head })
      target.tunnelled()
      target.ended('answered', attempt)
      void tunnel.ended.then(() => {
        target.tunnelEnded()
        end('answered')
      })
    },
    onResponseData(active, chunk) {
      streaming = true
      if (over || reply.write(chunk)) return
      active.pause()
      clearTimeout(timer)
      timer = setTimeout(stall, maxStallMs)
    },
    onResponseEnd(_, trailers) {
      if (over) return
      if (isResetting()) {
        end('answered', new Error('the connection was reset within the answer'))
        return
      }
      if (parts.takesTrailers) reply.addTrailers([...parts.relayTrailers.relayed(trailers)])
      reply.end()
      end('answered')
    },
    onResponseError(_, error) {
      dequeue()
      if (over || sendElsewhere(error)) return
      end(blame(error), error)
    },
  }

  target = upstream.choose(parts.upgrade !== undefined)
  upstream.budget.sent()
  if (open !== undefined) openExchanges.enter(open)
  reply.on('close', leave)
  reply.on('drain', goOn)
  send()
  // The client may have left while its token was being checked.
  if (reply.closed || reply.destroyed) leave()
  return promise
}

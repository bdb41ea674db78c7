import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { Fault } from '../errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { OpenExchange, OpenExchanges } from './open-exchanges.ts'
import type { RelayHeaders, UpstreamResponseHeaders } from './relayed-headers.ts'
import type { Carrier, Notes } from './stages.ts'
import type { Upstream } from './upstreams.ts'

export interface Exchange {
  readonly reply: ServerResponse
  readonly upstream: Upstream
  readonly options: Dispatcher.DispatchOptions
  readonly relayHeaders: RelayHeaders
  /** How long a client may leave an answer unread before it is cut off. */
  readonly maxStallMs: number
  readonly carrier: Carrier | undefined
  /** Whose token it is that allows this; absent on a public route. */
  readonly token: VerifiedToken | undefined
  readonly openExchanges: OpenExchanges
  readonly notes: Notes
}

/**
 * One request to an upstream and its answer, streamed with backpressure. Resolves when it is over
 * in whatever way, with the error if the client has not been answered; never rejects.
 *
 *   queued     every connection is taken; ends with a Fault when none comes free in time
 *   sent       the upstream has the request; undici's own limits end a wait for the answer
 *   answering  the answer is on its way to the client; a client that does not read is cut off
 *   over       nothing of this exchange holds a connection, a timer or a listener any more
 *
 * Whatever it is at, it is over soon after its token is.
 */
export function exchange(parts: Exchange): Promise<Error | undefined> {
  const { reply, upstream, options, relayHeaders, maxStallMs, carrier, token, notes } = parts
  const { openExchanges } = parts
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  let controller: Dispatcher.DispatchController | undefined
  let timer: NodeJS.Timeout | undefined
  let over = false
  const open: OpenExchange | undefined = token && { token, cut }

  function end(error?: Error): void {
    if (over) return
    over = true
    clearTimeout(timer)
    upstream.leave()
    if (open !== undefined) openExchanges.leave(open)
    reply.off('close', leave)
    reply.off('drain', goOn)
    if (error !== undefined && reply.headersSent) {
      // The client has part of an answer: ending the connection is the only way left to say so.
      notes.cut ??= 'upstream'
      reply.destroy()
    }
    resolve(reply.headersSent ? undefined : error)
  }
  function leave(): void {
    notes.cut = 'client'
    end()
    controller?.abort(new Error('the client left'))
  }
  function cut(reason: Error): void {
    notes.cut = 'token'
    end(reason)
    controller?.abort(new Error('its token is over'))
  }
  function goOn(): void {
    clearTimeout(timer)
    controller?.resume()
  }
  function giveUpWaiting(): void {
    end(new Fault('upstream-busy', { reason: 'no connection came free in time' }))
  }

  if (upstream.enter() === 'queued') timer = setTimeout(giveUpWaiting, upstream.queueTimeoutMs)
  if (open !== undefined) openExchanges.enter(open)
  upstream.dispatch(options, {
    onRequestStart(started) {
      clearTimeout(timer)
      controller = started
      if (over) started.abort(new Error('nobody waits for it any more'))
    },
    onResponseStart(_, status, headers) {
      if (status < 200 || over) return
      refuseStrangeCoding(headers)
      reply.writeHead(status, relayHeaders(headers, status, carrier))
    },
    onResponseData(active, chunk) {
      if (over || reply.write(chunk)) return
      active.pause()
      clearTimeout(timer)
      timer = setTimeout(leave, maxStallMs)
    },
    onResponseEnd() {
      if (!over) reply.end()
      end()
    },
    onResponseError(_, error) {
      end(error)
    },
  })
  reply.on('close', leave)
  reply.on('drain', goOn)
  // The client may have left while its token was being checked.
  if (reply.closed || reply.destroyed) leave()
  return promise
}

/** undici takes off `chunked` only: another coding under it would reach the client undeclared. */
function refuseStrangeCoding(headers: UpstreamResponseHeaders): void {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && String(coding).toLowerCase() !== 'chunked') {
    throw new Error('the upstream used a transfer coding other than chunked')
  }
}

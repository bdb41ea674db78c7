import { begin } from './admit-exchange.ts'
import { complete, data, end, head, upgraded } from './relay-response.ts'
import { cut, type Exchange, leave, type Running } from './running-exchange.ts'
import { failed, sent } from './send-exchange.ts'

/**
 * One request to an upstream and its answer, streamed with backpressure. Resolves when it is over
 * in whatever way; rejects with a Refusal or a Fault only while the client has not been answered.
 *
 *   gathering  the client has yet to send the beginning of its body; nothing of the upstream is taken
 *   waiting    its client has used up its share of the connections; ends like `queued`
 *   queued     every connection is taken; ends with a Fault when none comes free in time
 *   sent       the target has the request; the limits of the pool end a wait for the answer. What
 *              fails here without a byte of an answer may be sent again: queued, for a new connection
 *   responding the answer is on its way to the client; a client that does not read is cut off
 *   tunnelling the target agreed to another protocol; bytes go both ways until a side closes
 *   finished   nothing of this exchange holds a connection, a timer or a listener any more
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
    reported: true,
    responding: false,
    streaming: false,
    finished: false,
    sent,
    complete,
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

import { begin } from './admit-exchange.ts'
import { complete, data, end, head, upgraded } from './relay-response.ts'
import { cut, type Exchange, expire, leave, type Running } from './running-exchange.ts'
import { failed, sent } from './send-exchange.ts'

/**
 * One request to an upstream and its response, streamed with backpressure. Resolves when it has
 * finished; rejects with a Refusal or a Fault only before the response has begun.
 *
 *   gathering  reads the beginning of the client's body; occupies nothing of the upstream
 *   waiting    the client has used its share of the connections; a timeout ends it with a Fault
 *   queued     every connection is busy; a timeout ends it with a Fault
 *   sent       the target has the request; the timeouts of the pool apply. A request that fails before
 *              the first byte of a response may be sent again: it is queued for a new connection
 *   responding the response goes to the client; a client that does not read is cut off
 *   tunneling  the target switched protocols; bytes go both ways until a side closes
 *   finished   holds no connection, timer or listener
 *
 * In every state but tunneling, it ends when the total timeout of its route has passed.
 * In every state, it ends soon after its token expires or is revoked, or its permission is revoked.
 */
export function exchange(parts: Exchange): Promise<void> {
  const { reply, upstream, token, authorized, openExchanges } = parts
  // One object with shared functions: a closure per event and request was a tenth of all garbage.
  const it: Running = {
    parts,
    settled: Promise.withResolvers<void>(),
    onClose: () => leave(it),
    open: undefined,
    target: upstream.choose(parts.upgrade !== undefined, parts.sticky?.stick),
    attempt: 0,
    share: undefined,
    stopWaiting: undefined,
    call: undefined,
    timer: undefined,
    deadline: undefined,
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
    it.open = { token, authorized, cut: (reason) => cut(it, reason), index: -1 }
    openExchanges.enter(it.open)
  }
  if (parts.totalMs !== undefined) it.deadline = setTimeout(expire, parts.totalMs, it)
  reply.on('close', it.onClose)
  begin(it)
  // The client may have disconnected while its token was verified.
  if (reply.closed || reply.destroyed) leave(it)
  return it.settled.promise
}

import { type Share, waitForShare } from '../upstream/shares.ts'
import { complete, data, end, head, upgraded } from './relay-response.ts'
import { cut, type Exchange, expire, finish, leave, type Running } from './running-exchange.ts'
import { failed, send, sent } from './send-exchange.ts'

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

/** A client that has not sent any of its body occupies no connection. */
function begin(it: Running): void {
  const { body, upstream } = it.parts
  const isReady = body === undefined || body.isCall || body.isComplete()
  if (isReady || upstream.settings.requestBufferBytes === 0) takeShare(it, false)
  else {
    body.gather(upstream.settings.requestBufferBytes, {
      ready() {
        if (!it.finished) takeShare(it, true)
      },
      failed: (error) => finish(it, 'inconclusive', error),
    })
  }
}

/** `hasWaited`: the target was chosen some time ago and must be chosen again. */
function takeShare(it: Running, hasWaited: boolean): void {
  const { upstream, who } = it.parts
  const share = upstream.shares.of(who)
  if (upstream.shares.hold(share)) {
    if (hasWaited) {
      if (!sendNow(it, share)) upstream.shares.release(share)
    } else {
      it.share = share
      send(it, false)
    }
    return
  }
  it.stopWaiting = waitForShare(upstream.shares, share, {
    withinMs: upstream.settings.queueTimeoutMs,
    begin() {
      it.stopWaiting = undefined
      return sendNow(it, share)
    },
    giveUp: (fault) => finish(it, 'inconclusive', fault),
  })
  // `waitForShare` may have called `giveUp` before it returned.
  if (it.finished) it.stopWaiting()
}

/**
 * Chooses a target again, since the one chosen before the wait may fail by now. Returns `false` if no
 * target is available: the share is then not used.
 */
function sendNow(it: Running, share: Share): boolean {
  const { upstream, upgrade, sticky } = it.parts
  try {
    it.target = upstream.choose(upgrade !== undefined, sticky?.stick)
  } catch (error) {
    finish(it, 'inconclusive', error as Error)
    return false
  }
  it.share = share
  send(it, false)
  return true
}

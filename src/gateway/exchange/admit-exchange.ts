import { type Share, waitForShare } from '../upstream/shares.ts'
import { finish, type Running } from './running-exchange.ts'
import { send } from './send-exchange.ts'

/** A client that has not sent any of its body occupies no connection. */
export function begin(it: Running): void {
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

import { Fault } from '../../kernel/errors.ts'
import type { Ending } from '../upstream/target.ts'
import { isFailure } from '../upstream/upstream-errors.ts'
import { retryTarget } from './retry-target.ts'
import { finish, giveUp, type Running } from './running-exchange.ts'

/** `fresh`: on a new connection. */
export function send(it: Running, fresh: boolean): void {
  const { target } = it
  const { notes, upstream, request } = it.parts
  it.reported = false
  it.attempt = target.began()
  notes.target = target.name
  notes.sentAt ??= performance.now()
  if (target.waiting() > upstream.settings.connections) {
    it.timer = setTimeout(giveUpWaiting, upstream.settings.queueTimeoutMs, it)
  }
  it.call = target.send(request, it, fresh)
}

function giveUpWaiting(it: Running): void {
  giveUp(it, new Fault('upstream-busy', { reason: 'timed out waiting for a free connection' }))
}

/** The request has a connection, so it no longer waits for one. */
export function sent(this: Running): void {
  if (this.timer === undefined) return
  clearTimeout(this.timer)
  this.timer = undefined
}

export function failed(this: Running, error: Error): void {
  if (this.finished || sendAgain(this, error)) return
  finish(this, endingOf(error), error)
}

/** Returns `false` if it must not be sent again. */
function sendAgain(it: Running, error: Error): boolean {
  const other = retryTarget(it, error)
  if (other === undefined) return false
  const { notes, who } = it.parts
  clearTimeout(it.timer)
  it.timer = undefined
  it.target.ended(endingOf(error), it.attempt, who, error)
  it.target = other
  notes.retries = (notes.retries ?? 0) + 1
  send(it, true)
  return true
}

/** An error of the client, such as too large a body, does not count against the target. */
function endingOf(error: Error): Ending {
  return isFailure(error) ? 'failed' : 'inconclusive'
}

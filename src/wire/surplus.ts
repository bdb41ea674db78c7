import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { numberThisTurn, turnsSoFar } from './end-of-turn.ts'
import { mayRepeat } from './repeatable.ts'
import type { WireRequest } from './request-head.ts'

/**
 * For so long after a response that came in several reads, a connection gets no request: what its server
 * has written behind that response may still wait for the response to be read.
 */
const holdMs = 2

/**
 * Calls `offer` when the next request may have the connection. Any sooner, it would get a second response
 * behind the first as its own. `mayHoldMore`: whether more may have arrived than was read.
 */
export function afterSurplus(
  offer: () => void,
  { isStreamed, mayHoldMore }: { readonly isStreamed: boolean; readonly mayHoldMore: boolean },
): void {
  if (isStreamed) setTimeout(setImmediate, holdMs, offer)
  else if (mayHoldMore) setImmediate(offer)
  else offer()
}

/**
 * Decides whether a free connection must be checked before a request is sent on it. What is there before
 * the request is not its response, but may look like one.
 */
export class SurplusCheck {
  readonly #socket: Socket
  readonly #isSecure: boolean
  #freeAtTurn = 0

  constructor(socket: Socket, isSecure: boolean) {
    this.#socket = socket
    this.#isSecure = isSecure
  }

  /** Call it when the connection becomes free. */
  restart(): void {
    this.#freeAtTurn = numberThisTurn()
  }

  /** Whether the event loop has looked for bytes since the connection became free, or does so in this turn. */
  isPolled(): boolean {
    return this.#freeAtTurn < turnsSoFar()
  }

  /** Whether the event loop has to poll first: the bytes of a TLS record are not ours to look at. */
  needsPoll(request: WireRequest): boolean {
    return this.#isSecure && this.#mayHoldUnread(request)
  }

  /** Whether the server has closed the connection, or sent something without a request. */
  finds(request: WireRequest): boolean {
    return !this.#isSecure && this.#mayHoldUnread(request) && hasPeerClosed(this.#socket)
  }

  /**
   * Whether the system may have had bytes or a close of the server since the connection became free, and
   * the event loop has not reported them. A request that cannot be repeated also avoids what came since
   * the last poll; bytes that come so late may as well come after the request. To ask the system costs as
   * much as a third of the request, so other requests wait for the end of the turn instead.
   */
  #mayHoldUnread(request: WireRequest): boolean {
    return turnsSoFar() - this.#freeAtTurn < 2 || !mayRepeat(request)
  }
}

const oneByte = Buffer.alloc(1)

/**
 * Whether the kernel knows that the other end has closed or reset a connection, or has sent bytes
 * without a request, before the event loop has reported it. Only for an idle connection without TLS:
 * a byte that is there is consumed. A platform that gives no file descriptor cannot tell: `false`.
 */
function hasPeerClosed(socket: Socket): boolean {
  const fd = descriptorOf(socket)
  if (fd === undefined) return false
  const { stackTraceLimit } = Error
  // The error for "nothing to read" needs no stack trace, which would be half of the cost.
  Error.stackTraceLimit = 0
  try {
    readSync(fd, oneByte, 0, 1, null)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN'
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Not a documented API, hence the checks. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: unknown } | null }
  const fd = handle?.fd
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}

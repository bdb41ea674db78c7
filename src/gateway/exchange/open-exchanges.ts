import { setImmediate as breathe } from 'node:timers/promises'
import type { Fault, Refusal } from '../../errors.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Authorized } from '../stages.ts'

/** An exchange that goes on for as long as its token is good and its caller may make the call. */
export interface OpenExchange {
  readonly token: VerifiedToken
  readonly authorized: Authorized
  /** Ends it, with the reason if the client can still be told. */
  readonly cut: (reason: Refusal | Fault) => void
  /** Where it stands among the others; -1 while it does not. */
  place: number
}

/** Begins one look at all that is open: says of each why it must end, if so. */
export type StartLooking = () => (exchange: OpenExchange) => Refusal | Fault | undefined

/** The exchanges that are under way. Entering and leaving cost a short request next to nothing. */
export interface OpenExchanges {
  enter(exchange: OpenExchange): void
  leave(exchange: OpenExchange): void
  close(): Promise<void>
}

/** How long requests may wait for a look at thousands of streams. */
const longestMs = 5

/**
 * Looks every `everyMs` at what is open, and cuts what its token or the policy no longer covers: a
 * stream that was begun with a good token would otherwise outlive its expiry, its revocation, the
 * account or the rule that allowed it.
 */
export function createOpenExchanges(startLooking: StartLooking, everyMs: number): OpenExchanges {
  // Not a Set: V8 links a table that it grew out of to its successor, so that one of the old
  // generation keeps alive what came and went after it.
  const open: OpenExchange[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function sweep(): Promise<void> {
    const problemOf = startLooking()
    let since = performance.now()
    for (const exchange of open.slice()) {
      if (performance.now() - since > longestMs) {
        await breathe()
        since = performance.now()
      }
      const problem = exchange.place === -1 ? undefined : problemOf(exchange)
      if (problem !== undefined) exchange.cut(problem)
    }
  }
  function lookAgain(): void {
    if (!closed) timer = setTimeout(() => void sweep().then(lookAgain), everyMs)
  }

  lookAgain()
  return {
    enter(exchange) {
      exchange.place = open.push(exchange) - 1
    },
    leave(exchange) {
      const { place } = exchange
      if (place === -1) return
      exchange.place = -1
      // The last one takes its place.
      const last = open.pop()
      if (last === undefined || last === exchange) return
      open[place] = last
      last.place = place
    },
    async close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

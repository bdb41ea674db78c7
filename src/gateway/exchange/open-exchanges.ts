import { setImmediate as breathe } from 'node:timers/promises'
import type { Fault, Refusal } from '../../kernel/errors.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import type { Authorized } from '../stages.ts'

/** An exchange that may go on only while its token is valid and its caller has permission. */
export interface OpenExchange {
  readonly token: VerifiedToken
  readonly authorized: Authorized
  /** Ends it. The client gets the reason if its response has not begun. */
  readonly cut: (reason: Refusal | Fault) => void
  /** The index in the list of open exchanges, or -1. */
  index: number
}

/** Begins one sweep. The function it returns says why an exchange must end, if it must. */
export type StartSweep = () => (exchange: OpenExchange) => Refusal | Fault | undefined

/** The exchanges in progress. Entering and leaving must be cheap: every request does both. */
export type OpenExchanges = ReturnType<typeof createOpenExchanges>

/** With thousands of streams, a sweep yields to requests this often. */
const yieldEveryMs = 5

/**
 * Checks open exchanges every `everyMs` and ends those that the token or the policy no longer allows.
 * A stream would otherwise outlive its token's expiry or revocation, the account, or the rule that
 * allowed it.
 */
export function createOpenExchanges(startSweep: StartSweep, everyMs: number) {
  // Not a Set: V8 links each outgrown hash table to its successor, so an old table keeps alive entries
  // that were added and removed after it.
  const open: OpenExchange[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function sweep(): Promise<void> {
    const problemOf = startSweep()
    let since = performance.now()
    for (const exchange of open.slice()) {
      if (performance.now() - since > yieldEveryMs) {
        await breathe()
        since = performance.now()
      }
      const problem = exchange.index === -1 ? undefined : problemOf(exchange)
      if (problem !== undefined) exchange.cut(problem)
    }
  }
  function schedule(): void {
    if (!closed) timer = setTimeout(() => void sweep().then(schedule), everyMs)
  }

  schedule()
  return {
    enter(exchange: OpenExchange) {
      exchange.index = open.push(exchange) - 1
    },
    leave(exchange: OpenExchange) {
      const { index } = exchange
      if (index === -1) return
      exchange.index = -1
      // The last entry moves here: removal without a search.
      const last = open.pop()
      if (last === undefined || last === exchange) return
      open[index] = last
      last.index = index
    },
    async close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

import type { Fault, Refusal } from '../errors.ts'
import type { VerifiedToken } from '../token/tokens.ts'

/** An exchange that goes on for as long as its token is good. */
export interface OpenExchange {
  readonly token: VerifiedToken
  /** Ends it, with the reason if the client can still be told. */
  readonly cut: (reason: Refusal | Fault) => void
}

/** The exchanges that are under way. Entering and leaving cost a short request next to nothing. */
export interface OpenExchanges {
  enter(exchange: OpenExchange): void
  leave(exchange: OpenExchange): void
  close(): Promise<void>
}

/**
 * Looks every `everyMs` at what is open, and cuts what its token no longer covers: a stream that
 * was begun with a good token would otherwise outlive its expiry, its revocation or the account.
 */
export function createOpenExchanges(
  problemOf: (token: VerifiedToken) => Refusal | Fault | undefined,
  everyMs: number,
): OpenExchanges {
  const open = new Set<OpenExchange>()

  function sweep(): void {
    for (const exchange of open) {
      const problem = problemOf(exchange.token)
      if (problem !== undefined) exchange.cut(problem)
    }
  }

  const timer = setInterval(sweep, everyMs)
  return {
    enter: (exchange) => void open.add(exchange),
    leave: (exchange) => void open.delete(exchange),
    close: async () => clearInterval(timer),
  }
}

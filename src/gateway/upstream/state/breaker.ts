export interface BreakerSettings {
  /** The attempts to connect that fail in a row and open it. */
  readonly failures: number
}

/**
 * A circuit breaker: sends no requests to a target that is unreachable. Its states:
 *
 * - closed: everything passes. `failures` attempts to connect that fail in a row open it.
 * - open: nothing passes until an attempt to connect succeeds; a probe makes attempts.
 *
 * What happens on a connection does not count: it may be the fault of one request, and then its client
 * could close the target for all others.
 */
export type Breaker = ReturnType<typeof createBreaker>

/** Without settings, it never opens. */
export function createBreaker(
  first: BreakerSettings | undefined,
  { onOpened, onClosed }: { readonly onOpened?: () => void; readonly onClosed?: () => void } = {},
) {
  let settings = first
  let failures = 0
  let isOpen = false

  function close(): void {
    failures = 0
    if (!isOpen) return
    isOpen = false
    onClosed?.()
  }

  return {
    /** Whether a request may be sent that needs a new connection. */
    allows: () => !isOpen,
    state: () => (isOpen ? 'open' : 'closed'),
    /** An attempt to connect has ended: with the reason, if it failed. */
    tried(error: Error | undefined) {
      if (error === undefined) close()
      else if (settings !== undefined && ++failures >= settings.failures && !isOpen) {
        isOpen = true
        onOpened?.()
      }
    },
    /** A response has begun: it is reachable, although it may accept no further connections. */
    answered() {
      // A target that shuts down still responds, so that does not close it.
      if (!isOpen) failures = 0
    },
    /** Other settings apply from now on; without any, it is closed. */
    change(next: BreakerSettings | undefined) {
      settings = next
      if (next === undefined) close()
    },
  }
}

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
export interface Breaker {
  /** Whether a request may be sent that needs a new connection. */
  readonly allows: () => boolean
  readonly state: () => 'closed' | 'open'
  /** An attempt to connect has ended: with the reason, if it failed. */
  readonly tried: (error: Error | undefined) => void
  /** A response has begun: it is reachable, although it may accept no further connections. */
  readonly answered: () => void
  /** Other settings apply from now on; without any, it is closed. */
  readonly change: (settings: BreakerSettings | undefined) => void
}

interface BreakerEvents {
  readonly onOpened?: () => void
  readonly onClosed?: () => void
}

/** Without settings, it never opens. */
export function createBreaker(
  first: BreakerSettings | undefined,
  { onOpened, onClosed }: BreakerEvents = {},
): Breaker {
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
    allows: () => !isOpen,
    state: () => (isOpen ? 'open' : 'closed'),
    tried(error) {
      if (error === undefined) close()
      else if (settings !== undefined && ++failures >= settings.failures && !isOpen) {
        isOpen = true
        onOpened?.()
      }
    },
    answered() {
      // A target that shuts down still responds, so that does not close it.
      if (!isOpen) failures = 0
    },
    change(next) {
      settings = next
      if (next === undefined) close()
    },
  }
}

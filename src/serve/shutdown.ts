import { flushMs } from '../closing.ts'
import type { Log } from '../log/log.ts'

export interface LifeParts {
  readonly log: Log
  readonly shutdown: { readonly deadlineMs: number; readonly failureDeadlineMs: number }
  /** What of an error may stand in the log. */
  readonly describe: (error: unknown) => object
  /** Ends the process where it stands; writes the log out first. */
  readonly exit: (code: number) => void
}

export interface Life {
  /** Fires when what is being drained is to be cut. */
  readonly hurry: AbortSignal
  /** A signal came. The first asks for the end; one that comes a second later will not wait. */
  readonly asked: () => void
  /** An error came that nobody caught. The first asks for the end, in less time. */
  readonly failed: (error: unknown, origin?: unknown) => void
  /** The end, in order, begins now unless it has begun; within that time if it is less. */
  readonly begin: (withinMs?: number) => void
  /** What is open is to be cut now. */
  readonly cut: () => void
  /** How long everything may still take. */
  readonly leftMs: () => number
  readonly exitCode: () => number
  /** Settles when the end has begun, whatever the reason. */
  readonly told: Promise<void>
  /** Waits until the end is asked for, closes, and says the exit code: 0 if all was in order. */
  readonly end: (close: () => Promise<void>) => Promise<number>
}

/** A terminal and what runs us may both send one for the same wish. */
const sameWishMs = 1000
/** How many of the errors during the end are written down. */
const mostToldErrors = 10

/**
 * How the process ends: asked to, with exit code 0; after an error that nobody caught, by the same
 * way but with 1, for nobody knows what it left half done. Whatever happens, by its deadline.
 */
export function createLife({ log, shutdown, describe, exit }: LifeParts): Life {
  const hurry = new AbortController()
  const begun = Promise.withResolvers<void>()
  let serving = false
  let code = 0
  let errors = 0
  let askedAt: number | undefined
  let endsAt = Number.POSITIVE_INFINITY
  let timers: NodeJS.Timeout[] = []

  /** Everything is over by then. What was begun earlier may only become shorter. */
  function endWithin(deadlineMs: number): void {
    // Nobody can have been sent here yet: there is nothing to wait for.
    if (!serving) hurry.abort()
    begun.resolve()
    if (performance.now() + deadlineMs >= endsAt) return
    endsAt = performance.now() + deadlineMs
    for (const timer of timers) clearTimeout(timer)
    timers = [
      setTimeout(() => hurry.abort(), deadlineMs - flushMs(deadlineMs)),
      setTimeout(giveUp, deadlineMs),
    ]
  }

  function cut(): void {
    code = 1
    hurry.abort()
  }

  function giveUp(): void {
    log.error('shutdown deadline exceeded; records not yet stored are lost')
    exit(1)
  }

  return {
    hurry: hurry.signal,
    told: begun.promise,
    begin: (withinMs = shutdown.deadlineMs) => endWithin(Math.min(withinMs, shutdown.deadlineMs)),
    cut,
    leftMs: () => endsAt - performance.now(),
    exitCode: () => code,
    asked() {
      const now = performance.now()
      if (askedAt === undefined) {
        askedAt = now
        log.info('shutting down')
        endWithin(shutdown.deadlineMs)
      } else if (now - askedAt >= sameWishMs && !hurry.signal.aborted) {
        log.warn('second signal: closing open connections now')
        cut()
      }
    },
    failed(error, origin) {
      code = 1
      errors++
      // Errors in a row can keep the timers from their turn.
      if (performance.now() > endsAt) return exit(1)
      const fields = errors <= mostToldErrors ? { err: describe(error), origin } : undefined
      if (errors === 1) log.fatal(fields, 'uncaught exception; shutting down')
      else if (fields !== undefined) log.error(fields, 'another uncaught exception')
      endWithin(Math.min(shutdown.deadlineMs, shutdown.failureDeadlineMs))
    },
    async end(close) {
      serving = true
      await begun.promise
      try {
        await close()
      } catch (error) {
        code = 1
        log.error({ err: describe(error) }, 'shutdown incomplete: a part failed to close')
      }
      for (const timer of timers) clearTimeout(timer)
      if (errors > 1) log.error({ errors }, 'total of uncaught exceptions')
      return code
    },
  }
}

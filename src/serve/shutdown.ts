import type { Config } from '../config/schema/schema.ts'
import { flushMs } from '../kernel/closing.ts'
import type { Log } from '../log/log.ts'

export interface ShutdownParts {
  readonly log: Log
  readonly deadlines: { readonly deadlineMs: number; readonly failureDeadlineMs: number }
  /** The parts of an error that may appear in the log. */
  readonly describe: (error: unknown) => object
  /** Flushes the log and exits at once. */
  readonly exit: (code: number) => void
}

/** What an orderly shutdown takes at least, besides the requests. */
export function drainMs({ shutdown: { graceMs, idleMs, deadlineMs } }: Config): number {
  return graceMs + idleMs + flushMs(deadlineMs)
}

export type Shutdown = ReturnType<typeof createShutdown>

/** A terminal and a process manager may both send a signal for one request to stop. */
const sameRequestMs = 1000
/** An exception in every tick must not fill the log. */
const maxReportedErrors = 10

/**
 * How the process ends: with exit code 0 after a signal. An uncaught exception takes the same path with
 * exit code 1, because it may have left work half done. Either way the process exits by its deadline.
 */
export function createShutdown({ log, deadlines, describe, exit }: ShutdownParts) {
  const aborting = new AbortController()
  const begun = Promise.withResolvers<void>()
  let serving = false
  let code = 0
  let errors = 0
  let firstSignalAt: number | undefined
  let endsAt = Number.POSITIVE_INFINITY
  let timers: NodeJS.Timeout[] = []

  function endWithin(deadlineMs: number): void {
    // Before the port is open there are no requests to wait for.
    if (!serving) aborting.abort()
    begun.resolve()
    if (performance.now() + deadlineMs >= endsAt) return
    endsAt = performance.now() + deadlineMs
    for (const timer of timers) clearTimeout(timer)
    timers = [
      setTimeout(() => aborting.abort(), deadlineMs - flushMs(deadlineMs)),
      setTimeout(giveUp, deadlineMs),
    ]
  }

  function abort(): void {
    code = 1
    aborting.abort()
  }

  function giveUp(): void {
    log.error('shutdown deadline exceeded; records not yet stored are lost')
    exit(1)
  }

  return {
    /** Aborted when open connections have to be closed now. */
    abortSignal: aborting.signal,
    /** Settles when the shutdown begins, whatever the reason. */
    begun: begun.promise,
    /** Begins the shutdown unless it has begun; a shorter time replaces a longer one. */
    begin: (withinMs = deadlines.deadlineMs) => endWithin(Math.min(withinMs, deadlines.deadlineMs)),
    abort,
    /** The time left until the deadline. */
    remainingMs: () => endsAt - performance.now(),
    exitCode: () => code,
    /** The first signal begins the shutdown; one that comes a second later aborts what is open. */
    signalReceived() {
      const now = performance.now()
      if (firstSignalAt === undefined) {
        firstSignalAt = now
        log.info('shutting down')
        endWithin(deadlines.deadlineMs)
      } else if (now - firstSignalAt >= sameRequestMs && !aborting.signal.aborted) {
        log.warn('second signal: closing open connections now')
        abort()
      }
    },
    /** The first uncaught exception begins the shutdown, with a shorter deadline. */
    uncaughtException(error: unknown, origin?: unknown) {
      code = 1
      errors++
      // A stream of exceptions can keep the timers from running.
      if (performance.now() > endsAt) return exit(1)
      const fields = errors <= maxReportedErrors ? { err: describe(error), origin } : undefined
      if (errors === 1) log.fatal(fields, 'uncaught exception; shutting down')
      else if (fields !== undefined) log.error(fields, 'another uncaught exception')
      endWithin(Math.min(deadlines.deadlineMs, deadlines.failureDeadlineMs))
    },
    /** Waits until the shutdown begins, closes, and returns the exit code. */
    async complete(close: () => Promise<void>) {
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

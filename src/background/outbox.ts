import { setTimeout as pause } from 'node:timers/promises'
import { failureText } from './failure-text.ts'
import { createPolling } from './polling.ts'
import { withTimeout } from './with-timeout.ts'

/**
 * Unset: the store answered. `idle`: there was nothing to ask it, which says nothing about it.
 * `unanswered`: it failed, and other log lines say why.
 */
type Delivery = 'idle' | 'unanswered' | undefined

interface OutboxOptions {
  /**
   * Brings to the store what waits for it. Throws while the store fails, and is then called again.
   * `isLast`: the process ends. The signal is aborted when no time is left for it.
   */
  readonly deliver: (round: {
    readonly isLast: boolean
    readonly signal: AbortSignal
  }) => Promise<Delivery>
  /** How long at most until a delivery that nothing asks for. */
  readonly everyMs: number
  readonly log: {
    readonly info: (fields: object, text: string) => void
    readonly warn: (fields: object, text: string) => void
  }
  /** Logged once for each outage, and again when its reason changes. */
  readonly failed: string
  /** Logged when the store answers again. */
  readonly recovered?: string
  /** The fields of the line that says that it failed; its reason unless set. */
  readonly fieldsOf?: (error: unknown) => object
  /** Whether the last delivery is repeated until the deadline: for records that must not be lost. */
  readonly insists?: boolean
  /** Removes what only a running process has in the store, after the last delivery. */
  readonly leave?: () => Promise<unknown>
}

/** Waiting longer at shutdown does not bring an unreachable store back. */
const closeMs = 2000
const insistMs = 200

/**
 * Writes beside requests: nothing here throws or makes a caller wait. One delivery at a time: at
 * every `wake`, every so often, and at the end. One that fails is repeated after 0.1 s, then after
 * twice as long, up to `everyMs` or 10 s.
 */
export function createOutbox(options: OutboxOptions) {
  const { deliver, log, fieldsOf = (error) => ({ reason: failureText(error) }) } = options
  const late = new AbortController()
  const { signal } = late
  let failures = 0
  let outage: string | undefined
  let isRetrying = false

  async function attempt(isLast: boolean): Promise<Delivery> {
    if (signal.aborted) return 'idle'
    const delivery = await deliver({ isLast, signal }).then(answered, failed)
    isRetrying = delivery === 'unanswered'
    return delivery
  }

  function answered(delivery: Delivery): Delivery {
    if (delivery !== undefined) return delivery
    if (outage !== undefined && options.recovered) log.info({}, options.recovered)
    outage = undefined
    return undefined
  }

  function failed(error: unknown): Delivery {
    failures++
    const reason = failureText(error)
    if (outage !== reason) log.warn(fieldsOf(error), options.failed)
    outage = reason
    return 'unanswered'
  }

  const polling = createPolling(() => attempt(false), options.everyMs)

  async function finish(): Promise<void> {
    await polling.close()
    while ((await attempt(true)) === 'unanswered' && options.insists) {
      await pause(insistMs, undefined, { signal }).catch(() => {})
    }
    await options.leave?.().catch(() => {})
  }

  return {
    /**
     * Something waits. While the store fails, the pause between two attempts decides when it goes.
     */
    wake() {
      if (!isRetrying) void polling.now()
    },
    /** How many deliveries failed. */
    failures: () => failures,
    /** Why the last one failed; `undefined` once the store answers. */
    outage: () => outage,
    /** Delivers a last time, within so many milliseconds. */
    async close(deadlineMs = closeMs) {
      await withTimeout(deadlineMs, finish()).catch(() => {})
      late.abort()
    },
  }
}

import type { IssuerKeySet } from './issuer-key-set.ts'

export interface KeyTimes {
  /** How often keys are fetched while nothing fails. */
  readonly refreshSeconds: number
  /** The least time between the beginnings of two fetches. */
  readonly cooldownSeconds: number
  /** How long a request waits for keys. */
  readonly waitMs: number
  /** How long keys are used after the last successful fetch. */
  readonly maxKeyAgeSeconds: number
}

interface KeyScheduleParts<Fetched> extends KeyTimes {
  readonly fetch: (signal: AbortSignal) => Promise<Fetched>
  readonly onFetched?: (set: Fetched) => void
  readonly onFailed?: (reason: string) => void
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
  readonly random?: () => number
}

/** The keys of one issuer, or what else belongs to them, fetched ahead of time. */
export type KeySchedule<Fetched = IssuerKeySet> = ReturnType<typeof createKeySchedule<Fetched>>

/**
 * Fetches in the background, at once and then ahead of time, so that requests rarely wait. Every fetch
 * starts the cool-down, also a failed one and whatever its reason, so that invented `kid`s cause at
 * most one fetch in that time, however many requests carry them. Keys of an unreachable issuer stay in
 * use until they are too old: a withdrawn key must not live as long as an outage.
 */
export function createKeySchedule<Fetched = IssuerKeySet>(parts: KeyScheduleParts<Fetched>) {
  const { fetch, waitMs, now = () => performance.now(), random = Math.random } = parts
  const cooldownMs = parts.cooldownSeconds * 1000
  const refreshMs = parts.refreshSeconds * 1000
  const maxAgeMs = parts.maxKeyAgeSeconds * 1000
  const closing = new AbortController()
  let latest: { readonly set: Fetched; readonly at: number } | undefined
  let running: Promise<void> | undefined
  let startedAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let failure: string | undefined
  let timer: NodeJS.Timeout | undefined

  function begin(): Promise<void> {
    clearTimeout(timer)
    startedAt = now()
    running = attempt(startedAt).finally(() => {
      running = undefined
      if (closing.signal.aborted) return
      // A fetch may take longer than the time to the next one.
      const leftMs = Math.max(0, nextDelay() - (now() - startedAt))
      timer = setTimeout(() => void begin(), leftMs).unref()
    })
    return running
  }

  async function attempt(at: number): Promise<void> {
    try {
      const set = await fetch(closing.signal)
      latest = { set, at }
      failures = 0
      failure = undefined
      parts.onFetched?.(set)
    } catch (error) {
      failures++
      failure = reasonOf(error)
      if (!closing.signal.aborted) parts.onFailed?.(failure)
    }
  }

  /** Replicas that started together spread out. After failures: sooner, and less and less often. */
  function nextDelay(): number {
    if (failures === 0) return Math.max(cooldownMs, refreshMs * (0.8 + 0.2 * random()))
    const backedOff = cooldownMs * 2 ** Math.min(failures - 1, 20)
    return Math.max(cooldownMs, Math.min(refreshMs, backedOff)) * (1 + 0.2 * random())
  }

  void begin()
  return {
    /** `undefined` before the first fetch succeeded, and when the keys are too old. */
    current: () => (latest !== undefined && now() - latest.at <= maxAgeMs ? latest.set : undefined),
    /**
     * Fetches keys unless a fetch is in progress or began less than a cool-down ago. Resolves when that
     * fetch has ended, and at the latest after `waitMs`: to whether there was one. Never rejects.
     */
    async refresh() {
      if (closing.signal.aborted) return false
      if (running === undefined && now() - startedAt < cooldownMs) return false
      await atMost(waitMs, running ?? begin())
      return true
    },
    /** Whether the issuer may have keys that are not known here: its last fetch failed or goes on. */
    isBehind: () => running !== undefined || failures > 0,
    /** Why the last fetch failed; `undefined` if it did not. */
    failure: () => failure,
    /** Seconds since the last successful fetch; `undefined` before it. */
    ageSeconds: () => latest && (now() - latest.at) / 1000,
    close() {
      clearTimeout(timer)
      closing.abort()
    },
  }
}

/** If every address of a name fails, Node gives an error without a message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ((error as NodeJS.ErrnoException).code ?? 'unreachable')
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late])
  clearTimeout(timer)
}

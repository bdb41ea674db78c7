import { isDeepStrictEqual } from 'node:util'
import {
  type Attempt,
  createErrorShare,
  type ErrorShare,
  type ErrorShareSettings,
  failsTooOften,
  noRequests,
  type Tally,
} from './error-share.ts'

export interface OutlierSettings {
  /** Consecutive 5xx responses that eject; 0: statuses do not count. */
  readonly consecutive5xx: number
  /** Consecutive requests without a complete response that eject; 0: they do not count. */
  readonly consecutiveBroken: number
  /** Unset: the share of failed requests does not count. */
  readonly errorShare?: ErrorShareSettings | undefined
  /** The first ejection; each further one lasts that much longer. */
  readonly baseEjectionMs: number
  readonly maxEjectionMs: number
  readonly maxEjectedPercent: number
  /** How long a target that returns takes to get its full share. */
  readonly rampMs: number
}

type EjectionReason = 'consecutive-5xx' | 'consecutive-broken' | 'error-share'

export interface Ejection {
  readonly reason: EjectionReason
  readonly forMs: number
}

/**
 * Ejects a target that accepts connections, but serves badly. A client that knows a URL with an error
 * must not eject targets: consecutive failures need two callers, unless there is only one.
 */
export type Outlier = ReturnType<typeof createOutlier>

interface OutlierOptions {
  /** Whether another target of the upstream may be ejected. */
  readonly mayEject: () => boolean
  readonly onEjected: (ejection: Ejection) => void
  /** The requests of the other targets in that interval. */
  readonly others?: (interval: number) => Tally
  /** Milliseconds. */
  readonly now?: () => number
}

/** For how long a caller must have been the only one to count as that. */
const aloneMs = 10_000

/** Consecutive failures, and whether more than one caller had them. */
interface Run {
  length: number
  who: string | undefined
  isShared: boolean
}

export function createOutlier(
  first: OutlierSettings,
  { mayEject, onEjected, others = () => noRequests, now = () => performance.now() }: OutlierOptions,
) {
  const counts: Record<EjectionReason, number> = {
    'consecutive-5xx': 0,
    'consecutive-broken': 0,
    'error-share': 0,
  }
  let settings = first
  let share = openShare()
  const errors = newRun()
  const broken = newRun()
  let lastCaller: string | undefined
  /** When the caller was last another one than before. */
  let otherCallerAt = Number.NEGATIVE_INFINITY
  let until = 0
  let ejectedFor: EjectionReason | undefined
  /** When the first good response after the last ejection came. */
  let wellSince: number | undefined
  /** The length of the last ejection, in units of `baseEjectionMs`. */
  let units = 0
  /** Requests up to this one were sent before the last ejection or the last break. */
  let beforeEjection: Attempt = 0
  let beforeBreak: Attempt = 0
  let latest: Attempt = 0

  function openShare(): ErrorShare | undefined {
    const { errorShare } = settings
    if (errorShare === undefined || errorShare.percent === 0) return undefined
    return createErrorShare(errorShare.intervalMs, judge, now)
  }
  function judge(interval: number): void {
    const { errorShare } = settings
    if (share === undefined || errorShare === undefined) return
    if (failsTooOften(share.tally(interval), others(interval), errorShare)) eject('error-share')
  }
  function isEjected(): boolean {
    return until !== 0 && now() < until
  }
  function eject(reason: EjectionReason): void {
    if (isEjected() || !mayEject()) return
    const { baseEjectionMs, maxEjectionMs } = settings
    const served = wellSince === undefined ? 0 : now() - wellSince
    wellSince = undefined
    // Time that it served well makes the next ejection shorter, by as much.
    units = Math.max(0, units - Math.floor(served / baseEjectionMs)) + 1
    const forMs = Math.min(baseEjectionMs * units, maxEjectionMs)
    units = Math.max(1, Math.floor(forMs / baseEjectionMs))
    until = now() + forMs
    ejectedFor = reason
    beforeEjection = latest
    counts[reason]++
    expectFailure()
    share = openShare()
    onEjected({ reason, forMs })
  }
  /** On its return, the first failures eject it again, and one success clears it. */
  function expectFailure(): void {
    Object.assign(errors, newRun(), { length: Math.max(0, settings.consecutive5xx - 1) })
    Object.assign(broken, newRun(), { length: Math.max(0, settings.consecutiveBroken - 1) })
  }
  function noteCaller(who: string): void {
    if (who === lastCaller) return
    if (lastCaller !== undefined) otherCallerAt = now()
    lastCaller = who
  }
  function extend(run: Run, who: string, most: number, reason: EjectionReason): void {
    run.length++
    run.who ??= who
    if (run.who !== who) run.isShared = true
    if (most === 0 || run.length < most) return
    if (run.isShared || now() - otherCallerAt >= aloneMs) eject(reason)
  }
  /** A connection broke. A restart breaks all of them at once, and that is one failure. */
  function lost(attempt: Attempt, who: string): void {
    if (attempt <= beforeBreak) return
    beforeBreak = latest
    extend(broken, who, settings.consecutiveBroken, 'consecutive-broken')
  }
  function detects(reason: EjectionReason): boolean {
    if (settings.maxEjectedPercent === 0) return false
    if (reason === 'consecutive-5xx') return settings.consecutive5xx > 0
    if (reason === 'consecutive-broken') return settings.consecutiveBroken > 0
    return (settings.errorShare?.percent ?? 0) > 0
  }

  return {
    isEjected,
    /** How long the current ejection still lasts; 0 without one. */
    remainingMs: () => (until === 0 ? 0 : Math.max(0, until - now())),
    /** All ejections so far, by reason. */
    ejections: (): Readonly<Record<EjectionReason, number>> => counts,
    /** A request is sent. */
    began: () => ++latest,
    /** A response has begun. `who`: the caller. */
    answered(attempt: Attempt, who: string, status: number) {
      noteCaller(who)
      if (attempt <= beforeEjection) return
      if (status >= 500) extend(errors, who, settings.consecutive5xx, 'consecutive-5xx')
      else if (errors.length > 0) Object.assign(errors, newRun())
      if (attempt > beforeEjection) share?.note(attempt, who, status >= 500)
    },
    completed(attempt: Attempt) {
      if (attempt <= beforeEjection) return
      if (broken.length > 0) Object.assign(broken, newRun())
      if (until !== 0 && errors.length === 0) wellSince ??= now()
    },
    /** A response that had begun broke off. */
    broke(attempt: Attempt, who: string) {
      if (attempt <= beforeEjection) return
      share?.broke(attempt, who)
      lost(attempt, who)
    },
    /** A request that was sent got no response: its connection broke, or the time was up. */
    failed(attempt: Attempt, who: string, hasBroken: boolean) {
      noteCaller(who)
      if (attempt <= beforeEjection) return
      share?.note(attempt, who, true)
      if (hasBroken) lost(attempt, who)
      else extend(broken, who, settings.consecutiveBroken, 'consecutive-broken')
    },
    /** The requests of an interval; nothing where the share of failed requests does not count. */
    tally: (interval: number) => share?.tally(interval) ?? noRequests,
    /** The requests of the last complete interval. */
    recent: () => share?.recent() ?? noRequests,
    /**
     * Other settings apply from now on. Ends an ejection that they do not provide for, and shortens one
     * that is too long; returns whether it did either.
     */
    change(next: OutlierSettings) {
      const previous = settings.errorShare
      settings = next
      if (!isDeepStrictEqual(previous, next.errorShare)) share = openShare()
      if (!isEjected() || ejectedFor === undefined) return false
      expectFailure()
      const planned = until
      until = detects(ejectedFor) ? Math.min(until, now() + next.maxEjectionMs) : now()
      return until !== planned
    },
  }
}

function newRun(): Run {
  return { length: 0, who: undefined, isShared: false }
}

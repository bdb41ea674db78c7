import { isDeepStrictEqual } from 'node:util'
import type { Attempt } from './breaker.ts'
import {
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
  /** Consecutive responses that broke off that eject; 0: they do not count. */
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
 * Ejects a target that responds, but badly. A circuit breaker cannot see that: for it, a response of
 * any status is a success as soon as it begins.
 */
export interface Outlier {
  readonly isEjected: () => boolean
  /** How long the current ejection still lasts; 0 without one. */
  readonly remainingMs: () => number
  /** All ejections so far, by reason. */
  readonly ejections: () => Readonly<Record<EjectionReason, number>>
  /** A response has begun. */
  readonly answered: (attempt: Attempt, status: number) => void
  readonly completed: (attempt: Attempt) => void
  /** A response that had begun broke off. `latest`: the request that was sent last. */
  readonly broke: (attempt: Attempt, latest: Attempt) => void
  /** A request that was sent got no response. */
  readonly failed: (attempt: Attempt) => void
  /** The requests of an interval; nothing where the share of failed requests does not count. */
  readonly tally: (interval: number) => Tally
  /** The requests of the last complete interval. */
  readonly recent: () => Tally
  /**
   * Other settings apply from now on. Ends an ejection that they do not provide for, and shortens one
   * that is too long; returns whether it did either.
   */
  readonly change: (settings: OutlierSettings) => boolean
}

interface OutlierOptions {
  /** Whether another target of the upstream may be ejected. */
  readonly mayEject: () => boolean
  readonly onEjected: (ejection: Ejection) => void
  /** The requests of the other targets in that interval. */
  readonly others?: (interval: number) => Tally
  /** Milliseconds. */
  readonly now?: () => number
}

export function createOutlier(
  first: OutlierSettings,
  { mayEject, onEjected, others = () => noRequests, now = () => performance.now() }: OutlierOptions,
): Outlier {
  const counts: Record<EjectionReason, number> = {
    'consecutive-5xx': 0,
    'consecutive-broken': 0,
    'error-share': 0,
  }
  let settings = first
  let share = openShare()
  let errors = 0
  let broken = 0
  let until = 0
  let ejectedFor: EjectionReason | undefined
  /** Its first good response after the last ejection. */
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
  /** On its return, one more failure ejects it again, and one success clears it. */
  function expectFailure(): void {
    errors = Math.max(0, settings.consecutive5xx - 1)
    broken = Math.max(0, settings.consecutiveBroken - 1)
  }
  function detects(reason: EjectionReason): boolean {
    if (settings.maxEjectedPercent === 0) return false
    if (reason === 'consecutive-5xx') return settings.consecutive5xx > 0
    if (reason === 'consecutive-broken') return settings.consecutiveBroken > 0
    return (settings.errorShare?.percent ?? 0) > 0
  }

  return {
    isEjected,
    remainingMs: () => (until === 0 ? 0 : Math.max(0, until - now())),
    ejections: () => counts,
    answered(attempt, status) {
      if (attempt > latest) latest = attempt
      if (attempt <= beforeEjection) return
      const { consecutive5xx } = settings
      if (status < 500) errors = 0
      else if (consecutive5xx > 0 && ++errors >= consecutive5xx) eject('consecutive-5xx')
      if (attempt > beforeEjection) share?.note(attempt, status >= 500)
    },
    completed(attempt) {
      if (attempt <= beforeEjection) return
      broken = 0
      if (until !== 0 && errors === 0) wellSince ??= now()
    },
    broke(attempt, sent) {
      latest = Math.max(latest, sent)
      if (attempt <= beforeEjection) return
      share?.broke(attempt)
      // A restart breaks all open responses at once, and that is one failure.
      if (attempt <= beforeBreak) return
      beforeBreak = latest
      const { consecutiveBroken } = settings
      if (consecutiveBroken > 0 && ++broken >= consecutiveBroken) eject('consecutive-broken')
    },
    failed(attempt) {
      if (attempt > latest) latest = attempt
      if (attempt > beforeEjection) share?.note(attempt, true)
    },
    tally: (interval) => share?.tally(interval) ?? noRequests,
    recent: () => share?.recent() ?? noRequests,
    change(next) {
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

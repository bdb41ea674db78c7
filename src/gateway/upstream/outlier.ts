import type { Attempt } from './breaker.ts'

export interface OutlierSettings {
  /** Consecutive 5xx responses that eject; 0: statuses do not count. */
  readonly consecutive5xx: number
  /** Consecutive responses that broke off that eject; 0: they do not count. */
  readonly consecutiveBroken: number
  /** The first ejection; each further one lasts that much longer. */
  readonly baseEjectionMs: number
  readonly maxEjectionMs: number
  readonly maxEjectedPercent: number
  /** How long a target that returns takes to get its full share. */
  readonly rampMs: number
}

type EjectionReason = 'consecutive-5xx' | 'consecutive-broken'

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
}

interface OutlierOptions {
  /** Whether another target of the upstream may be ejected. */
  readonly mayEject: () => boolean
  readonly onEjected: (ejection: Ejection) => void
  /** Milliseconds. */
  readonly now?: () => number
}

export function createOutlier(
  settings: OutlierSettings,
  { mayEject, onEjected, now = () => performance.now() }: OutlierOptions,
): Outlier {
  const { consecutive5xx, consecutiveBroken, baseEjectionMs, maxEjectionMs } = settings
  const counts: Record<EjectionReason, number> = { 'consecutive-5xx': 0, 'consecutive-broken': 0 }
  let errors = 0
  let broken = 0
  let until = 0
  /** Its first good response after the last ejection. */
  let wellSince: number | undefined
  /** The length of the last ejection, in units of `baseEjectionMs`. */
  let units = 0
  /** Requests up to this one were sent before the last ejection or the last break. */
  let beforeEjection: Attempt = 0
  let beforeBreak: Attempt = 0
  let latest: Attempt = 0

  function isEjected(): boolean {
    return until !== 0 && now() < until
  }
  function eject(reason: EjectionReason): void {
    if (isEjected() || !mayEject()) return
    const served = wellSince === undefined ? 0 : now() - wellSince
    wellSince = undefined
    // Time that it served well makes the next ejection shorter, as in Envoy.
    units = Math.max(0, units - Math.floor(served / baseEjectionMs)) + 1
    const forMs = Math.min(baseEjectionMs * units, maxEjectionMs)
    units = Math.max(1, Math.floor(forMs / baseEjectionMs))
    until = now() + forMs
    beforeEjection = latest
    counts[reason]++
    // On its return, one more failure ejects it again, and one success clears it.
    errors = Math.max(0, consecutive5xx - 1)
    broken = Math.max(0, consecutiveBroken - 1)
    onEjected({ reason, forMs })
  }

  return {
    isEjected,
    remainingMs: () => (until === 0 ? 0 : Math.max(0, until - now())),
    ejections: () => counts,
    answered(attempt, status) {
      if (attempt > latest) latest = attempt
      if (attempt <= beforeEjection) return
      if (status < 500) errors = 0
      else if (consecutive5xx > 0 && ++errors >= consecutive5xx) eject('consecutive-5xx')
    },
    completed(attempt) {
      if (attempt <= beforeEjection) return
      broken = 0
      if (until !== 0 && errors === 0) wellSince ??= now()
    },
    broke(attempt, sent) {
      latest = Math.max(latest, sent)
      // A restart breaks all open responses at once, and that is one failure.
      if (attempt <= beforeEjection || attempt <= beforeBreak) return
      beforeBreak = latest
      if (consecutiveBroken > 0 && ++broken >= consecutiveBroken) eject('consecutive-broken')
    },
  }
}

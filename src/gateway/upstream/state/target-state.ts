import type { OnConnect } from '../../../wire/pool.ts'
import { type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import type { Tally } from './error-share.ts'
import { type HealthRecord, newHealthRecord } from './health-check.ts'
import { createOutlier, type Ejection, type Outlier, type OutlierSettings } from './outlier.ts'
import { createReachabilityProbe, type ReachabilityProbe } from './reachability-probe.ts'
import { createWarmUp, type WarmUp } from './warm-up.ts'

/** The target that currently represents the server, with its settings. */
interface StateUser {
  /** Unset: its circuit never opens. */
  readonly breaker: BreakerSettings | undefined
  readonly outlier: OutlierSettings
  readonly slowStartMs: number
  /** Tries to connect to the server. */
  readonly connect: (settled: () => void) => void
  /** Whether the upstream has enough other targets to eject this one. */
  readonly mayEject: () => boolean
  /** The requests of the other targets in that interval. */
  readonly others: (interval: number) => Tally
  readonly onEjected: (ejection: Ejection) => void
  /** It has less than its share until that time. */
  readonly onWarming: (until: number) => void
}

/** What is known about a server. A reload hands it on, and other settings apply to it. */
interface TargetState {
  readonly breaker: Breaker
  readonly outlier: Outlier
  readonly warmUp: WarmUp
  readonly probe: ReachabilityProbe
  readonly onConnect: OnConnect
  readonly health: HealthRecord
  /** Requests in progress, those that began before a reload included. */
  readonly load: { waiting: number; tunnels: number }
  lastFailure: { readonly error: Error; readonly at: number } | undefined
  readonly noteFailure: (error: Error) => void
  readonly startSlowly: () => void
  readonly handTo: (next: StateUser) => void
}

/** What this machine lacks says nothing about the target. */
const ownShortages = new Set<unknown>(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

function createTargetState(first: StateUser): TargetState {
  let user = first
  const warmUp = createWarmUp((until) => user.onWarming(until))
  const startSlowly = () => warmUp.start(performance.now(), user.slowStartMs)
  const breaker = createBreaker(first.breaker, {
    onOpened: () => probe.start(),
    onClosed: startSlowly,
  })
  const outlier = createOutlier(first.outlier, {
    mayEject: () => user.mayEject(),
    others: (interval) => user.others(interval),
    onEjected(ejection) {
      ramp()
      user.onEjected(ejection)
    },
  })
  const probe = createReachabilityProbe({
    connect: (settled) => user.connect(settled),
    isWanted: () => !breaker.allows(),
  })

  /** It gets its share back from the end of the ejection. */
  function ramp(): void {
    const from = performance.now() + outlier.remainingMs()
    warmUp.start(from, Math.max(user.outlier.rampMs, user.slowStartMs))
  }

  function noteFailure(error: Error): void {
    state.lastFailure = { error, at: Date.now() }
  }

  startSlowly()
  const state: TargetState = {
    breaker,
    outlier,
    warmUp,
    probe,
    onConnect(error) {
      if (error !== undefined) noteFailure(error)
      if (!ownShortages.has((error as NodeJS.ErrnoException | undefined)?.code)) {
        breaker.tried(error)
      }
      return breaker.allows()
    },
    health: newHealthRecord(),
    load: { waiting: 0, tunnels: 0 },
    lastFailure: undefined,
    noteFailure,
    startSlowly,
    handTo(next) {
      user = next
      breaker.change(next.breaker)
      if (outlier.change(next.outlier)) {
        warmUp.stop()
        ramp()
      }
      if (warmUp.warmAt() > performance.now()) next.onWarming(warmUp.warmAt())
    },
  }
  return state
}

/** The state of a target, until it is released. `isNew`: the name leads to another server now. */
export type OpenState = (name: string, user: StateUser, isNew: boolean) => SharedState

interface SharedState {
  readonly state: TargetState
  /** The target is retired. Call it once. */
  readonly release: () => void
}

/** The states of the targets of one upstream. A target that is created again has the same one. */
export function createTargetStates(): OpenState {
  const entries = new Map<string, { readonly state: TargetState; users: number }>()

  return (name, user, isNew) => {
    const known = isNew ? undefined : entries.get(name)
    known?.state.handTo(user)
    const entry = known ?? { state: createTargetState(user), users: 0 }
    entries.set(name, entry)
    entry.users++
    return {
      state: entry.state,
      release() {
        entry.users--
        if (entry.users > 0) return
        entry.state.probe.close()
        if (entries.get(name) === entry) entries.delete(name)
      },
    }
  }
}

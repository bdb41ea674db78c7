import type { TargetTls } from '../../wire/connect.ts'
import type { OnLookup } from '../../wire/name-lookup.ts'
import { createPool, type Pool } from '../../wire/pool.ts'
import { type Attempt, type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import { createHealthCheck, type HealthCheckSettings } from './health-check.ts'
import { createOutlier, type Ejection, type Outlier, type OutlierSettings } from './outlier.ts'
import { createReachabilityProbe } from './reachability-probe.ts'
import { type OpenPool, openOwnPool } from './shared-pools.ts'
import { codeOf } from './upstream-errors.ts'
import { createWarmUp } from './warm-up.ts'

export interface TargetSettings {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly breaker: BreakerSettings
  /** Unset: no outlier detection. */
  readonly outlier?: OutlierSettings | undefined
  /** How long a target that is new or came back takes to get its full share; 0: no time. */
  readonly slowStartMs?: number | undefined
  /** How long a connection may be idle; unset: as long as the server keeps it. */
  readonly idleTimeoutMs?: number | undefined
  readonly healthCheck?: HealthCheckSettings | undefined
  /** `target`, `client` or a name: the Host header. */
  readonly host?: string
  readonly tls?: TargetTls | undefined
  readonly onLookup?: OnLookup | undefined
  /** Opens its pool. Unset: one of its own. */
  readonly openPool?: OpenPool | undefined
}

export interface LastError {
  readonly message: string
  /** RFC 3339. */
  readonly at: string
}

/** One server of an upstream. */
export interface Target {
  /** Scheme, host and port, and the address if the name has several. */
  readonly name: string
  /** Its part of the requests, in relation to other targets; 0: none. */
  readonly weight: number
  /** The share of its weight that it has while it warms up; 1 otherwise. */
  readonly share: () => number
  readonly breaker: Pick<Breaker, 'allows' | 'state'>
  readonly outlier: Pick<Outlier, 'isEjected' | 'remainingMs' | 'ejections'>
  /** The result of the active health check; `true` without one. */
  readonly isHealthy: () => boolean
  /** Requests and tunnels in progress. */
  readonly outstanding: () => number
  /** Requests that have, or wait for, a pooled connection: tunnels do not count. */
  readonly waiting: () => number
  readonly tunnels: () => number
  /** Its connections, those of tunnels included. */
  readonly connections: () => number
  readonly began: () => Attempt
  readonly send: Pool['send']
  readonly abort: Pool['abort']
  readonly resume: Pool['resume']
  /** The response to a request has begun. */
  readonly answered: (attempt: Attempt, status: number) => void
  /** It switched protocols: the connection has left the pool. */
  readonly tunnelled: () => void
  readonly tunnelEnded: () => void
  /**
   * Call it once for each request. `inconclusive`: the result says nothing about the target, since the
   * client disconnected or the request never got a connection. A response that had begun was `answered`
   * completely, or it was `broken` by the target, or it was `dropped` for another reason.
   */
  readonly ended: (how: Ending, attempt: Attempt, error?: Error) => void
  /** The error of the last request that counted against it. */
  readonly lastError: () => LastError | undefined
  /**
   * Closes its idle connections, and the others as they become free. Resolves when its last request
   * has ended.
   */
  readonly retire: () => Promise<void>
  readonly destroy: () => void
}

export type Ending = 'answered' | 'broken' | 'dropped' | 'failed' | 'unreachable' | 'inconclusive'

interface TargetOptions {
  readonly weight?: number
  /** Whether no other target can serve the requests. */
  readonly isAlone?: (target: Target) => boolean
  /** Whether the upstream has enough other targets to eject this one. */
  readonly mayEject?: (target: Target) => boolean
  readonly onEjected?: (target: Target, ejection: Ejection) => void
  /** It has less than its share until that time. */
  readonly onWarming?: (until: number) => void
}

const noOutliers: OutlierSettings = {
  ...{ consecutive5xx: 0, consecutiveBroken: 0, maxEjectedPercent: 0 },
  ...{ baseEjectionMs: 1, maxEjectionMs: 1, rampMs: 0 },
}

/**
 * A pool of connections to one origin, at one address if that is given, and what is known about the
 * server there.
 */
export function createTarget(
  origin: string,
  address: string | undefined,
  settings: TargetSettings,
  { weight = 1, isAlone, mayEject, onEjected, onWarming }: TargetOptions = {},
): Target {
  const { connections, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, tls, onLookup } = settings
  const { openPool = openOwnPool } = settings
  const pool = openPool(origin, address, {
    connections,
    connectTimeoutMs,
    headersTimeoutMs,
    bodyTimeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    tls,
    onLookup,
  })
  const warmUp = createWarmUp((until) => onWarming?.(until))
  const slowStart = () => warmUp.start(performance.now(), settings.slowStartMs ?? 0)
  const breaker = createBreaker(settings.breaker, {
    isAlone: () => isAlone?.(target) ?? false,
    onClosed: slowStart,
  })
  const outlier = createOutlier(settings.outlier ?? noOutliers, {
    mayEject: () => mayEject?.(target) ?? false,
    onEjected(ejection) {
      const { rampMs } = settings.outlier ?? noOutliers
      warmUp.start(performance.now() + ejection.forMs, Math.max(rampMs, settings.slowStartMs ?? 0))
      onEjected?.(target, ejection)
    },
  })
  const probe = createReachabilityProbe({
    connect: pool.connect,
    isWanted: () => breaker.state() === 'open',
    onReachable: breaker.reachable,
  })
  const fixedHost =
    settings.host === 'target' || settings.host === 'client' ? undefined : settings.host
  // With its own connection: a check must not wait for a request to end.
  const createOwnPool = () => createPool(origin, address, { ...settings, connections: 1 })
  const health = createHealthCheck(createOwnPool, settings.healthCheck, {
    host: fixedHost,
    onHealthy: slowStart,
  })
  let waiting = 0
  let tunnels = 0
  let latest: Attempt = 0
  let lastFailure: { readonly error: Error; readonly at: number } | undefined
  let retired: PromiseWithResolvers<void> | undefined

  function resolveWhenDone(): void {
    if (waiting + tunnels === 0) retired?.resolve()
  }

  slowStart()
  const target: Target = {
    name: address === undefined ? origin : `${origin} (${address})`,
    weight,
    share: warmUp.share,
    breaker,
    outlier,
    isHealthy: health.isHealthy,
    outstanding: () => waiting + tunnels,
    waiting: () => waiting,
    tunnels: () => tunnels,
    connections: () => pool.size() + tunnels,
    began() {
      waiting++
      latest = breaker.began()
      return latest
    },
    send: pool.send,
    abort: pool.abort,
    resume: pool.resume,
    answered(attempt, status) {
      breaker.succeeded(attempt)
      outlier.answered(attempt, status)
    },
    tunnelled() {
      tunnels++
    },
    tunnelEnded() {
      tunnels--
      resolveWhenDone()
    },
    lastError() {
      if (lastFailure === undefined) return undefined
      const { error, at } = lastFailure
      return { message: error.message || codeOf(error), at: new Date(at).toISOString() }
    },
    ended(how, attempt, error) {
      waiting--
      if (how === 'answered') outlier.completed(attempt)
      else if (how === 'broken') {
        if (error !== undefined) lastFailure = { error, at: Date.now() }
        outlier.broke(attempt, latest)
      } else if (how === 'failed' || how === 'unreachable') {
        if (error !== undefined) lastFailure = { error, at: Date.now() }
        breaker.failed(attempt)
      } else if (how === 'inconclusive') breaker.abandoned(attempt)
      // A connection proves nothing about a target that accepts connections but fails requests.
      if (how === 'unreachable' && breaker.state() === 'open') probe.start()
      resolveWhenDone()
    },
    retire() {
      if (retired === undefined) {
        retired = Promise.withResolvers<void>()
        health.close()
        probe.close()
        pool.release()
      }
      resolveWhenDone()
      return retired.promise
    },
    destroy() {
      health.close()
      probe.close()
      pool.destroy()
    },
  }
  return target
}

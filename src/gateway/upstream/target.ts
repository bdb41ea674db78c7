import type { TargetTls } from '../../wire/connect.ts'
import { poolFor } from '../../wire/h2/pool-for.ts'
import type { OnLookup } from '../../wire/name-lookup.ts'
import type { Pool, PoolSettings } from '../../wire/pool.ts'
import { type OpenPool, openOwnPool } from './shared-pools.ts'
import type { Breaker, BreakerSettings } from './state/breaker.ts'
import { type Attempt, noRequests, type Tally } from './state/error-share.ts'
import { createHealthCheck, type HealthCheckSettings } from './state/health-check.ts'
import type { Ejection, Outlier, OutlierSettings } from './state/outlier.ts'
import { createTargetStates, type OpenState } from './state/target-state.ts'
import { codeOf, isBroken } from './upstream-errors.ts'

export type { Attempt } from './state/error-share.ts'

export interface TargetSettings {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** Unset: its circuit never opens. */
  readonly breaker?: BreakerSettings | undefined
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
  /** What its targets speak. Unset: HTTP/1.1. */
  readonly protocol?: PoolSettings['protocol']
  readonly http2?: PoolSettings['http2']
  readonly onLookup?: OnLookup | undefined
  /** Opens its pool. Unset: one of its own. */
  readonly openPool?: OpenPool | undefined
  /** Opens what is known about it. Unset: nothing is. */
  readonly openState?: OpenState | undefined
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
  /** The target's part of the requests, in relation to other targets; 0: none. */
  readonly weight: number
  /** The share of its weight that it has while it warms up; 1 otherwise. */
  readonly share: () => number
  readonly breaker: Pick<Breaker, 'allows' | 'state'>
  readonly outlier: Pick<Outlier, 'isEjected' | 'remainingMs' | 'ejections' | 'tally' | 'recent'>
  /** The result of the active health check; `true` without one. */
  readonly isHealthy: () => boolean
  /** Requests and tunnels in progress. */
  readonly outstanding: () => number
  /** Requests that have, or wait for, a pooled connection: tunnels do not count. */
  readonly waiting: () => number
  readonly tunnels: () => number
  /** Open connections to the target, with tunnels. */
  readonly connections: () => number
  /** Whether the next request would get a connection that is open. */
  readonly hasFree: () => boolean
  readonly began: () => Attempt
  readonly send: Pool['send']
  readonly abort: Pool['abort']
  readonly resume: Pool['resume']
  /** The response to a request of this caller has begun. */
  readonly answered: (attempt: Attempt, who: string, status: number) => void
  /** It switched protocols: the connection has left the pool. */
  readonly tunnelled: () => void
  readonly tunnelEnded: () => void
  /**
   * Call it once for each request. `inconclusive`: the result says nothing about the target, since the
   * client disconnected, the request never got a connection, or one that had been idle was closed. A
   * response that had begun was `answered` completely, or it was `broken` by the target, or it was
   * `dropped` for another reason.
   */
  readonly ended: (how: Ending, attempt: Attempt, who: string, error?: Error) => void
  /** The last error that counted against it. */
  readonly lastError: () => LastError | undefined
  /**
   * Closes its idle connections, and the others as they become free. Resolves when its last request
   * has ended.
   */
  readonly retire: () => Promise<void>
  readonly destroy: () => void
}

export type Ending = 'answered' | 'broken' | 'dropped' | 'failed' | 'inconclusive'

interface TargetOptions {
  readonly weight?: number
  /** The name leads to another server than before. */
  readonly isMoved?: boolean
  /** Whether the upstream has enough other targets to eject this one. */
  readonly mayEject?: (target: Target) => boolean
  /** The requests of the other targets in that interval. */
  readonly others?: (target: Target, interval: number) => Tally
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
  { weight = 1, isMoved = false, mayEject, others, onEjected, onWarming }: TargetOptions = {},
): Target {
  const { connections, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, tls, onLookup } = settings
  const { openPool = openOwnPool, openState = createTargetStates() } = settings
  const name = address === undefined ? origin : `${origin} (${address})`
  const stateUser = {
    breaker: settings.breaker,
    outlier: settings.outlier ?? noOutliers,
    slowStartMs: settings.slowStartMs ?? 0,
    connect: (settled: () => void) => pool.connect(settled),
    mayEject: () => mayEject?.(target) ?? false,
    others: (interval: number) => others?.(target, interval) ?? noRequests,
    onEjected: (ejection: Ejection) => onEjected?.(target, ejection),
    onWarming: (until: number) => onWarming?.(until),
  }
  const { state, release } = openState(name, stateUser, isMoved)
  const { breaker, outlier, warmUp, probe, load, onConnect, noteFailure } = state
  const poolSettings = {
    connections,
    connectTimeoutMs,
    headersTimeoutMs,
    bodyTimeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    tls,
    onLookup,
    onConnect,
    protocol: settings.protocol,
    http2: settings.http2,
  }
  const pool = openPool(origin, address, poolSettings, isMoved)
  const fixedHost =
    settings.host === 'target' || settings.host === 'client' ? undefined : settings.host
  // With its own connection: a check must not wait for a request to end.
  const createOwnPool = () => {
    const own = poolFor(origin, address, { ...settings, connections: 1 })
    // So that each check has a new connection, whatever the protocol.
    own.drain()
    return own
  }
  const health = createHealthCheck(createOwnPool, settings.healthCheck, {
    record: state.health,
    host: fixedHost,
    onHealthy: state.startSlowly,
  })
  /** Requests and tunnels of this target alone: after a reload, another one has the same server. */
  let own = 0
  let retired: PromiseWithResolvers<void> | undefined

  function oneEnded(): void {
    own--
    if (own === 0) retired?.resolve()
  }

  const target: Target = {
    name,
    weight,
    share: warmUp.share,
    breaker,
    outlier,
    isHealthy: health.isHealthy,
    outstanding: () => load.waiting + load.tunnels,
    waiting: () => load.waiting,
    tunnels: () => load.tunnels,
    connections: () => pool.size() + load.tunnels,
    hasFree: pool.hasFree,
    began() {
      own++
      load.waiting++
      return outlier.began()
    },
    send: pool.send,
    abort: pool.abort,
    resume: pool.resume,
    answered(attempt, who, status) {
      breaker.answered()
      outlier.answered(attempt, who, status)
    },
    tunnelled() {
      own++
      load.tunnels++
    },
    tunnelEnded() {
      load.tunnels--
      oneEnded()
    },
    lastError() {
      if (state.lastFailure === undefined) return undefined
      const { error, at } = state.lastFailure
      return { message: error.message || codeOf(error), at: new Date(at).toISOString() }
    },
    ended(how, attempt, who, error) {
      load.waiting--
      if (how === 'answered') outlier.completed(attempt)
      else if (how === 'broken') outlier.broke(attempt, who)
      else if (how === 'failed')
        outlier.failed(attempt, who, error !== undefined && isBroken(error))
      if ((how === 'broken' || how === 'failed') && error !== undefined) noteFailure(error)
      oneEnded()
    },
    retire() {
      if (retired === undefined) {
        retired = Promise.withResolvers<void>()
        health.close()
        release()
        pool.release()
      }
      if (own === 0) retired.resolve()
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

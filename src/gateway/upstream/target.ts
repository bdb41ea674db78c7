import type { TargetTls } from '../../wire/connect.ts'
import type { OnLookup } from '../../wire/name-lookup.ts'
import { createPool, type Pool } from '../../wire/pool.ts'
import { type Attempt, type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import { createHealthCheck, type HealthCheckSettings } from './health-check.ts'
import { createReachabilityProbe } from './reachability-probe.ts'
import { type OpenPool, openOwnPool } from './shared-pools.ts'
import { codeOf } from './upstream-errors.ts'

export interface TargetSettings {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly breaker: BreakerSettings
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
  readonly breaker: Pick<Breaker, 'allows' | 'state'>
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
  /** The response to a request has begun, whatever its status. */
  readonly answered: (attempt: Attempt) => void
  /** It switched protocols: the connection has left the pool. */
  readonly tunnelled: () => void
  readonly tunnelEnded: () => void
  /**
   * Call it once for each request. `inconclusive`: the result says nothing about the target, since the
   * client disconnected or the request never got a connection.
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

export type Ending = 'answered' | 'failed' | 'unreachable' | 'inconclusive'

/**
 * A pool of connections to one origin, at one address if that is given. `isAlone`: whether no other
 * target can serve the requests.
 */
export function createTarget(
  origin: string,
  address: string | undefined,
  settings: TargetSettings,
  isAlone: (target: Target) => boolean = () => false,
): Target {
  const { connections, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, tls, onLookup } = settings
  const { openPool = openOwnPool } = settings
  const pool = openPool(origin, address, {
    connections,
    connectTimeoutMs,
    headersTimeoutMs,
    bodyTimeoutMs,
    tls,
    onLookup,
  })
  const breaker = createBreaker(settings.breaker, { isAlone: () => isAlone(target) })
  const probe = createReachabilityProbe({
    connect: pool.connect,
    isWanted: () => breaker.state() === 'open',
    onReachable: breaker.reachable,
  })
  const fixedHost =
    settings.host === 'target' || settings.host === 'client' ? undefined : settings.host
  // With its own connection: a check must not wait for a request to end.
  const createOwnPool = () => createPool(origin, address, { ...settings, connections: 1 })
  const health = createHealthCheck(createOwnPool, settings.healthCheck, fixedHost)
  let waiting = 0
  let tunnels = 0
  let lastFailure: { readonly error: Error; readonly at: number } | undefined
  let retired: PromiseWithResolvers<void> | undefined

  function resolveWhenDone(): void {
    if (waiting + tunnels === 0) retired?.resolve()
  }

  const target: Target = {
    name: address === undefined ? origin : `${origin} (${address})`,
    breaker,
    isHealthy: health.isHealthy,
    outstanding: () => waiting + tunnels,
    waiting: () => waiting,
    tunnels: () => tunnels,
    connections: () => pool.size() + tunnels,
    began() {
      waiting++
      return breaker.began()
    },
    send: pool.send,
    abort: pool.abort,
    resume: pool.resume,
    answered: breaker.succeeded,
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
      if (how === 'failed' || how === 'unreachable') {
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

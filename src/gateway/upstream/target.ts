import type { TargetTls } from '../../wire/connect.ts'
import type { OnLookup } from '../../wire/name-lookup.ts'
import { createPool, type Pool } from '../../wire/pool.ts'
import { type Attempt, type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import { createHealthCheck, type HealthCheckSettings } from './health-check.ts'
import { createReachabilityProbe } from './reachability-probe.ts'
import { codeOf } from './upstream-errors.ts'

export interface TargetSettings {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly breaker: BreakerSettings
  readonly healthCheck?: HealthCheckSettings | undefined
  /** `target`, `client` or a name: who a check of health asks for. */
  readonly host?: string
  readonly tls?: TargetTls | undefined
  readonly onLookup?: OnLookup | undefined
}

/** One server of an upstream. */
export interface Target {
  /** Scheme, host and port, with the address besides when the name leads to several. */
  readonly name: string
  readonly breaker: Pick<Breaker, 'allows' | 'state'>
  /** What the active check says; `true` where there is none. */
  readonly isHealthy: () => boolean
  /** Requests and tunnels that have been given to it and have not ended. */
  readonly outstanding: () => number
  /** Those that have, or wait for, one of its pooled connections: tunnels do not. */
  readonly waiting: () => number
  readonly tunnels: () => number
  /** Its connections, those of tunnels included. */
  readonly connections: () => number
  readonly began: () => Attempt
  readonly send: Pool['send']
  readonly abort: Pool['abort']
  readonly resume: Pool['resume']
  /** The answer to a request has begun, whatever its status. */
  readonly answered: (attempt: Attempt) => void
  /** It agreed to go on in another protocol: the connection is the request's own from now on. */
  readonly tunnelled: () => void
  /** A tunnel has ended, after its request has. */
  readonly tunnelEnded: () => void
  /**
   * A request has ended, once: after its answer had begun; or the target failed it, or could not be
   * reached; or it says nothing about the target, since the client left or never got a connection.
   */
  readonly ended: (how: Ending, attempt: Attempt, error?: Error) => void
  /** What the last request that counted against it failed with. */
  readonly lastFailure: () => string | undefined
  /** Takes no more requests; resolves when the last one has ended and its connections are closed. */
  readonly retire: () => Promise<void>
  readonly destroy: () => void
}

export type Ending = 'answered' | 'failed' | 'unreachable' | 'inconclusive'

/**
 * A pool of connections to one origin, at one address when one is given. `isAlone`: whether no other
 * target could serve what this one does not.
 */
export function createTarget(
  origin: string,
  address: string | undefined,
  settings: TargetSettings,
  isAlone: (target: Target) => boolean = () => false,
): Target {
  const pool = createPool(origin, address, settings)
  const breaker = createBreaker(settings.breaker, { isAlone: () => isAlone(target) })
  const probe = createReachabilityProbe({
    connect: pool.connect,
    isWanted: () => breaker.state() === 'open',
    onReachable: breaker.reachable,
  })
  const fixedHost =
    settings.host === 'target' || settings.host === 'client' ? undefined : settings.host
  // With a connection of its own: a check must not wait until one of the requests has ended.
  const createOwnPool = () => createPool(origin, address, { ...settings, connections: 1 })
  const health = createHealthCheck(createOwnPool, settings.healthCheck, fixedHost)
  let waiting = 0
  let tunnels = 0
  let lastFailure: Error | undefined
  let retired: PromiseWithResolvers<void> | undefined

  function closeWhenDone(): void {
    if (retired === undefined || waiting + tunnels > 0) return
    pool.destroy()
    retired.resolve()
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
      closeWhenDone()
    },
    lastFailure: () => lastFailure && (lastFailure.message || codeOf(lastFailure)),
    ended(how, attempt, error) {
      waiting--
      if (how === 'failed' || how === 'unreachable') {
        lastFailure = error
        breaker.failed(attempt)
      } else if (how === 'inconclusive') breaker.abandoned(attempt)
      // Only for what connecting proves: a target that accepts connections and fails requests is
      // tried by the clock.
      if (how === 'unreachable' && breaker.state() === 'open') probe.start()
      closeWhenDone()
    },
    retire() {
      retired ??= Promise.withResolvers<void>()
      health.close()
      probe.close()
      closeWhenDone()
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

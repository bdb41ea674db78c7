import { isIP, type LookupFunction } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { type Dispatcher, Pool } from 'undici'
import { type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import { createHealthCheck, type HealthCheckSettings } from './health-check.ts'

export interface TargetSettings {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly breaker: BreakerSettings
  readonly healthCheck?: HealthCheckSettings | undefined
  /** Certificates besides those of the system, and our own for a target that asks for one. */
  readonly tls?: (SecureContextOptions & { readonly servername?: string }) | undefined
}

/** One server of an upstream. */
export interface Target {
  /** Scheme, host and port, with the address besides when the name leads to several. */
  readonly name: string
  readonly breaker: Pick<Breaker, 'allows' | 'state'>
  /** What the active check says; `true` where there is none. */
  readonly isHealthy: () => boolean
  /** Requests that have been given to it and have not ended. */
  readonly outstanding: () => number
  readonly began: () => void
  readonly dispatch: (
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ) => void
  /** The answer to a request has begun, whatever its status. */
  readonly answered: () => void
  /**
   * A request has ended, once: after its answer had begun; or the target failed it; or it says
   * nothing about the target, since the client left or never got a connection.
   */
  readonly ended: (how: Ending) => void
  /** Takes no more requests and closes its connections when the last one has ended. */
  readonly retire: () => void
  readonly destroy: () => Promise<void>
}

export type Ending = 'answered' | 'failed' | 'untold'

/** A pool of connections to one origin, at one address when one is given. */
export function createTarget(
  origin: string,
  address: string | undefined,
  settings: TargetSettings,
): Target {
  const pool = new Pool(origin, {
    connections: settings.connections,
    // A pooled HTTP/1.1 connection is positional: one request at a time, or one user's answer can
    // become another's (CVE-2026-6733).
    pipelining: 1,
    allowH2: false,
    connectTimeout: settings.connectTimeoutMs,
    headersTimeout: settings.headersTimeoutMs,
    bodyTimeout: settings.bodyTimeoutMs,
    strictContentLength: true,
    connect: {
      ...settings.tls,
      // Only the way there is fixed: Host header and certificate are those of the name.
      ...(address !== undefined && { lookup: leadingTo(address) }),
    },
  })
  const breaker = createBreaker(settings.breaker)
  const health = createHealthCheck(pool, settings.healthCheck)
  let outstanding = 0
  let retired = false

  function closeWhenDone(): void {
    if (retired && outstanding === 0) void pool.close().catch(() => {})
  }

  return {
    name: address === undefined ? origin : `${origin} (${address})`,
    breaker,
    isHealthy: health.isHealthy,
    outstanding: () => outstanding,
    began() {
      outstanding++
      breaker.began()
    },
    dispatch: (options, handler) => void pool.dispatch(options, handler),
    answered: breaker.succeeded,
    ended(how) {
      outstanding--
      if (how === 'failed') breaker.failed()
      else if (how === 'untold') breaker.abandoned()
      closeWhenDone()
    },
    retire() {
      retired = true
      health.close()
      closeWhenDone()
    },
    async destroy() {
      health.close()
      await pool.destroy()
    },
  }
}

/** A look-up that knows the answer. */
function leadingTo(address: string): LookupFunction {
  const family = isIP(address)
  return (_, options, found) => {
    if (options.all === true) found(null, [{ address, family }])
    else found(null, address, family)
  }
}

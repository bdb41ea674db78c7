import { type Dispatcher, Pool } from 'undici'
import { type Attempt, type Breaker, type BreakerSettings, createBreaker } from './breaker.ts'
import { createConnector, type TargetTls } from './connector.ts'
import { createHealthCheck, type HealthCheckSettings } from './health-check.ts'

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
  readonly began: () => Attempt
  readonly dispatch: (
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ) => void
  /** The answer to a request has begun, whatever its status. */
  readonly answered: () => void
  /** Nobody waits for a request any more that has not been sent: it will end, untold, later. */
  readonly left: (attempt: Attempt) => void
  /** It agreed to go on in another protocol: the connection is the request's own from now on. */
  readonly tunnelled: () => void
  /** A tunnel has ended, after its request has. */
  readonly tunnelEnded: () => void
  /**
   * A request has ended, once: after its answer had begun; or the target failed it; or it says
   * nothing about the target, since the client left or never got a connection.
   */
  readonly ended: (how: Ending, attempt: Attempt) => void
  /** Takes no more requests; resolves when the last one has ended and its connections are closed. */
  readonly retire: () => Promise<void>
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
    connect: createConnector(address, settings),
  })
  const breaker = createBreaker(settings.breaker)
  const fixedHost =
    settings.host === 'target' || settings.host === 'client' ? undefined : settings.host
  // undici takes the name for TLS from the Host header, and ends connections when it changes: a
  // client could choose whose certificate is good. One that never changes stops that, and
  // the connector puts the right one in its place.
  const named = origin.startsWith('https:') ? { servername: 'fixed' } : undefined
  const health = createHealthCheck(
    (options) => pool.request({ ...options, ...named }),
    settings.healthCheck,
    fixedHost,
  )
  let waiting = 0
  let tunnels = 0
  let retired: PromiseWithResolvers<void> | undefined

  function closeWhenDone(): void {
    if (retired === undefined || waiting + tunnels > 0) return
    // Closed twice, when the gateway goes away too.
    void pool
      .close()
      .catch(() => {})
      .then(retired.resolve)
  }

  return {
    name: address === undefined ? origin : `${origin} (${address})`,
    breaker,
    isHealthy: health.isHealthy,
    outstanding: () => waiting + tunnels,
    waiting: () => waiting,
    tunnels: () => tunnels,
    began() {
      waiting++
      return breaker.began()
    },
    dispatch: (options, handler) =>
      void pool.dispatch(named === undefined ? options : { ...options, ...named }, handler),
    answered: breaker.succeeded,
    left: breaker.abandoned,
    tunnelled() {
      tunnels++
    },
    tunnelEnded() {
      tunnels--
      closeWhenDone()
    },
    ended(how, attempt) {
      waiting--
      if (how === 'failed') breaker.failed(attempt)
      else if (how === 'untold') breaker.abandoned(attempt)
      closeWhenDone()
    },
    retire() {
      retired ??= Promise.withResolvers<void>()
      health.close()
      closeWhenDone()
      return retired.promise
    },
    async destroy() {
      health.close()
      await pool.destroy()
    },
  }
}

import { type Dispatcher, Pool } from 'undici'
import { Fault } from '../errors.ts'

export interface UpstreamSettings {
  readonly targets: readonly string[]
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly queueTimeoutMs: number
}

/** A business service: one or several targets that are asked in turn. */
export interface Upstream {
  /** How long a request may wait for a connection. */
  readonly queueTimeoutMs: number
  /**
   * Takes a place, and says whether there is a connection for it or it has to wait. Throws a Fault
   * at once when too many are already waiting.
   */
  enter(): 'free' | 'queued'
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void
  /** Gives the place back, once, when the response has ended in whatever way. */
  leave(): void
}

export interface Upstreams {
  get(name: string): Upstream
  close(): Promise<void>
}

/** Pools of connections, kept apart by upstream so that a dead one does not slow the others. */
export function createUpstreams(settings: Readonly<Record<string, UpstreamSettings>>): Upstreams {
  const pools: Pool[] = []
  const upstreams = new Map<string, Upstream>()

  for (const [name, one] of Object.entries(settings)) {
    const own = one.targets.map((target) => createPool(target, one))
    pools.push(...own)
    upstreams.set(name, createUpstream(own, one))
  }

  return {
    get(name) {
      const found = upstreams.get(name)
      if (found === undefined) throw new Error(`no upstream is named ${name}`)
      return found
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

function createPool(target: string, settings: UpstreamSettings): Pool {
  return new Pool(target, {
    connections: settings.connections,
    // A pooled HTTP/1.1 connection is positional: one request at a time, or one user's answer can
    // become another's (CVE-2026-6733).
    pipelining: 1,
    allowH2: false,
    connectTimeout: settings.connectTimeoutMs,
    headersTimeout: settings.headersTimeoutMs,
    bodyTimeout: settings.bodyTimeoutMs,
    strictContentLength: true,
  })
}

function createUpstream(pools: readonly Pool[], settings: UpstreamSettings): Upstream {
  const connections = settings.connections * pools.length
  let outstanding = 0
  let turn = 0

  return {
    queueTimeoutMs: settings.queueTimeoutMs,
    enter() {
      if (outstanding >= connections * 2) throw new Fault('upstream-busy')
      return ++outstanding > connections ? 'queued' : 'free'
    },
    dispatch(options, handler) {
      const pool = pools[turn++ % pools.length] as Pool
      pool.dispatch(options, handler)
    },
    leave() {
      outstanding--
    },
  }
}

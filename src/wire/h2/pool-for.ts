import type { Call } from '../connection.ts'
import { createPool, type Pool, type PoolSettings } from '../pool.ts'
import type { ResponseHandler, WireRequest } from '../request-head.ts'
import { H2Pool } from './h2-pool.ts'
import { StreamCall } from './stream-call.ts'

/**
 * Connections to one origin with the protocol of the settings. Opens none before the first request.
 * `address`: the one to use if the name has several.
 */
export function poolFor(origin: string, address: string | undefined, settings: PoolSettings): Pool {
  const { protocol = 'http1' } = settings
  const url = new URL(origin)
  if (protocol === 'h2' || protocol === 'h2c') return new H2Pool(url, address, settings)
  // Without TLS, nothing tells which one the server speaks.
  if (protocol === 'auto' && url.protocol === 'https:') return new AutoPool(url, address, settings)
  return createPool(origin, address, settings)
}

/** For how long HTTP/1.1 is used after the server has chosen it; then HTTP/2 is offered again. */
const http1Ms = 600_000

/**
 * Connections to an https origin that offer HTTP/2 and HTTP/1.1. The server chooses. Upgrades always
 * have a connection of HTTP/1.1.
 */
class AutoPool implements Pool {
  readonly #h2: H2Pool
  readonly #http1: Pool
  #http1Until = 0

  constructor(origin: URL, address: string | undefined, settings: PoolSettings) {
    const http1 = createPool(origin.origin, address, settings)
    this.#http1 = http1
    this.#h2 = new H2Pool(origin, address, settings, {
      onHttp1: (waiting) => {
        this.#http1Until = performance.now() + http1Ms
        for (const call of waiting) if (!call.ended) call.handOver(http1)
      },
    })
  }

  readonly send = (request: WireRequest, handler: ResponseHandler, fresh = false): Call => {
    const isHttp1 = request.upgrade !== undefined || this.#usesHttp1()
    return (isHttp1 ? this.#http1 : this.#h2).send(request, handler, fresh)
  }

  readonly abort = (call: Call): void =>
    call instanceof StreamCall ? this.#h2.abort(call) : this.#http1.abort(call)

  readonly resume = (call: Call): void => call.connection?.resume()

  readonly size = (): number => this.#h2.size() + this.#http1.size()

  readonly hasFree = (): boolean => (this.#usesHttp1() ? this.#http1 : this.#h2).hasFree()

  readonly connect = (settled: () => void): void =>
    (this.#usesHttp1() ? this.#http1 : this.#h2).connect(settled)

  readonly drain = (): void => {
    this.#h2.drain()
    this.#http1.drain()
  }

  readonly destroy = (): void => {
    this.#h2.destroy()
    this.#http1.destroy()
  }

  #usesHttp1(): boolean {
    return performance.now() < this.#http1Until
  }
}

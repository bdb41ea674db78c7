import { createPool, type Pool, type PoolSettings } from '../pool.ts'
import { AutoPool } from './auto-pool.ts'
import { H2Pool } from './h2-pool.ts'

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

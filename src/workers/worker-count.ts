import { availableParallelism } from 'node:os'
import { missingSharedStores } from '../config/checks/shared-stores.ts'
import type { Config } from '../config/schema/schema.ts'

/**
 * The configured number, and why it is lower than the number of cores. `auto` means one per core that this process may use, by CPU affinity and the
 * CPU limit of the container, rounded down. Workers need stores that they can share: without them `auto`
 * is 1, and the configuration check has refused any other number.
 */
export function workerCount(
  { application: { workers }, ...stores }: Pick<Config, 'application' | 'database' | 'redis'>,
  cores: number = availableParallelism(),
): { readonly count: number; readonly why?: string } {
  if (workers !== 'auto') return { count: workers }
  const missing = missingSharedStores(stores)
  if (cores === 1 || missing.length === 0) return { count: cores }
  return { count: 1, why: `several workers need ${missing.join(' and ')}` }
}

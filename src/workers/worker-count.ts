import { availableParallelism } from 'node:os'
import { notShared } from '../config/checks/shared-stores.ts'
import type { Config } from '../config/schema/schema.ts'

/** How many workers there are to be, and why there are fewer than there are cores. */
export interface WorkerCount {
  readonly count: number
  readonly why?: string
}

/**
 * The number that is configured; for `auto`, one for each core that this process may use: Node
 * looks at the affinity and at the CPU limit of the container, rounded down. Where workers would
 * have nothing to share, `auto` is 1; a number has then been refused with the configuration.
 */
export function workerCount(
  { application: { workers }, ...stores }: Pick<Config, 'application' | 'database' | 'redis'>,
  cores: number = availableParallelism(),
): WorkerCount {
  if (workers !== 'auto') return { count: workers }
  const missing = notShared(stores)
  if (cores === 1 || missing.length === 0) return { count: cores }
  return { count: 1, why: `several workers need ${missing.join(' and ')}` }
}

import { constants, platform, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
const priorities = { lower: PRIORITY_BELOW_NORMAL, lowest: PRIORITY_LOW } as const

/**
 * Makes this thread yield to those that forward requests. Only on Linux, where priorities belong to
 * threads: elsewhere it would lower that of the process.
 */
export function lowerThreadPriority(to: keyof typeof priorities): void {
  if (platform() !== 'linux') return
  try {
    setPriority(0, priorities[to])
  } catch {
    // A sandbox may forbid it; then the thread keeps its priority.
  }
}

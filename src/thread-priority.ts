import { constants, platform, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
const priorities = { lower: PRIORITY_BELOW_NORMAL, lowest: PRIORITY_LOW } as const

/**
 * Has this thread yield to those that forward requests. Only on Linux, where priorities are those of
 * threads: elsewhere it would lower that of the whole process.
 */
export function lowerThreadPriority(to: keyof typeof priorities): void {
  if (platform() !== 'linux') return
  try {
    setPriority(0, priorities[to])
  } catch {
    // A sandbox may forbid it: then it competes like any other thread.
  }
}

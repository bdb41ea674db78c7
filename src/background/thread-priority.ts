import { constants, platform, setPriority } from 'node:os'

/**
 * Makes this thread yield to those that forward requests. Only on Linux, where priorities belong to
 * threads: elsewhere it would lower that of the process.
 * Not the lowest priority: beside a few busy programs such a thread gets no CPU for half a minute.
 */
export function lowerThreadPriority(): void {
  if (platform() !== 'linux') return
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A sandbox may forbid it; then the thread keeps its priority.
  }
}

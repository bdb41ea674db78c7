import { cpuSecondsOfOthers } from '../run/processes.ts'

/**
 * Watches what everybody else on the machine does from now on: the answer is how many cores they
 * used on average, without the processes that this one has started. On Linux; elsewhere it says 0.
 */
export function watchOthers(): () => number {
  if (process.platform !== 'linux') return () => 0
  const [start, before] = [performance.now(), cpuSecondsOfOthers()]
  return () => {
    const seconds = (performance.now() - start) / 1000
    // Less than before is what remains when a process has ended.
    const used = Math.max(0, cpuSecondsOfOthers() - before)
    return Math.round((used / seconds) * 100) / 100
  }
}

import { cpus } from 'node:os'
import { treeOf, usageOf } from '../run/processes.ts'

/**
 * Watches what everybody else on the machine does from now on: the answer is how many cores they
 * used on average, whoever this process has started left out. On Linux; elsewhere it says 0.
 */
export function watchOthers(): () => number {
  const [start, all, own] = [performance.now(), busySeconds(), ownSeconds()]
  return () => {
    const seconds = (performance.now() - start) / 1000
    const others = busySeconds() - all - (ownSeconds() - own)
    return Math.max(0, Math.round((others / seconds) * 100) / 100)
  }
}

function busySeconds(): number {
  const ms = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0)
  return process.platform === 'linux' ? ms / 1000 : 0
}

function ownSeconds(): number {
  return process.platform === 'linux' ? usageOf(treeOf(process.pid)).cpuSeconds : 0
}

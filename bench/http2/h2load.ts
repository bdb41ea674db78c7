import { spawnSync } from 'node:child_process'
import { cpuSecondsOf, treeOf } from '../run/processes.ts'

/** Ends this process with one line if h2load is not installed. */
export function requireH2load(benchmark: string): void {
  if (spawnSync('h2load', ['--version']).status === 0) return
  console.error(`${benchmark} needs h2load: install the package nghttp2-client`)
  process.exit(2)
}

/** Sends so many requests. Throws unless each was answered with a 2xx. */
export function runH2load(count: number, args: readonly string[]): void {
  const all = ['-n', String(count), '-t', '1', ...args]
  const { stdout, stderr } = spawnSync('h2load', all, { encoding: 'utf8' })
  const good = Number(/status codes: (\d+) 2xx/.exec(stdout)?.[1] ?? 0)
  if (good !== count) throw new Error(`${good} of ${count} requests got a 2xx: ${stdout}${stderr}`)
}

/** The CPU time of a server for each of so many requests, in microseconds. */
export function cpuMicrosOf(pid: number, count: number, args: readonly string[]): number {
  const pids = treeOf(pid)
  const before = cpuSecondsOf(pids)
  runH2load(count, args)
  return ((cpuSecondsOf(pids) - before) / count) * 1e6
}

import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel says about processes. */
export interface Usage {
  /** User and system time of all threads, and of children that have ended. */
  readonly cpuSeconds: number
  /** The sum of what each process has resident; pages that several share count in each. */
  readonly residentBytes: number
}

/** What `getconf CLK_TCK` says on every Linux that Node runs on; the kernel's unit in /proc. */
const ticksPerSecond = 100

/** Every process of the machine that /proc shows. */
function allProcesses(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** A process and everything that it has started and that still runs. */
export function treeOf(root: number): readonly number[] {
  const all = allProcesses().flatMap((pid) => {
    const [parent] = statOf(pid, [parentField])
    return parent === undefined ? [] : { pid, parent }
  })
  const tree = all.filter(({ pid }) => pid === root)
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid))
  return tree.map(({ pid }) => pid)
}

/** The sum over these processes. One that has ended is left out. */
export function usageOf(pids: readonly number[]): Usage {
  return {
    cpuSeconds: cpuSecondsOf(pids),
    residentBytes: pids.reduce((sum, pid) => sum + residentBytesOf(pid), 0),
  }
}

/** The time of these processes alone, which takes half as long to read. */
export function cpuSecondsOf(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => statOf(pid, timeFields))
  return ticks.reduce((sum, own) => sum + own, 0) / ticksPerSecond
}

/** That of every process that this one has not started. */
export function cpuSecondsOfOthers(): number {
  const own = new Set(treeOf(process.pid))
  return cpuSecondsOf(allProcesses().filter((pid) => !own.has(pid)))
}

/** Counted from the first field behind the name: utime, stime, cutime, cstime. */
const timeFields = [11, 12, 13, 14] as const
const parentField = 1

function statOf(pid: number, fields: readonly number[]): readonly number[] {
  const stat = readOf(pid, 'stat')
  if (stat === undefined) return []
  // The name stands in parentheses and may hold anything; what follows it are numbers.
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.map((at) => Number(values[at]))
}

function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readOf(pid, 'status') ?? '')?.[1] ?? 0) * 1024
}

function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel says about a process and everything that it has started. */
export interface Usage {
  /** User and system time of all threads, and of children that have ended. */
  readonly cpuSeconds: number
  /** The sum of what each process has resident; pages that several share count in each. */
  readonly residentBytes: number
}

/** What `getconf CLK_TCK` says on every Linux that Node runs on; the kernel's unit in /proc. */
const ticksPerSecond = 100

/** Reads /proc. A process that ends meanwhile is left out. */
export function usageOf(pid: number): Usage {
  let ticks = 0
  let residentBytes = 0
  for (const process of treeOf(pid)) {
    ticks += process.ticks
    residentBytes += process.residentBytes
  }
  return { cpuSeconds: ticks / ticksPerSecond, residentBytes }
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly ticks: number
  readonly residentBytes: number
}

function treeOf(root: number): readonly Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => read(Number(name)) ?? [])
  const tree = all.filter(({ pid }) => pid === root)
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid))
  return tree
}

function read(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name stands in parentheses and may hold anything; what follows it are numbers.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    )
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const residentBytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
    return { pid, parent, residentBytes, ticks: utime + stime + cutime + cstime }
  } catch {
    return undefined
  }
}

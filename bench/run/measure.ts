import { setTimeout as pause } from 'node:timers/promises'
import { type Load, runLoad } from './load.ts'
import { cpuSecondsOf, treeOf, usageOf } from './processes.ts'
import type { Upstream } from './upstream.ts'
import type { Workload } from './workloads.ts'

/** One peer under one workload, once. */
export interface Sample {
  /** User and system time of its processes for each answered request, in microseconds. */
  readonly cpuMicros: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** The most that its processes had resident meanwhile. */
  readonly residentMb: number
}

export interface Subject {
  readonly pid: number
  readonly port: number
  /** Whether it refuses what the workload says is to be refused. */
  readonly checks: boolean
  readonly directory: string
}

export interface MeasureOptions {
  readonly workload: Workload
  readonly upstream: Upstream
  readonly seconds: number
  /** How many requests have to be answered on each connection for a figure. */
  readonly fewest: number
}

/** Under load, and not counted: connections are made, and V8 gets back the memory it gave away. */
const leadSeconds = 1
/** Before the end of the load, so that its end is not in the figure. */
const endsEarlyMs = 100
const memoryEveryMs = 200
/** What was seen while it counted. */
interface Window {
  readonly load: Load
  readonly cpuSeconds: number
  readonly answered: number
  readonly seconds: number
  readonly residentBytes: number
}

/**
 * Loads it and counts the later part. `undefined` when too few requests were answered in that time.
 * Throws when requests failed, or when more or fewer reached the upstream than should have.
 */
export async function measure(
  subject: Subject,
  options: MeasureOptions,
): Promise<Sample | undefined> {
  const { workload, upstream } = options
  const passes = subject.checks ? workload.passes : 1
  const passedBefore = await upstream.requests()
  const window = await (passes === 0 ? wholeLoad : partOfLoad)(subject, options, passes)
  const passed = (await upstream.requests()) - passedBefore

  const { load, cpuSeconds, answered, seconds, residentBytes } = window
  if (load.failed > 0) throw new Error(`${load.failed} requests failed`)
  if (answered < workload.connections * options.fewest) return undefined
  // Requests under way at the end have reached the upstream and not been answered.
  if (Math.abs(passed - load.requests * passes) > workload.connections + load.requests * 0.01 + 2) {
    const refused = `${load.refused} were answered with an error`
    throw new Error(`${passed} of ${load.requests} requests reached the upstream, ${refused}`)
  }
  return {
    cpuMicros: (cpuSeconds * 1e6) / answered,
    perSecond: answered / seconds,
    p50: load.p50,
    p99: load.p99,
    residentMb: residentBytes / 1e6,
  }
}

/** What processes have used and passed on until a moment. */
export interface Reading {
  readonly passed: number
  readonly at: number
  readonly cpuSeconds: number
}

export async function readingOf(pids: readonly number[], upstream: Upstream): Promise<Reading> {
  const before = cpuSecondsOf(pids)
  const passed = await upstream.requests()
  // The answer may have waited for a core: what was used at that moment lies between.
  return { passed, at: performance.now(), cpuSeconds: (before + cpuSecondsOf(pids)) / 2 }
}

/** One load without a pause, of which the upstream counts the later part. */
async function partOfLoad(
  { pid, port, directory }: Subject,
  { workload, upstream, seconds }: MeasureOptions,
  passes: number,
): Promise<Window> {
  const pids = treeOf(pid)

  async function watched() {
    await pause(leadSeconds * 1000)
    const memory = watchMemory(pids)
    const from = await readingOf(pids, upstream)
    await pause(seconds * 1000 - endsEarlyMs)
    return { from, to: await readingOf(pids, upstream), residentBytes: memory.end() }
  }

  const all = { workload, port, directory, seconds: leadSeconds + seconds }
  const [load, { from, to, residentBytes }] = await Promise.all([runLoad(all), watched()])
  return {
    load,
    cpuSeconds: to.cpuSeconds - from.cpuSeconds,
    answered: (to.passed - from.passed) / passes,
    seconds: (to.at - from.at) / 1000,
    residentBytes,
  }
}

/** Where nothing reaches the upstream: two loads, the second as soon as the first is over. */
async function wholeLoad(
  { pid, port, directory }: Subject,
  { workload, seconds }: MeasureOptions,
): Promise<Window> {
  const pids = treeOf(pid)
  await runLoad({ workload, port, directory, seconds: leadSeconds })
  const before = cpuSecondsOf(pids)
  const memory = watchMemory(pids)
  const load = await runLoad({ workload, port, directory, seconds }).finally(memory.end)
  return {
    load,
    cpuSeconds: cpuSecondsOf(pids) - before,
    answered: load.requests,
    seconds: load.seconds,
    residentBytes: memory.end(),
  }
}

function watchMemory(pids: readonly number[]) {
  let most = 0
  const look = () => {
    most = Math.max(most, usageOf(pids).residentBytes)
  }
  const timer = setInterval(look, memoryEveryMs)
  return {
    end() {
      clearInterval(timer)
      look()
      return most
    },
  }
}

/** Waits until it has done with the last load: closed connections, queued requests, its log. */
export async function untilQuiet(pid: number): Promise<void> {
  const pids = treeOf(pid)
  for (let turn = 0; turn < 100; turn++) {
    const before = cpuSecondsOf(pids)
    await pause(100)
    if (cpuSecondsOf(pids) - before < 0.02) return
  }
}

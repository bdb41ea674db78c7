import { setTimeout as pause } from 'node:timers/promises'
import { runLoad } from './load.ts'
import { usageOf } from './processes.ts'
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
}

/** What comes before: so many requests, or so many seconds where they take longer. */
export interface WarmUp {
  readonly requests: number
  readonly mostSeconds: number
}

export interface MeasureOptions {
  readonly workload: Workload
  readonly upstream: Upstream
  readonly seconds: number
  readonly warmUp: WarmUp
  readonly directory: string
}

const memoryEveryMs = 200

/** Throws when requests failed, or when more or fewer reached the upstream than should have. */
export async function measure(subject: Subject, options: MeasureOptions): Promise<Sample> {
  const { workload, seconds, warmUp, directory } = options
  let warmed = 0
  for (let at = 0; at < warmUp.mostSeconds && warmed < warmUp.requests; at++) {
    warmed += (await runLoad({ workload, port: subject.port, seconds: 1, directory })).requests
  }
  await quiet(subject.pid)
  const sample = await observe(subject, options, seconds)
  if (sample !== undefined) return sample
  // Where everybody waits for everybody, the first answers may come all at once and late.
  await quiet(subject.pid)
  const second = await observe(subject, options, seconds * 4)
  if (second === undefined) throw new Error('no request was answered')
  return second
}

/** `undefined` when no request was answered in the time. */
async function observe(
  { pid, port, checks }: Subject,
  { workload, upstream, directory }: MeasureOptions,
  seconds: number,
): Promise<Sample | undefined> {
  const passedBefore = await upstream.requests()
  const before = usageOf(pid)
  let residentBytes = before.residentBytes
  const watch = setInterval(() => {
    residentBytes = Math.max(residentBytes, usageOf(pid).residentBytes)
  }, memoryEveryMs)
  const seen = await runLoad({ workload, port, seconds, directory }).finally(() =>
    clearInterval(watch),
  )
  const { cpuSeconds } = usageOf(pid)
  const passed = (await upstream.requests()) - passedBefore

  if (seen.requests === 0) return undefined
  if (seen.failed > 0) throw new Error(`${seen.failed} requests failed`)
  const off = Math.abs(passed - seen.requests * (checks ? workload.passes : 1))
  // Requests under way at the end have reached the upstream and not been answered.
  if (off > workload.connections + seen.requests * 0.01 + 2) {
    const refused = `${seen.refused} were answered with an error`
    throw new Error(`${passed} of ${seen.requests} requests reached the upstream, ${refused}`)
  }
  return {
    cpuMicros: ((cpuSeconds - before.cpuSeconds) * 1e6) / seen.requests,
    perSecond: seen.requests / seen.seconds,
    p50: seen.p50,
    p99: seen.p99,
    residentMb: residentBytes / 1e6,
  }
}

/** Waits until it has done with the last load: closed connections, queued requests, its log. */
async function quiet(pid: number): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    const { cpuSeconds } = usageOf(pid)
    await pause(100)
    if (usageOf(pid).cpuSeconds - cpuSeconds < 0.02) return
  }
}

import { findTool } from './tools.ts'
import type { Workload } from './workloads.ts'
import { runWrk } from './wrk.ts'

/** What the load generator saw. Times in milliseconds. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  /** Connections that broke, and requests that got no answer. */
  readonly failed: number
  /** Answers of status 400 and above. */
  readonly refused: number
}

export interface LoadOptions {
  readonly workload: Workload
  readonly port: number
  readonly seconds: number
  /** For what it has to write down. */
  readonly directory: string
}

/** Makes the load of a workload. */
export function runLoad(options: LoadOptions): Promise<Load> {
  const wrk = findTool('wrk')
  if (wrk === undefined) throw new Error('wrk is missing')
  return runWrk(wrk, options)
}

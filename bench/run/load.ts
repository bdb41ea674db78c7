import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atExit } from './at-exit.ts'
import { findTool } from './tools.ts'
import type { Workload } from './workloads.ts'
import { readWrk, wrkArguments } from './wrk.ts'

const run = promisify(execFile)

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

/** Makes the load of a workload, with wrk where there is one, else with autocannon. */
export async function runLoad(options: LoadOptions): Promise<Load> {
  const wrk = findTool('wrk')
  if (wrk !== undefined) {
    return readWrk(await output(wrk, await wrkArguments(options), options.seconds))
  }
  const order = join(options.directory, 'order.json')
  await writeFile(order, JSON.stringify(options))
  const args = [join(import.meta.dirname, 'autocannon.mjs'), order]
  return JSON.parse(await output(process.execPath, args, options.seconds))
}

async function output(program: string, args: readonly string[], seconds: number): Promise<string> {
  const running = run(program, args, { timeout: (seconds + 30) * 1000 })
  const forget = atExit(() => void running.child.kill('SIGKILL'))
  return (await running.finally(forget)).stdout
}

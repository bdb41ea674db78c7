import { execFile, spawn } from 'node:child_process'
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
  const { program, args, read } = await commandOf(options)
  return read(await output(program, args, options.seconds))
}

/** A load that goes on until it is ended, and rests in between where it is told to. */
export interface RunningLoad {
  readonly stop: () => void
  readonly goOn: () => void
  readonly end: () => void
}

export async function startLoad(options: LoadOptions): Promise<RunningLoad> {
  const { program, args } = await commandOf(options)
  const child = spawn(program, args, { stdio: 'ignore' })
  const kill = () => void child.kill('SIGKILL')
  const forget = atExit(kill)
  return {
    stop: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    end() {
      forget()
      kill()
    },
  }
}

interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly read: (stdout: string) => Load
}

async function commandOf(options: LoadOptions): Promise<Command> {
  const wrk = findTool('wrk')
  if (wrk !== undefined) return { program: wrk, args: await wrkArguments(options), read: readWrk }
  const order = join(options.directory, 'order.json')
  await writeFile(order, JSON.stringify(options))
  const args = [join(import.meta.dirname, 'autocannon.mjs'), order]
  return { program: process.execPath, args, read: JSON.parse }
}

async function output(program: string, args: readonly string[], seconds: number): Promise<string> {
  const running = run(program, args, { timeout: (seconds + 30) * 1000 })
  const forget = atExit(() => void running.child.kill('SIGKILL'))
  return (await running.finally(forget)).stdout
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atExit } from './at-exit.ts'

/** A server of this run: what to start, and where it will listen. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly port: number
  /** Where its output goes: its access log, if it writes one there. */
  readonly output: string
}

/** One that listens. */
export interface Server {
  readonly pid: number
  readonly port: number
  /** Whether it is gone without having been stopped. */
  hasEnded(): boolean
  /** Ends it and every process that it has started. */
  stop(): Promise<void>
}

const startsWithinMs = 30_000
const stopsWithinMs = 5000

/** Starts it and waits until it listens. Throws with the end of its output when it does not. */
export async function startServer(command: Command): Promise<Server> {
  const { program, args, env = {}, port, output } = command
  // In append mode, so that truncating the file meanwhile leaves no hole.
  const log = openSync(output, 'a')
  // What configures the tests would be refused as an unknown setting of the gateway.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    // A group of its own: nginx's workers would outlive a master that is killed.
    detached: true,
    env: { ...Object.fromEntries(own), NODE_ENV: 'production', ...env },
  })
  closeSync(log)
  let failure: Error | undefined
  child.on('error', (error) => {
    failure = error
  })
  const forget = atExit(() => killGroup(child.pid))

  async function stop(): Promise<void> {
    if (!hasEnded(child)) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs)
      await ended
      clearTimeout(late)
    }
    killGroup(child.pid)
    forget()
  }

  const deadline = Date.now() + startsWithinMs
  while (!(await listens(port))) {
    if (failure !== undefined || hasEnded(child) || Date.now() > deadline) {
      await stop()
      const said = readFileSync(output, 'utf8').slice(-1000)
      throw new Error(`${basename(program)} does not start: ${failure?.message ?? said}`)
    }
    await pause(25)
  }
  return { pid: child.pid ?? 0, port, hasEnded: () => hasEnded(child), stop }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody of it is left.
  }
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    // Rejects with the socket's error.
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

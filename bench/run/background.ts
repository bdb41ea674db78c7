import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

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
  stop(): Promise<void>
}

const startsWithinMs = 30_000
const stopsWithinMs = 5000

/** Starts it and waits until it listens. Throws with the end of its output when it does not. */
export async function startServer(command: Command): Promise<Server> {
  const { program, args, env = {}, port, output } = command
  const log = openSync(output, 'w')
  // What configures the tests would be refused as an unknown setting of the gateway.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    env: { ...Object.fromEntries(own), NODE_ENV: 'production', ...env },
  })
  closeSync(log)
  let failure: Error | undefined
  child.on('error', (error) => {
    failure = error
  })
  const leave = () => void child.kill('SIGKILL')
  process.once('exit', leave)

  async function stop(): Promise<void> {
    process.off('exit', leave)
    if (hasEnded(child)) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs)
    await ended
    clearTimeout(late)
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
  return { pid: child.pid ?? 0, port, stop }
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

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { stringify } from 'yaml'
import { withPlainRequests } from './plain-requests.ts'

export type LogLine = Readonly<Record<string, unknown>>

/** A gateway in a process of its own, as an operator runs it. */
export interface GatewayProcess {
  readonly pid: number
  readonly publicPort: number
  readonly opsPort: number
  /** Every line of its log so far. */
  readonly log: readonly LogLine[]
  /** Waits for a line from now on. */
  logged(isIt: (line: LogLine) => boolean): Promise<void>
  /** What it wrote to its standard error so far. */
  complaints(): string
  /** Its exit code, when it has ended. */
  readonly exit: Promise<number | null>
  /** Ends it in order, and returns its exit code. */
  stop(): Promise<number | null>
  /** As a crash does. */
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Forgets its log, and keeps no line of it from now on: load would make gigabytes of it. */
  dropLog(): void
  /** Stops reading what it says. */
  closePipes(): void
}

export interface ProcessOptions {
  /** A module that is loaded before the gateway, by its path or its name in this folder. */
  readonly preload?: string
  readonly env?: Readonly<Record<string, string>>
  /** Whether a signal can be sent to it and all that it starts. */
  readonly ownGroup?: boolean
  /** The most files and connections that the process may have open. */
  readonly openFiles?: number
}

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/**
 * Writes the configuration to `file`, runs `postern serve` on it and waits until it listens. Throws
 * with what it said when it ends instead.
 */
export async function startGatewayProcess(
  file: string,
  config: Readonly<Record<string, unknown>>,
  { preload, env = {}, ownGroup = false, openFiles }: ProcessOptions = {},
): Promise<GatewayProcess> {
  await writeFile(file, stringify(withPlainRequests(config)))
  const loaded = preload === undefined ? [] : ['--import', resolve(import.meta.dirname, preload)]
  const args = [...loaded, main, 'serve', '--config', file]
  const limited = ['-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, process.execPath]
  const [program, ...all] =
    openFiles === undefined ? [process.execPath, ...args] : ['/bin/sh', ...limited, ...args]
  const child = spawn(program, all, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group that can be signalled as a terminal does it.
    detached: ownGroup,
    // What configures the tests would be refused as an unknown setting of the gateway.
    env: Object.fromEntries(
      Object.entries({ ...process.env, ...env }).filter(([name]) => !/^POSTERN_/.test(name)),
    ),
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const log: LogLine[] = []
  const listeners = new Set<(line: LogLine) => void>()
  const complaints: string[] = []
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)))

  const lines = createInterface({ input: child.stdout })
  const ports = await new Promise<{ port: number; opsPort: number }>((resolve, reject) => {
    lines.on('line', (text) => {
      if (!text.startsWith('{')) return
      const line = JSON.parse(text)
      log.push(line)
      for (const listener of listeners) listener(line)
      if (line.msg === 'listening') resolve(line)
    })
    ended.then(([code]) => {
      reject(new Error(`the gateway ended with ${code}: ${complaints.join('')}`))
    }, reject)
  })

  return {
    pid: child.pid ?? 0,
    publicPort: ports.port,
    opsPort: ports.opsPort,
    log,
    logged: (isIt) =>
      new Promise((resolve) => {
        const listener = (line: LogLine) => {
          if (!isIt(line)) return
          listeners.delete(listener)
          resolve()
        }
        listeners.add(listener)
      }),
    complaints: () => complaints.join(''),
    exit: ended.then(() => child.exitCode),
    async stop() {
      child.kill('SIGTERM')
      await ended
      process.off('exit', kill)
      return child.exitCode
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
      process.off('exit', kill)
    },
    signal: (name) => void child.kill(name),
    dropLog() {
      lines.close()
      log.length = 0
      child.stdout.resume()
    },
    closePipes() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
}

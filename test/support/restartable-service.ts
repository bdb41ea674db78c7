import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { freePort } from './redis-server.ts'

/** How a service treats idle connections: closes each after a time, or all of them at once, time and again. */
export interface IdleConnections {
  readonly timeoutMs?: number
  readonly sweepMs?: number
}

/** A service in a process of its own, which can be ended and started again on its port. */
export interface RestartableService {
  readonly origin: string
  readonly port: number
  /** Ends it as a rollout does: what is under way is answered, idle connections are closed. */
  stop(): Promise<void>
  start(): Promise<void>
  /** How many POSTs were on their way when it closed their connection. No proxy can know of them. */
  crossed(): Promise<number>
}

const program = join(import.meta.dirname, 'restartable-service-process.ts')

/** Started, and ended with the test. */
export async function startRestartableService({
  timeoutMs = 0,
  sweepMs = 0,
}: IdleConnections = {}): Promise<RestartableService> {
  const port = await freePort()
  let end = async () => {}
  let crossedBefore = 0

  async function start(): Promise<void> {
    const child = spawn(process.execPath, [program, ...[port, timeoutMs, sweepMs].map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    const kill = () => void child.kill('SIGKILL')
    process.once('exit', kill)
    end = async () => {
      child.kill('SIGTERM')
      await Promise.all([ended, once(lines, 'close')])
      process.off('exit', kill)
    }
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      const [, count] = /^crossed (\d+)$/.exec(line) ?? []
      crossedBefore += Number(count ?? 0)
    })
    await Promise.race([
      once(lines, 'line'),
      ended.then(([code]) => {
        throw new Error(`the service ended with ${code}`)
      }),
    ])
  }

  await start()
  onTestFinished(() => end())
  const origin = `http://127.0.0.1:${port}`
  const crossed = async () =>
    crossedBefore + Number(await (await fetch(`${origin}/crossed`)).text())
  return { origin, port, start, stop: () => end(), crossed }
}

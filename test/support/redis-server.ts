import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { findRedis } from './services/find-redis.ts'

/** A Redis of the test's own: on a free port, nothing on disk, gone when stopped. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Does what somebody with redis-cli could do. */
  readonly client: Redis
  /** Hangs it: connections stay open and nothing is answered. */
  pause(): void
  resume(): void
  /** As a crash does. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
  stop(): Promise<void>
}

const program = findRedis()

export interface RedisServerOptions {
  /** Further options of redis-server. */
  readonly args?: readonly string[]
  /** Makes it a sentinel that watches the server on this port under the name `postern`. */
  readonly sentinelOf?: number
  /** Makes it a sentinel with this configuration, which it rewrites itself from then on. */
  readonly sentinel?: readonly string[]
}

/** Starts one and waits until it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  try {
    return await startAnywhere(options)
  } catch (error) {
    // A cluster also needs the port 10,000 above, which another program may have.
    if (!String(error).includes('Address already in use')) throw error
    return startAnywhere(options)
  }
}

async function startAnywhere(options: RedisServerOptions): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-redis-'))
  const port = await freePort()
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, protocol: 2 })
  client.on('error', () => {})
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    server = spawn(program, await argumentsFor(port, directory, options))
    const output: string[] = []
    server.stdout?.on('data', (chunk) => output.push(String(chunk)))
    await answering(port, server, () => output.join(''))
  }

  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }

  const leave = () => void server?.kill('SIGKILL')
  process.once('exit', leave)
  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    kill,
    start,
    async stop() {
      client.disconnect()
      process.off('exit', leave)
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function argumentsFor(
  port: number,
  directory: string,
  { args = [], sentinelOf, sentinel }: RedisServerOptions,
): Promise<string[]> {
  const plain = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory]
  const watched = sentinelOf && [`sentinel monitor postern 127.0.0.1 ${sentinelOf} 1`]
  const lines = sentinel ?? watched
  if (!lines) return [...plain, '--save', '', '--appendonly', 'no', ...args]
  const file = join(directory, 'sentinel.conf')
  if (!existsSync(file)) await writeFile(file, lines.map((line) => `${line}\n`).join(''))
  return [file, '--sentinel', ...plain, ...args]
}

/**
 * Below those that Linux gives to outgoing connections: one of these could take the port before its
 * server listens, or while it is restarted.
 */
const lowestPort = 10_000
const highestPort = 32_000

/** A port without a listener. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowestPort, highestPort)
    const server = createServer()
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.listen(port, '127.0.0.1')
    if (!(await listening)) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

async function answering(port: number, server: ChildProcess, output: () => string) {
  for (let turn = 0; turn < 200 && server.exitCode === null; turn++) {
    const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: null })
    client.on('error', () => {})
    const answered = await client.ping().then(
      () => true,
      () => false,
    )
    client.disconnect()
    if (answered) return
    await pause(25)
  }
  throw new Error(`redis-server does not start:\n${output()}`)
}

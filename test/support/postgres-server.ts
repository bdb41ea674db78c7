import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from './redis-server.ts'
import { findPostgres } from './services/find-postgres.ts'

const run = promisify(execFile)
const nobody = 65_534
const programs = findPostgres()

/** A PostgreSQL server of the test's own, on a port that it keeps over a restart. */
export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** Its statements, as somebody with psql would make them. */
  query<Row extends Record<string, unknown>>(text: string): Promise<Row[]>
  /** Hangs it and every process of it: connections stay open and nothing is answered. */
  pause(): Promise<void>
  resume(): void
  /** All of its processes at once, as a crash of the machine does. */
  kill(): Promise<void>
  /** Starts it again with what it had on disk. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Makes it a standby of this server, with its content, instead of an empty one. */
  readonly standbyOf?: PostgresServer
}

/** Makes a new server and waits until it answers. Throws the reason when it cannot. */
export async function startPostgres({ standbyOf }: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-pg-'))
  // PostgreSQL refuses to run as root.
  const asRoot = userInfo().uid === 0
  const user = asRoot ? { uid: nobody, gid: nobody } : {}
  if (asRoot) await chown(directory, nobody, nobody)
  const data = join(directory, 'data')
  const [program, how] =
    standbyOf === undefined
      ? ['initdb', ['-A', 'trust', '-U', 'postern', '-E', 'UTF8', '--locale=C', '--no-sync']]
      : ['pg_basebackup', ['-R', '-c', 'fast', '-X', 'stream', '--no-sync', '-d', standbyOf.url]]
  await run(join(programs, program), ['-D', data, ...how], { ...user, cwd: directory })

  const port = await freePort()
  const url = `postgres://postern@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined
  let paused: readonly number[] = []

  async function start(): Promise<void> {
    const options = ['-k', directory, '-p', port, '-h', '127.0.0.1', '-c', 'fsync=off'].map(String)
    const deadline = Date.now() + 20_000
    // After a crash the old processes hold its memory for a moment; it refuses to start until then.
    for (let said = ''; Date.now() < deadline; await pause(50)) {
      server = spawn(join(programs, 'postgres'), ['-D', data, ...options], {
        ...user,
        cwd: directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      server.stderr?.on('data', (chunk) => {
        said = `${said}${chunk}`.slice(-2000)
      })
      if (await answers(url, server)) return
      if (!said.includes('still in use')) throw new Error(`PostgreSQL does not start:\n${said}`)
    }
    throw new Error('PostgreSQL does not start in time')
  }

  async function end(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    resume()
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    // Its processes outlive it for a moment, and go on to answer on connections that are open.
    const others = signal === 'SIGKILL' ? await processes().catch(() => []) : []
    for (const pid of others) signalled(pid, 'SIGKILL')
    server.kill(signal)
    await ended
  }

  /** All but the first one. */
  async function processes(): Promise<readonly number[]> {
    const rows = await query<{ pid: number }>(url, 'select pid from pg_stat_activity')
    return rows.map(({ pid }) => pid)
  }

  function resume(): void {
    for (const pid of paused) signalled(pid, 'SIGCONT')
    paused = []
  }

  const leave = () => void server?.kill('SIGQUIT')
  process.once('exit', leave)
  await start()
  return {
    url,
    port,
    query: (text) => query(url, text),
    async pause() {
      // The first process last: it answers for the others.
      paused = [...(await processes()), server?.pid ?? 0].filter((pid) => signalled(pid, 'SIGSTOP'))
    },
    resume,
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      process.off('exit', leave)
      await end('SIGQUIT')
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    },
  }
}

async function query<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

async function answers(url: string, server: ChildProcess): Promise<boolean> {
  for (let turn = 0; turn < 400 && server.exitCode === null; turn++) {
    const answered = await query(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (answered) return true
    await pause(25)
  }
  return false
}

/** Whether there was such a process. */
function signalled(pid: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): boolean {
  try {
    return pid > 0 && process.kill(pid, signal)
  } catch {
    return false
  }
}

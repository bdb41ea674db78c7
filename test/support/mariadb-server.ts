import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from './redis-server.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const nobody = 65_534

/** A MariaDB server of the test's own on 127.0.0.1, with a user who may do everything. */
export interface MariadbServer {
  readonly port: number
  urlOf(database: string, user?: string): string
  query<Row>(text: string, database?: string): Promise<Row[]>
  /** Connections stay open and nothing is answered. */
  pause(): Promise<void>
  resume(): void
  /** As a crash of the machine does. */
  kill(): Promise<void>
  /** Starts it again with what it had on disk, on the same port. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** A MySQL server to use instead, to run the same tests on it. */
const mysqld = process.env['POSTERN_TEST_MYSQLD']

/** Where its programs are, or `undefined` if it is not installed. */
export function findMariadb(): string | undefined {
  if (mysqld !== undefined) return mysqld
  return ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd'].find((path) => existsSync(path))
}

/** Makes a new server and waits until it answers. */
export async function startMariadb(options: readonly string[] = []): Promise<MariadbServer> {
  const program = findMariadb() ?? 'mariadbd'
  const directory = await mkdtemp(join(tmpdir(), 'postern-my-'))
  const asRoot = userInfo().uid === 0
  const user = asRoot ? { uid: nobody, gid: nobody } : {}
  if (asRoot) await chown(directory, nobody, nobody)
  const data = join(directory, 'data')
  const own = ['--no-defaults', `--datadir=${data}`]
  if (mysqld === undefined) {
    const install = [...own, '--auth-root-authentication-method=normal', '--skip-test-db']
    await run('mariadb-install-db', install, { ...user, cwd: directory })
  } else await run(mysqld, [...own, '--initialize-insecure'], { ...user, cwd: directory })

  const port = await freePort()
  const address = ['--bind-address=127.0.0.1', `--port=${port}`, `--socket=${directory}/sock`]
  // What is committed survives the end of the process, not that of the machine.
  const cheap = [
    ...['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=32M'],
    ...['--innodb-flush-method=nosync', '--skip-log-bin', '--max-connections=1000'],
  ]
  // A bare server, as many are: another character set, and values that are cut silently.
  const bare = ['--character-set-server=latin1', '--sql-mode=', '--default-time-zone=+03:00']
  // MySQL finds root@localhost by the name, and lets only its administrators create triggers.
  const its =
    mysqld === undefined ? ['--skip-name-resolve'] : ['--log-bin-trust-function-creators=1']
  const all = [...own, ...address, ...cheap, ...bare, ...its, ...options]
  let server: ChildProcess | undefined
  const leave = () => void server?.kill('SIGKILL')
  process.once('exit', leave)

  async function start(): Promise<void> {
    server = spawn(program, all, { ...user, cwd: directory, stdio: 'ignore' })
    await until(() => query('select 1').then(Boolean, () => false))
  }

  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGCONT')
    server.kill('SIGKILL')
    await ended
  }

  async function query<Row>(text: string, database?: string): Promise<Row[]> {
    const link = await createConnection({
      // Not by TCP, where a test may insist on TLS.
      socketPath: `${directory}/sock`,
      user: 'root',
      ...(database !== undefined && { database }),
    })
    try {
      const [rows] = await link.query(text)
      return Array.isArray(rows) ? (rows as Row[]) : []
    } finally {
      link.destroy()
    }
  }

  await start()
  return {
    port,
    urlOf: (database, name = 'root') => `mysql://${name}@127.0.0.1:${port}/${database}`,
    query,
    async pause() {
      server?.kill('SIGSTOP')
      // On busy cores a thread may go on for a moment.
      const tasks = `/proc/${server?.pid}/task`
      await until(async () => {
        const states = await Promise.all(
          (await readdir(tasks)).map((id) => readFile(`${tasks}/${id}/stat`, 'utf8')),
        )
        return states.every((text) => text.includes(') T '))
      })
    },
    resume: () => void server?.kill('SIGCONT'),
    kill,
    start,
    async stop() {
      process.off('exit', leave)
      await kill()
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    },
  }
}

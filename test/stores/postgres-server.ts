import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'

const run = promisify(execFile)
const nobody = 65_534

/** A PostgreSQL server of the test's own, reached over a socket in a directory of its own. */
export interface PostgresServer {
  readonly url: string
  /** Its first process, for tests that stop it. */
  readonly process: ChildProcess
  stop(): Promise<void>
}

/**
 * Where the programs of PostgreSQL are, if they are on the path and a server can be started here.
 * Else one line says why it is left out.
 */
export async function usablePostgres(): Promise<string | undefined> {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const found = directories.find(
    (directory) => isProgram(join(directory, 'postgres')) && isProgram(join(directory, 'initdb')),
  )
  if (found === undefined) {
    console.warn('left out: PostgreSQL, since no postgres and initdb are on the path')
    return undefined
  }
  try {
    const programs = dirname(await realpath(join(found, 'initdb')))
    await (await startPostgres(programs)).stop()
    return programs
  } catch (error) {
    console.warn(`left out: PostgreSQL, which cannot be started here: ${String(error)}`)
    return undefined
  }
}

/** Makes a new, empty server and waits until it answers. Throws the reason when it cannot. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-pg-'))
  // PostgreSQL refuses to run as root.
  const asRoot = userInfo().uid === 0
  const user = asRoot ? { uid: nobody, gid: nobody } : {}
  if (asRoot) await chown(directory, nobody, nobody)
  const data = join(directory, 'data')

  await run(
    join(programs, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postern', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...user, cwd: directory },
  )
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-k', directory, '-c', 'listen_addresses=', '-c', 'fsync=off'],
    { ...user, cwd: directory, stdio: 'ignore' },
  )
  const url = `postgres://postern@/postgres?host=${encodeURIComponent(directory)}`
  await answering(url, server)

  return {
    url,
    process: server,
    async stop() {
      const exited = server.exitCode === null ? once(server, 'exit') : undefined
      server.kill('SIGQUIT')
      await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  for (let turn = 0; turn < 200 && server.exitCode === null; turn++) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
    const connected = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    if (connected) return
    await pause(50)
  }
  throw new Error('the server did not start to answer')
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

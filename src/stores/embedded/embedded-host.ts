import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { PGlite } from '@electric-sql/pglite'
import { Fault } from '../../kernel/errors.ts'
import type { DirectoryLock } from '../files/directory-lock.ts'
import { answerConnection } from './embedded-connection.ts'
import type { EmbeddedSession } from './embedded-session.ts'

/** A first start takes a few seconds on a slow machine; this limit is for one that hangs. */
const startTimeoutMs = 60_000

/**
 * Opens the embedded database in this process, which holds the lock, and answers other processes of
 * the same user on the socket. Closing it answers the requests that have arrived, then releases the
 * lock.
 */
export async function hostEmbedded(
  paths: { readonly dataDirectory: string; readonly socketPath: string },
  lock: DirectoryLock,
): Promise<EmbeddedSession> {
  const starting = startPGlite(resolve(paths.dataDirectory))
  // A start that hangs keeps the lock: it may still be writing.
  starting.catch(() => lock.release())
  const database = await inTime(starting, paths.dataDirectory)

  const server = await answerOn(paths.socketPath, database).catch(async (error) => {
    await database.close()
    lock.release()
    throw error
  })
  return {
    query: (sql, params) => database.query(sql, params),
    transaction: (work) =>
      database.transaction(({ query, rollback }) =>
        work({ query: (sql, params) => query(sql, params), rollback }),
      ),
    lost: () => false,
    async close() {
      await server.close()
      await database.close()
      lock.release()
    },
  }
}

async function startPGlite(directory: string): Promise<PGlite> {
  // PGlite creates its files readable by every user; only this directory keeps them private.
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await chmod(directory, 0o700)
  compileOnce()
  const { PGlite, types } = await import('@electric-sql/pglite')
  // By default they become numbers, or bigints beyond 2^53; from pg they come as text.
  return PGlite.create(directory, { parsers: { [types.INT8]: (text) => text } })
}

/**
 * V8 compiles WebAssembly quickly, and what runs often a second time. Of PostgreSQL that is above all the
 * SQL parser, one function of 100 KB: 0.4 s of CPU and 600 MB of memory, for queries that are not
 * faster. V8 would also drop the code, which is small, whenever it is told to save memory. And it would
 * validate all functions before the first one runs; now each is validated when it is first called,
 * which few are. A V8 without one of these flags prints that and goes on
 * (docs/decisions/0041-startup-cpu.md).
 */
function compileOnce(): void {
  for (const flag of [
    '--no-wasm-tier-up',
    '--no-wasm-dynamic-tiering',
    '--no-flush-liftoff-code',
    '--wasm-lazy-validation',
  ]) {
    setFlagsFromString(flag)
  }
}

async function inTime(starting: Promise<PGlite>, directory: string): Promise<PGlite> {
  const name = `the embedded database in ${directory}`
  try {
    const started = await Promise.race([starting, pause(startTimeoutMs, undefined, { ref: false })])
    if (started !== undefined) return started
  } catch (cause) {
    throw new Fault('database', { cause, reason: `${name} cannot be opened` })
  }
  throw new Fault('database', { reason: `${name} did not start within a minute` })
}

async function answerOn(socketPath: string, database: PGlite) {
  const closers = new Map<Socket, () => Promise<void>>()
  const server = createServer((socket) => {
    closers.set(socket, answerConnection(socket, database))
    socket.on('close', () => closers.delete(socket))
  })
  await listenPrivately(server, socketPath)
  // A waiting client keeps its own process alive, not this one.
  server.unref()

  return {
    async close() {
      await rm(socketPath, { force: true })
      const closed = new Promise((done) => server.close(done))
      await Promise.all([...closers.values()].map((end) => end()))
      await closed
    },
  }
}

/**
 * The socket appears under its name once only its owner can use it, with any umask, and replaces one
 * that a dead process left.
 */
async function listenPrivately(server: Server, socketPath: string): Promise<void> {
  const directory = await mkdtemp(join(dirname(socketPath), '.s-'))
  const temporary = join(directory, 's')
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(temporary, listening)
    })
    await chmod(temporary, 0o600)
    await rename(temporary, socketPath)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

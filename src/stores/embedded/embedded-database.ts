import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { PGlite } from 'kysely'
import { Fault, Invalid } from '../../kernel/errors.ts'
import type { BackendOptions } from '../database/backend.ts'
import { takeLock } from '../files/directory-lock.ts'
import { ownerProblem } from '../files/directory-owner.ts'
import { connectEmbedded } from './embedded-client.ts'
import { hostEmbedded } from './embedded-host.ts'
import type { EmbeddedSession } from './embedded-session.ts'

const maxSocketPath = 103
const attempts = 1200
const pauseMs = 50

type EmbeddedOptions = Pick<
  BackendOptions,
  'directory' | 'statementTimeoutMs' | 'mayCreate' | 'mayHost' | 'onCreate'
>

/** What can be known of an embedded database without opening it. */
export async function embeddedState(directory: string): Promise<'absent' | 'closed' | 'open'> {
  const { socketPath, dataDirectory } = pathsIn(directory)
  const client = await connectEmbedded(socketPath, stateTimeoutMs)
  await client?.close()
  if (client !== undefined) return 'open'
  return existsSync(dataDirectory) ? 'closed' : 'absent'
}

const stateTimeoutMs = 1000

/**
 * The embedded database under `directory`, as kysely's PGlite dialect wants it, for any number of
 * processes of one user:
 *
 *   host      this process holds the lock, has the database open and answers the others
 *   client    another process is the host, and this one asks it over its socket
 *   lost      the host has gone; the next query makes this process host, or client of a new one
 *
 * Refuses a directory whose socket would have a longer name than the system allows, and to be host
 * of a database that belongs to another user.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<PGlite> {
  const paths = pathsIn(options.directory)
  let session = await attach()
  let attaching: Promise<EmbeddedSession> | undefined
  let closed = false

  async function attach(): Promise<EmbeddedSession> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const client = await connectEmbedded(paths.socketPath, options.statementTimeoutMs)
      if (client !== undefined) return client
      if (options.mayHost === false) {
        throw new Fault('database', { reason: 'no process has the embedded database open' })
      }
      await prepareDirectory(options)
      const lock = await takeLock(paths.lockFile)
      if (lock !== undefined) {
        if (!existsSync(paths.dataDirectory)) options.onCreate?.()
        return hostEmbedded(paths, lock)
      }
      // The process that holds the lock does not listen: it is starting, or closing.
      await pause(pauseMs)
    }
    throw new Fault('database', {
      reason: `the embedded database in ${options.directory} is locked by a process that does not answer`,
    })
  }

  async function current(): Promise<EmbeddedSession> {
    if (closed) throw new Fault('database', { reason: 'the embedded database is closed' })
    if (!session.lost()) return session
    attaching ??= attach().finally(() => {
      attaching = undefined
    })
    session = await attaching
    return session
  }

  return {
    ready: true,
    waitReady: Promise.resolve(),
    get closed() {
      return closed
    },
    query: async (sql, params) => (await current()).query(sql, params),
    async transaction(work) {
      let begun = false
      try {
        return await (await current()).transaction((inside) => {
          begun = true
          return work(inside)
        })
      } catch (error) {
        if (begun) throw error
        // kysely waits forever for a transaction that does not begin: let its first query fail.
        return work({ query: () => Promise.reject(error), rollback: async () => {} })
      }
    },
    async close() {
      closed = true
      await attaching?.catch(() => {})
      await session.close()
    },
  }
}

async function prepareDirectory({ directory, mayCreate = false }: EmbeddedOptions): Promise<void> {
  const reason = await ownerProblem(directory, { mayCreate })
  if (reason !== undefined) throw new Fault('database', { reason })
  await mkdir(directory, { recursive: true, mode: 0o700 })
}

function pathsIn(directory: string) {
  const absolute = join(resolve(directory), 'database.sock')
  const near = relative('', absolute)
  const socketPath = near.length < absolute.length ? near : absolute
  if (Buffer.byteLength(socketPath) > maxSocketPath) {
    const message = `path too long for a Unix socket: ${socketPath} exceeds ${maxSocketPath} bytes; use a shorter path, or set database.url`
    throw new Invalid([{ file: directory, message }])
  }
  return {
    socketPath,
    dataDirectory: join(directory, 'database'),
    lockFile: join(directory, 'database.lock'),
  }
}

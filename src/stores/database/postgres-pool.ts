import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { Client, ClientBase, ClientConfig, PoolClient } from 'pg'
import {
  type DatabaseHosts,
  readDatabaseUrl,
  type SessionAttributes,
} from '../../kernel/database-url.ts'
import { type Fault, Invalid } from '../../kernel/errors.ts'
import { databaseFault, isConnectionError } from './database.ts'

export interface PoolOptions {
  /** With one host or several. */
  readonly url: string
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** Called when an idle connection breaks. */
  readonly onBroken: (fault: Fault | Invalid) => void
}

/** How much later than the server we give up on a statement ourselves. */
const graceMs = 250

/**
 * Connections to PostgreSQL, as kysely wants them, with a time limit on everything. A connection
 * that timed out or broke is closed instead of being lent again: the next borrower would wait behind
 * a statement that never ends. Of several hosts, the one that served last is tried first.
 */
export async function createPool(options: PoolOptions): Promise<PostgresPool> {
  const { Client, Pool } = await import('pg')
  const read = readDatabaseUrl(options.url)
  if (typeof read === 'string') throw new Invalid([{ file: 'database.url', message: read }])
  const hosts = createPostgresHosts(read)
  const HostClient = clientFor(Client, hosts)
  /** Since when connections are trusted: a server that turned read-only did so for all of them. */
  let trustedSince = 0
  const openedAt = new WeakMap<object, number>()

  const pool = new Pool({
    Client: HostClient,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + graceMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    keepAlive: true,
    application_name: 'postern',
    onConnect: (client) => checkSession(client, read.session),
  })
  // Without a listener, a server that restarts would end this process.
  pool.on('error', (error) => options.onBroken(databaseFault(error)))
  pool.on('connect', (client) => {
    openedAt.set(client, performance.now())
    // A connection that is lent may break between two statements too; the next statement fails.
    client.on('error', () => {})
  })

  /** A connection that may be used; tries every host once. */
  async function connect(): Promise<PostgresPoolClient> {
    for (let left = hosts.count; ; ) {
      const { at } = hosts.current()
      let client: PoolClient
      try {
        client = await pool.connect()
      } catch (error) {
        if (shouldTryNextHost(error)) hosts.leave(at)
        if (--left === 0 || !shouldTryNextHost(error)) throw error
        continue
      }
      if ((openedAt.get(client) ?? 0) >= trustedSince) return guarded(client, onReadOnly)
      client.release(true)
    }
  }

  function onReadOnly(client: object): void {
    if (hosts.count === 1) return
    trustedSince = performance.now()
    if (client instanceof HostClient) hosts.leave(client.hostAt)
  }

  return { options: {}, connect, end: () => pool.end() }
}

function guarded(client: PoolClient, onReadOnly: (client: object) => void): PostgresPoolClient {
  let broken = false

  async function query<Row>(sql: string, parameters: readonly unknown[]) {
    try {
      const result = await client.query(sql, [...parameters])
      return result as unknown as PostgresQueryResult<Row>
    } catch (error) {
      broken ||= isConnectionError(error) || isReadOnly(error)
      if (isReadOnly(error)) onReadOnly(client)
      throw error
    }
  }

  return {
    // Cursors, the other form of query, are not offered: nothing streams rows.
    query: query as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || broken),
  }
}

/** The servers of one database, and the one that connections go to now. */
interface PostgresHosts {
  readonly count: number
  /** The URL to connect to now, and which of them it is. */
  current(): { readonly url: string; readonly at: number }
  /** This one failed: others are tried first from now on, unless that is so already. */
  leave(at: number): void
}

function createPostgresHosts({ urls, random }: DatabaseHosts): PostgresHosts {
  let chosen = random ? Math.floor(Math.random() * urls.length) : 0
  return {
    count: urls.length,
    current: () => ({ url: urls[chosen] ?? '', at: chosen }),
    leave(at) {
      if (at === chosen) chosen = (chosen + 1) % urls.length
    },
  }
}

/** A server that answers and is not what `target_session_attrs` asks for. */
class WrongServer extends Error {
  readonly code = 'WRONG_SERVER'
}

/** Throws `WrongServer` when a new connection leads to a server that must not be used. */
async function checkSession(client: ClientBase, session: SessionAttributes): Promise<void> {
  if (session === 'any') return
  const { rows } = await client.query<{ standby: boolean; readOnly: string }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as "readOnly"`,
  )
  const [found] = rows
  if (session === 'primary' ? found?.standby === false : found?.readOnly === 'off') return
  throw new WrongServer(`the server is not ${session}`)
}

/** Whether another server may do better: libpq does not go on after a refused password either. */
function shouldTryNextHost(error: unknown): boolean {
  // The pool was busy for too long: that says nothing about a server.
  if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
    return false
  }
  return isConnectionError(error)
}

/** The SQLSTATE of a server that has become read-only. */
function isReadOnly(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '25006'
}

/** A client class for the driver's pool that connects to the current host. */
function clientFor(Base: typeof Client, hosts: PostgresHosts) {
  return class HostClient extends Base {
    readonly hostAt: number

    constructor(config?: string | ClientConfig) {
      const { url, at } = hosts.current()
      super({ ...(typeof config === 'object' && config), connectionString: url })
      this.hostAt = at
    }
  }
}

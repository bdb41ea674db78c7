import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import { readDatabaseUrl } from '../../kernel/database-url.ts'
import { type Fault, Invalid } from '../../kernel/errors.ts'
import { databaseFault, isConnectionError } from './database-fault.ts'
import {
  checkSession,
  clientFor,
  createPostgresHosts,
  isReadOnly,
  shouldTryNextHost,
} from './postgres-hosts.ts'

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

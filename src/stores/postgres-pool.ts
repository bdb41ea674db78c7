import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import type { Fault, Invalid } from '../errors.ts'
import { databaseFault, isConnectionError } from './database-fault.ts'

export interface PoolOptions {
  readonly url: string
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** Told when a connection breaks while nobody uses it. */
  readonly onBroken: (fault: Fault | Invalid) => void
}

/** How much later than the server we give up on a statement ourselves. */
const graceMs = 250

/**
 * Connections to a PostgreSQL server, as kysely wants them, with a time limit on everything. A
 * connection that timed out or broke is closed instead of being lent again: the next borrower
 * would wait behind a statement that never ends.
 */
export async function createPool(options: PoolOptions): Promise<PostgresPool> {
  const { Pool } = await import('pg')
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + graceMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    keepAlive: true,
    application_name: 'postern',
  })
  // Without a listener, a server that restarts would end this process.
  pool.on('error', (error) => options.onBroken(databaseFault(error)))
  // The same for one that is lent and breaks between two statements; its next one fails.
  pool.on('connect', (client) => void client.on('error', () => {}))

  return {
    options: {},
    connect: async () => guarded(await pool.connect()),
    end: () => pool.end(),
  }
}

function guarded(client: PoolClient): PostgresPoolClient {
  let broken = false

  async function query<Row>(sql: string, parameters: readonly unknown[]) {
    try {
      const result = await client.query(sql, [...parameters])
      return result as unknown as PostgresQueryResult<Row>
    } catch (error) {
      broken ||= isConnectionError(error)
      throw error
    }
  }

  return {
    // Cursors, the other form of query, are not offered: nothing streams rows.
    query: query as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || broken),
  }
}

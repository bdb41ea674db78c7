import { readFile } from 'node:fs/promises'
import type { MysqlPool, MysqlPoolConnection } from 'kysely'
import type { Pool, PoolConnection } from 'mysql2'
import { Invalid } from '../../kernel/errors.ts'
import { type MysqlTls, readMysqlUrl } from '../../kernel/mysql-url.ts'
import { databaseFault, isConnectionError } from './database.ts'
import { withSqlState } from './mysql-error.ts'
import { sessionSettings } from './mysql-session.ts'
import type { PoolOptions } from './postgres-pool.ts'

/** How much later than the server we give up on a statement ourselves. */
const graceMs = 250

/**
 * Connections to MySQL or MariaDB, as kysely wants them, with a time limit on everything: the driver
 * itself waits forever for a connection of a busy pool, and lends one again that timed out.
 */
export async function createMysqlPool(options: PoolOptions): Promise<MysqlPool> {
  const { connectTimeoutMs, statementTimeoutMs } = options
  const read = readMysqlUrl(options.url)
  if (typeof read === 'string') throw new Invalid([{ file: 'database.url', message: read }])
  const mysql = await import('mysql2')
  const { tls, ...address } = read
  const pool = mysql.createPool({
    ...address,
    ...(tls && { ssl: await tlsOptions(tls) }),
    connectTimeout: connectTimeoutMs,
    connectionLimit: options.poolSize,
    // Integers of eight bytes as text: a number holds only 53 bits.
    supportBigNumbers: true,
    bigNumberStrings: true,
    timezone: 'Z',
    charset: 'utf8mb4',
    enableKeepAlive: true,
    typeCast: toValue,
  })
  const prepared = new WeakSet<object>()

  /** A connection with our settings; one that fails to take them is closed. */
  function prepare(connection: PoolConnection, done: (error: unknown) => void): void {
    if (prepared.has(connection)) {
      done(null)
      return
    }
    // Without a listener, a server that restarts would end this process.
    connection.on('error', (error) => options.onBroken(databaseFault(withSqlState(error))))
    const sql = sessionSettings(statementTimeoutMs)
    connection.query({ sql, timeout: connectTimeoutMs }, (error) => {
      if (error === null) prepared.add(connection)
      else connection.destroy()
      done(error === null ? null : (oldServer(error.errno) ?? error))
    })
  }

  return {
    getConnection(callback) {
      lend(pool, connectTimeoutMs, (error, connection) => {
        if (connection === undefined) return fail(callback, error)
        prepare(connection, (problem) => {
          if (problem === null) callback(null, guarded(connection, statementTimeoutMs + graceMs))
          else fail(callback, problem)
        })
      })
    },
    end: (callback) => pool.end(callback),
  }
}

/** Our settings are always the same: a server that does not understand them is too old. */
function oldServer(errno: number | undefined): Error | undefined {
  const unknown = [1064, 1193, 1273]
  if (errno === undefined || !unknown.includes(errno)) return undefined
  return new Error('this server is older than MySQL 8.0.17 or MariaDB 10.11: upgrade it')
}

function fail(callback: Parameters<MysqlPool['getConnection']>[0], error: unknown): void {
  const none: unknown = undefined
  callback(withSqlState(error), none as MysqlPoolConnection)
}

/** Gives up after `timeoutMs`, and returns a connection that comes later to the pool. */
function lend(
  pool: Pool,
  timeoutMs: number,
  done: (error: unknown, connection?: PoolConnection) => void,
): void {
  let waiting = true
  const timer = setTimeout(() => {
    waiting = false
    done(new Error('timeout exceeded when trying to connect'))
  }, timeoutMs)
  pool.getConnection((error, connection) => {
    if (!waiting) return error === null ? connection.release() : undefined
    clearTimeout(timer)
    if (error === null) done(null, connection)
    else done(error)
  })
}

/** Closes the connection instead of lending it again after it broke or timed out. */
function guarded(connection: PoolConnection, timeout: number): MysqlPoolConnection {
  let broken = false
  const query: MysqlPoolConnection['query'] = (sql, values, callback) => {
    connection.query({ sql, values, timeout }, (error, result) => {
      if (error === null) return callback?.(null, result as never)
      const problem = withSqlState(error)
      broken ||= isConnectionError(problem)
      callback?.(problem, [])
    })
    return { stream: () => [] as never }
  }
  return {
    config: {},
    threadId: connection.threadId ?? 0,
    connect: () => {},
    query,
    destroy: () => connection.destroy(),
    release: () => (broken ? connection.destroy() : connection.release()),
  }
}

/** The driver checks the name in the certificate only when asked to. */
async function tlsOptions({ verify, ca, cert, key }: MysqlTls) {
  const pem = async (name: string | undefined) => name && (await readFile(name, 'utf8'))
  const [caText, certText, keyText] = await Promise.all([pem(ca), pem(cert), pem(key)])
  return {
    ...(caText && { ca: caText }),
    ...(certText && { cert: certText }),
    ...(keyText && { key: keyText }),
    rejectUnauthorized: verify,
    verifyIdentity: verify,
  }
}

interface Field {
  readonly type: string
  readonly length: number
}

const integers = new Set(['TINY', 'SHORT', 'LONG', 'LONGLONG'])

/**
 * Reads an integer of one digit as what it is: MySQL's boolean columns and conditions. The text "0" of
 * a condition would be true.
 */
function toValue(field: Field & { string(): string | null }, next: () => unknown): unknown {
  if (field.length !== 1 || !integers.has(field.type)) return next()
  const text = field.string()
  return text === null ? null : text !== '0'
}

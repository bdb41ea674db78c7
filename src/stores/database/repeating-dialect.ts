import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { withDriver } from './backend.ts'
import { repeated } from './database.ts'

/**
 * Repeats statements outside of transactions that met a concurrent change: a single statement can be
 * part of a deadlock too. Statements of a transaction are repeated with it, or not at all.
 */
export function repeatingDialect(dialect: Dialect): Dialect {
  return withDriver(dialect, repeating)
}

function repeating(driver: Driver): Driver {
  const owns = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const busy = new WeakSet<DatabaseConnection>()
  const own = (connection: DatabaseConnection) => owns.get(connection) ?? connection

  return {
    init: (options) => driver.init(options),
    async acquireConnection(options): Promise<DatabaseConnection> {
      const connection = await driver.acquireConnection(options)
      const lent: DatabaseConnection = {
        executeQuery: <Row>(...query: Parameters<DatabaseConnection['executeQuery']>) => {
          const run = () => connection.executeQuery<Row>(...query)
          return busy.has(lent) ? run() : repeated(run)
        },
        streamQuery: (...query) => connection.streamQuery(...query),
      }
      owns.set(lent, connection)
      return lent
    },
    async beginTransaction(connection, settings) {
      busy.add(connection)
      await driver.beginTransaction(own(connection), settings)
    },
    commitTransaction: (connection) => driver.commitTransaction(own(connection)),
    rollbackTransaction: (connection) => driver.rollbackTransaction(own(connection)),
    releaseConnection: (connection, options) => driver.releaseConnection(own(connection), options),
    destroy: (options) => driver.destroy(options),
  }
}

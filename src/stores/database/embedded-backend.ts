import { type DatabaseConnection, type Dialect, type Driver, PGliteDialect } from 'kysely'
import { openEmbedded } from '../embedded/embedded-database.ts'
import { type Backend, withBackend, withDriver } from './backend.ts'
import { postgresSql } from './postgres-backend.ts'

/** PostgreSQL in this process, or in another one of this user that has the directory open. */
export const embedded: Backend = {
  kind: 'embedded',
  ...postgresSql,
  async connect(options) {
    const pglite = await openEmbedded(options)
    return singleConnection(withBackend(new PGliteDialect({ pglite }), embedded))
  },
}

/**
 * Lends the one connection of a dialect to one borrower at a time. Without it, kysely's PGlite
 * driver runs other queries that arrive during a transaction inside that transaction.
 */
function singleConnection(dialect: Dialect): Dialect {
  return withDriver(dialect, queued)
}

function queued(driver: Driver): Driver {
  const waiting: (() => void)[] = []
  let lent = false

  async function borrow(): Promise<void> {
    if (lent) await new Promise<void>((resolve) => waiting.push(resolve))
    lent = true
  }

  function giveBack(): void {
    const next = waiting.shift()
    if (next === undefined) lent = false
    else next()
  }

  return {
    init: (options) => driver.init(options),
    async acquireConnection(options): Promise<DatabaseConnection> {
      await borrow()
      try {
        return await driver.acquireConnection(options)
      } catch (error) {
        giveBack()
        throw error
      }
    },
    async releaseConnection(connection, options) {
      await driver.releaseConnection(connection, options).finally(giveBack)
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    destroy: (options) => driver.destroy(options),
  }
}

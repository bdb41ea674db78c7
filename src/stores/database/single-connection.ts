import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { withDriver } from './backend.ts'

/**
 * Lends the one connection of a dialect to one borrower at a time. Without it, kysely's PGlite
 * driver runs other queries that arrive during a transaction inside that transaction.
 */
export function singleConnection(dialect: Dialect): Dialect {
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

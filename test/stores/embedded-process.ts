import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { openDatabase } from '../../src/stores/database/open-database.ts'

/**
 * A process of its own with the embedded database of the directory that its argument names. Every
 * line on stdin is a statement, answered with its rows as a line on stdout; the end closes it.
 */
const [directory = ''] = process.argv.slice(2)
const database = await openDatabase({
  directory,
  poolSize: 1,
  connectTimeoutMs: 5000,
  statementTimeoutMs: 10_000,
})
console.log('open')

for await (const statement of createInterface({ input: process.stdin })) {
  const { rows } = await sql.raw(statement).execute(database.db)
  console.log(JSON.stringify(rows))
}
await database.close()

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/stores/database/database.ts'
import { migrate } from '../../src/stores/database/migrations.ts'
import { readTableShapes, type TableShapes } from '../../src/stores/database/table-shapes.ts'
import { startPostgres } from '../support/postgres-server.ts'

export const limits = { poolSize: 4, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }

/** One kind of database that the suites run on. */
export interface TestDatabase {
  readonly name: string
  start(): Promise<RunningDatabase>
}

export interface RunningDatabase {
  /** An emptied database, in which these statements run before Postern's own migrations. */
  fresh(...statements: readonly string[]): Promise<Database>
  stop(): Promise<void>
}

/** Every kind that Postern runs on. */
export function testDatabases(): readonly TestDatabase[] {
  return [
    { name: 'the embedded database', start: startEmbedded },
    { name: 'the embedded database of another process', start: startShared },
    { name: 'PostgreSQL', start: startServer },
  ]
}

/** A data directory with a copy of the seeded embedded database. */
export async function copiedDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-db-'))
  await cp(inject('databaseTemplate'), directory, { recursive: true })
  return directory
}

async function startEmbedded(): Promise<RunningDatabase> {
  const directory = await copiedDirectory()
  const database = await openDatabase({ directory, ...limits })
  return running(database, async () => {
    await database.close()
    await rm(directory, { recursive: true, force: true })
  })
}

/** The second to open a directory asks the first, be it in this process or in another one. */
async function startShared(): Promise<RunningDatabase> {
  const directory = await copiedDirectory()
  const host = await openDatabase({ directory, ...limits })
  const client = await openDatabase({ directory, ...limits })
  return running(client, async () => {
    await client.close()
    await host.close()
    await rm(directory, { recursive: true, force: true })
  })
}

async function startServer(): Promise<RunningDatabase> {
  const server = await startPostgres()
  const database = await openDatabase({ url: server.url, directory: '', ...limits })
  return running(database, async () => {
    await database.close()
    await server.stop()
  })
}

function running(database: Database, stop: () => Promise<void>): RunningDatabase {
  const { db } = database
  return {
    async fresh(...statements) {
      await sql`drop schema public cascade`.execute(db)
      await sql`create schema public`.execute(db)
      for (const statement of statements) await sql.raw(statement).execute(db)
      await migrate(db)
      let shapes: Promise<TableShapes> | undefined
      return {
        ...database,
        shapes: () => {
          shapes ??= readTableShapes(db)
          return shapes
        },
      }
    },
    stop,
  }
}

import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Fault, Invalid } from '../../src/kernel/errors.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { type DatabaseOptions, openDatabase } from '../../src/stores/database/open-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'

const limits = { poolSize: 2, connectTimeoutMs: 1500, statementTimeoutMs: 1000, directory: '' }
const databaseFault = { name: 'Fault', part: 'database' }

async function open(options: Partial<DatabaseOptions> & { url: string }): Promise<Database> {
  const database = await openDatabase({ ...limits, ...options })
  onTestFinished(() => database.close())
  return database
}

describe('a PostgreSQL server that is not there', () => {
  const url = 'postgres://postern@127.0.0.1:1/postgres'

  test('is a fault at the start', async () => {
    await expect(open({ url })).rejects.toMatchObject(databaseFault)
  })

  test('is told and waited for where the start may go on without it', async () => {
    const told: (Fault | Invalid)[] = []

    const database = await open({ url, onUnreachable: (fault) => told.push(fault) })

    expect(told).toMatchObject([databaseFault])
    await expect(createAccounts(database).findByUsername('x')).rejects.toMatchObject(databaseFault)
  })

  test('is a fault, not a wait for ever, when it accepts and says nothing', async () => {
    const silent = await silentServer()
    const { port } = silent.address() as { port: number }

    const opening = open({ url: `postgres://postern@127.0.0.1:${port}/postgres` })

    await expect(opening).rejects.toMatchObject(databaseFault)
  })
})

async function silentServer(): Promise<Server> {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return server
}

describe('a PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    const database = await openDatabase({ ...limits, url: server.url })
    await seedAccounts(database, async () => 'hash')
    await database.close()
  })
  afterAll(() => server.stop())

  test('ends a statement that takes too long, and goes on', async () => {
    const { db } = await open({ url: server.url })

    const statements = [1, 2, 3].map(() => sql`select pg_sleep(60)`.execute(db))

    const outcomes = await Promise.allSettled(statements)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await expect(sql`select 1`.execute(db)).resolves.toBeDefined()
  })

  test('that stops answering is a fault, and is used again once it answers', async () => {
    const database = await open({ url: server.url })
    const { findByUsername } = createAccounts(database)
    await findByUsername('admin')
    const backends = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.db)
    const pid = backends.rows[0]?.pid ?? 0

    process.kill(pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(pid, 'SIGCONT'))

    await expect(findByUsername('admin')).rejects.toMatchObject(databaseFault)
    // The stopped backend was given up: a new connection answers although it is still stopped.
    await expect(findByUsername('admin')).resolves.toMatchObject({ enabled: true })
  })

  test('that ends idle connections is told of and survived', async () => {
    const told: (Fault | Invalid)[] = []
    const database = await open({ url: server.url, onUnreachable: (fault) => told.push(fault) })
    const other = await open({ url: server.url })

    await sql`select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = 'postern' and pid <> pg_backend_pid()`.execute(other.db)

    await expect.poll(() => told.length).toBeGreaterThan(0)
    expect(told[0]).toMatchObject(databaseFault)
    await expect(createAccounts(database).findByUsername('admin')).resolves.toBeDefined()
  })

  test('that ends a connection between two statements of its borrower is survived', async () => {
    const { db } = await open({ url: server.url })

    await db.connection().execute(async (lent) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(lent)
      await server.query(`select pg_terminate_backend(${rows[0]?.pid})`)
      await pause(100)
      await expect(sql`select 1`.execute(lent)).rejects.toThrow()
    })

    await expect(sql`select 1`.execute(db)).resolves.toBeDefined()
  })

  test('refuses a wrong user at the start, even where it need not be there', async () => {
    const url = server.url.replace('postern@', 'nobody@')

    await expect(open({ url, onUnreachable: () => {} })).rejects.toMatchObject(databaseFault)
  })

  test('is not asked for the right to make tables that are there', async () => {
    const { db } = await open({ url: server.url })
    await sql`create role reader login`.execute(db)
    await sql`grant select on sys_user, sys_role to reader`.execute(db)

    const database = await open({ url: server.url.replace('postern@', 'reader@') })

    expect(await createAccounts(database).findByUsername('admin')).toMatchObject({ enabled: true })
  })
})

import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import { type Database, inTransaction, withFaults } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import type { Schema } from '../../src/stores/database/tables.ts'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { startPostgres } from '../support/postgres-server.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

const limits = { directory: '', poolSize: 8, connectTimeoutMs: 5000, statementTimeoutMs: 5000 }
const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

async function onPostgres() {
  const server = await startPostgres()
  return { url: server.url, stop: server.stop }
}

async function onMariadb() {
  const server = await startMariadb()
  await server.query('create database conflicts')
  return { url: server.urlOf('conflicts'), stop: server.stop }
}

const servers = [
  { name: 'PostgreSQL', start: onPostgres },
  ...(findMariadb() === undefined ? [] : [{ name: 'MariaDB', start: onMariadb }]),
]

type Inside = Transaction<Schema>
const enable = (inside: Inside, username: string) =>
  sql`update sys_user set update_by = coalesce(update_by, 0) + 1
    where username = ${username}`.execute(inside)

describe.each(servers)('concurrent changes on $name', ({ start }) => {
  let url: string
  let stop: () => Promise<void>
  let database: Database
  beforeAll(async () => {
    ;({ url, stop } = await start())
    database = await openDatabase({ url, ...limits })
    await seedAccounts(database, async () => 'hash')
  })
  afterAll(async () => {
    await database.close()
    await stop()
  })

  const counts = async () => {
    const { rows } = await sql<{ count: string }>`
      select update_by as count from sys_user order by user_id`.execute(database.db)
    return rows.map(({ count }) => Number(count))
  }

  /** Both have their first row before either asks for its second one, at the first attempt. */
  function crossing(names: readonly [string, string], met: () => Promise<void>) {
    let attempts = 0
    return async (inside: Inside) => {
      attempts++
      await enable(inside, names[0])
      if (attempts === 1) await met()
      await enable(inside, names[1])
      return attempts
    }
  }

  function meeting(): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let arrived = 0
    return () => {
      if (++arrived === 2) resolve()
      return promise
    }
  }

  test('a deadlock is repeated, and both transactions happen once', async () => {
    const before = await counts()
    const met = meeting()

    const attempts = await Promise.all([
      inTransaction(database, crossing(['admin', 'editor'], met)),
      inTransaction(database, crossing(['editor', 'admin'], met)),
    ])

    expect(attempts.toSorted()).toEqual([1, 2])
    expect(await counts()).toEqual(before.map((count) => count + 2))
  })

  test('a deadlock that is not repeated is one clear fault, and changes nothing', async () => {
    const before = await counts()
    const met = meeting()
    const once = (names: readonly [string, string]) =>
      withFaults(() => database.db.transaction().execute(crossing(names, met)))

    const outcomes = await Promise.allSettled([
      once(['admin', 'editor']),
      once(['editor', 'admin']),
    ])

    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    )
    expect(failed).toMatchObject([
      {
        ...{ name: 'Fault', part: 'database' },
        message:
          'database: deadlock with a concurrent change of the same rows; this change was rolled back: try again',
      },
    ])
    expect(await counts()).toEqual(before.map((count) => count + 1))
  })

  test('a deadlock that comes again and again ends', async () => {
    let attempts = 0
    const work = async (inside: Inside) => {
      attempts++
      await enable(inside, 'admin')
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    }
    const before = await counts()

    await expect(inTransaction(database, work)).rejects.toMatchObject({
      ...{ name: 'Fault', message: expect.stringContaining('deadlock with a concurrent change') },
    })

    expect(attempts).toBe(5)
    expect(await counts()).toEqual(before)
  })

  test('a lost connection is never repeated: it may have committed', async () => {
    let attempts = 0
    const work = async () => {
      attempts++
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    }

    await expect(inTransaction(database, work)).rejects.toThrow('reset')
    expect(attempts).toBe(1)
  })

  test('a single statement in a deadlock with a transaction is repeated too', async () => {
    const before = await counts()
    const holds = Promise.withResolvers<void>()
    const asks = Promise.withResolvers<void>()
    const other = database.db.transaction().execute(async (inside) => {
      await enable(inside, 'editor')
      holds.resolve()
      await asks.promise
      await enable(inside, 'admin')
    })
    await holds.promise
    // Locks the first account, then waits for the second one.
    const single = sql`update sys_user set update_by = update_by + 1
      where username in ('admin', 'editor')`.execute(database.db)
    await waiting(database)
    asks.resolve()

    const outcomes = await Promise.allSettled([single, other])

    expect(outcomes[0]?.status).toBe('fulfilled')
    const others = outcomes[1]?.status === 'fulfilled' ? 1 : 0
    expect(await counts()).toEqual(before.map((count) => count + 1 + others))
  })

  test('crossing changes of accounts from several processes all happen, with one row each', async () => {
    const processes = await Promise.all([1, 2, 3].map(() => openDatabase({ url, ...limits })))
    const kinds = [true, false] as const

    const outcomes = await Promise.all(
      processes.flatMap((each) =>
        kinds.map((enabled) => createAccountChanges(each, actor).setEnabled('editor', enabled)),
      ),
    )

    expect(outcomes).toEqual(outcomes.map(() => ({ userIds: ['2'] })))
    expect(await readAudit(database, { actor: 'ada', limit: 20 })).toHaveLength(6)
    expect(await createAccounts(database).findByUsername('editor')).toBeDefined()
    for (const { close } of processes) await close()
  })
})

/** Until a statement waits for a lock. */
async function waiting({ db, kind }: Database): Promise<void> {
  for (let turn = 0; turn < 400; turn++) {
    const { rows } = await (kind === 'mysql'
      ? sql`select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'`
      : sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`
    ).execute(db)
    if (rows.length > 0) return
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error('no statement waits for a lock')
}

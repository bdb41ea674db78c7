import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { freePort } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const limits = { poolSize: 4, connectTimeoutMs: 5000, statementTimeoutMs: 5000, directory: '' }

let first: PostgresServer
let second: PostgresServer
beforeAll(async () => {
  first = await startPostgres()
  second = await startPostgres()
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
})

async function open(ports: readonly number[], query = '') {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const url = `postgres://postern@${hosts}/postgres${query}`
  const database = await openDatabase({ ...limits, url, prepare: 'later' })
  onTestFinished(() => database.close())
  const portNow = async () => {
    const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(
      database.db,
    )
    return rows[0]?.port
  }
  const write = () =>
    sql`create temporary table t${sql.raw(String(Date.now()))} ()`.execute(database.db)
  return { portNow, write }
}

async function readOnly(server: PostgresServer, on: boolean): Promise<void> {
  await server.query(`alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`)
  await server.query('select pg_reload_conf()')
}

describe('several hosts in database.url', () => {
  test('the first that can be reached is used', async () => {
    const { portNow } = await open([await freePort(), second.port, first.port])

    expect(await portNow()).toBe(second.port)
  })

  test('with target_session_attrs=read-write the first that takes writes is used', async () => {
    await readOnly(first, true)
    onTestFinished(() => readOnly(first, false))
    const query = '?target_session_attrs=read-write'

    expect(await (await open([first.port, second.port], query)).portNow()).toBe(second.port)
    expect(await (await open([first.port, second.port])).portNow()).toBe(first.port)
    await expect((await open([first.port], query)).portNow()).rejects.toThrow('not read-write')
  })

  test('a server that turns read-only is left with all its connections', async () => {
    const { portNow, write } = await open(
      [first.port, second.port],
      '?target_session_attrs=read-write',
    )
    const ports = await Promise.all([portNow(), portNow(), portNow()])
    expect(new Set(ports)).toEqual(new Set([first.port]))

    await readOnly(first, true)
    onTestFinished(() => readOnly(first, false))
    let failures = 0
    // Sessions notice the setting one after the other, later on a busy machine.
    await until(async () => {
      await write().catch(() => failures++)
      return (await portNow()) === second.port
    })

    expect(failures).toBeLessThanOrEqual(1)
    expect(new Set(await Promise.all([portNow(), portNow(), portNow()]))).toEqual(
      new Set([second.port]),
    )
  })

  test('a refused password is not tried elsewhere', async () => {
    const url = `postgres://stranger@127.0.0.1:${first.port},127.0.0.1:${second.port}/postgres`
    const opening = openDatabase({ ...limits, url })

    await expect(opening).rejects.toThrow('stranger')
  })
})

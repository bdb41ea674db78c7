import { describe, expect, onTestFinished, test } from 'vitest'
import { postLogin } from '../support/log-in.ts'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { revocationState, startReplicas } from '../support/session-replicas.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

async function mariadb() {
  const server = await startMariadb()
  await server.query('create database shop')
  return {
    ...server,
    url: server.urlOf('shop'),
    query: <Row>(text: string) => server.query<Row>(text, 'shop'),
  }
}

const servers = [
  ['PostgreSQL', startPostgres],
  ...(findMariadb() === undefined ? [] : [['MariaDB', mariadb] as const]),
] as const

function forwarded(postern: TestPostern) {
  return postern.call('GET /api/v1/public/a', { as: 'editor' })
}

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

describe.each(servers)('login while %s is away', (name, startServer) => {
  const missing = (table: string) =>
    name === 'MariaDB'
      ? `database: Table 'shop.${table}' doesn't exist`
      : `database: relation "${table}" does not exist`

  async function startServed() {
    const server = await startServer()
    onTestFinished(server.stop)
    const replicas = await startReplicas({ databaseUrl: server.url, statementTimeoutMs: 300 })
    const user = await replicas.addUser()
    const postern = await replicas.start()
    const login = () =>
      postLogin(postern, { username: user.name, password: user.password, uuid: '-', code: '-' })
    const codeOf = async () => ((await login()).json() as { code: number }).code
    return { server, postern, login, codeOf }
  }

  test('says so, forwarding goes on, and login is back when the database is', async () => {
    const { server, postern, login, codeOf } = await startServed()
    await until(async () => (await codeOf()) === 200)

    await server.kill()
    const refused = await login()
    const call = await forwarded(postern)

    expect(refused.status).toBe(503)
    expect(refused.json()).toMatchObject({ code: 503 })
    expect(refused.body).not.toMatch(/password|postgres|mysql|mariadb|ECONN|127\.0\.0\.1/i)
    expect(call.status).toBe(200)
    await server.start()
    await until(async () => (await codeOf()) === 200)
  })

  test('is told to operators with its reason, in log and readiness', async () => {
    const { server, postern, login } = await startServed()
    await server.query('alter table sys_user rename to users')
    await server.query('alter table postern_revocation rename to revocations')

    await login()
    await until(async () => 'lastError' in (await revocationState(postern)))

    const reason = missing('postern_revocation')
    expect(await revocationState(postern)).toMatchObject({ lastError: reason })
    expect(postern.logText()).toContain(`"reason":${JSON.stringify(missing('sys_user'))}`)
  })

  test('counts nothing against an account whose password nobody could check', async () => {
    const { server, login, codeOf } = await startServed()
    await server.kill()
    // More often than failures are forgiven.
    for (let time = 0; time < 12; time++) expect((await login()).status).toBe(503)
    await server.start()

    await until(async () => (await codeOf()) === 200)
  })

  test('answers although the database hangs, and so does everything else', async () => {
    const { server, postern, login, codeOf } = await startServed()
    await until(async () => (await codeOf()) === 200)

    await server.pause()
    // Fewer than the failures that one account may have under way.
    const logins = Promise.all(Array.from({ length: 4 }, login))
    const calls = await Promise.all(Array.from({ length: 20 }, () => forwarded(postern)))
    const refused = await logins

    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    server.resume()
    await until(async () => (await codeOf()) === 200)
  })

  test('from the start says so too when it comes back with tables that do not fit', async () => {
    const server = await startServer()
    onTestFinished(server.stop)
    await server.query('create table sys_user (user_id bigint, username varchar(9))')
    await server.kill()
    const postern = await (await startReplicas({ databaseUrl: server.url })).start()
    await server.start()

    const answer = await postLogin(postern, { username: 'a', password: 'b', uuid: '-', code: '-' })

    expect([answer.status, answer.json()]).toEqual([503, expect.objectContaining({ code: 503 })])
    expect(postern.logText()).toContain('incompatible tables')
    expect(postern.logText()).not.toContain('"outcome":"bug"')
  })

  test('keeps the record of every attempt until it can be written', async () => {
    const { server, login, codeOf } = await startServed()
    await server.kill()
    for (let time = 0; time < 3; time++) await login()
    await server.start()
    await until(async () => (await codeOf()) === 200)

    await until(async () => {
      const rows = await server.query<{ msg: string }>('select msg from sys_login_log')
      return rows.length >= 4
    })
  })
})

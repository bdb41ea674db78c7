import { describe, expect, onTestFinished, test } from 'vitest'
import { postLogin } from '../support/log-in.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { revocationState, startReplicas } from '../support/session-replicas.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

async function startOnPostgres() {
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const replicas = await startReplicas({ databaseUrl: postgres.url, statementTimeoutMs: 300 })
  const user = await replicas.addUser()
  const postern = await replicas.start()
  const login = () =>
    postLogin(postern, { username: user.name, password: user.password, uuid: '-', code: '-' })
  const codeOf = async () => ((await login()).json() as { code: number }).code
  return { postgres, postern, login, codeOf }
}

function forwarded(postern: TestPostern) {
  return postern.call('GET /api/v1/public/a', { as: 'editor' })
}

describe('login while PostgreSQL is away', () => {
  test('says so, forwarding goes on, and login is back when PostgreSQL is', async () => {
    const { postgres, postern, login, codeOf } = await startOnPostgres()
    expect(await codeOf()).toBe(200)

    await postgres.kill()
    const refused = await login()
    const call = await forwarded(postern)

    expect(refused.status).toBe(503)
    expect(refused.json()).toMatchObject({ code: 503 })
    expect(refused.body).not.toMatch(/password|postgres|ECONN|127\.0\.0\.1/i)
    expect(call.status).toBe(200)
    await postgres.start()
    await until(async () => (await codeOf()) === 200)
  })

  test('is told to operators with its reason, in log and readiness', async () => {
    const { postgres, postern, login } = await startOnPostgres()
    await postgres.query('alter table sys_user rename to users')
    await postgres.query('alter table postern_revocation rename to revocations')

    await login()
    await until(async () => 'lastError' in (await revocationState(postern)))

    const reason = expect.stringMatching(/^database: relation "postern_revocation" does not exist$/)
    expect(await revocationState(postern)).toMatchObject({ lastError: reason })
    expect(postern.logText()).toContain(
      '"reason":"database: relation \\"sys_user\\" does not exist"',
    )
  })

  test('counts nothing against an account whose password nobody could check', async () => {
    const { postgres, login, codeOf } = await startOnPostgres()
    await postgres.kill()
    // More often than failures are forgiven.
    for (let time = 0; time < 12; time++) expect((await login()).status).toBe(503)
    await postgres.start()

    await until(async () => (await codeOf()) === 200)
  })

  test('answers although PostgreSQL hangs, and so does everything else', async () => {
    const { postgres, postern, login, codeOf } = await startOnPostgres()
    expect(await codeOf()).toBe(200)

    await postgres.pause()
    // Fewer than the failures that one account may have under way.
    const logins = Promise.all(Array.from({ length: 4 }, login))
    const calls = await Promise.all(Array.from({ length: 20 }, () => forwarded(postern)))
    const refused = await logins

    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    postgres.resume()
    await until(async () => (await codeOf()) === 200)
  })

  test('from the start says so too when it comes back with tables that do not fit', async () => {
    const postgres = await startPostgres()
    onTestFinished(postgres.stop)
    await postgres.query('create table sys_user (user_id bigint, username text)')
    await postgres.kill()
    const postern = await (await startReplicas({ databaseUrl: postgres.url })).start()
    await postgres.start()

    const answer = await postLogin(postern, { username: 'a', password: 'b', uuid: '-', code: '-' })

    expect([answer.status, answer.json()]).toEqual([503, expect.objectContaining({ code: 503 })])
    expect(postern.logText()).toContain('incompatible tables')
    expect(postern.logText()).not.toContain('"outcome":"bug"')
  })

  test('keeps the record of every attempt until it can be written', async () => {
    const { postgres, login, codeOf } = await startOnPostgres()
    await postgres.kill()
    for (let time = 0; time < 3; time++) await login()
    await postgres.start()
    await until(async () => (await codeOf()) === 200)

    await until(async () => {
      const rows = await postgres.query<{ msg: string }>('select msg from sys_login_log')
      return rows.length >= 4
    })
  })
})

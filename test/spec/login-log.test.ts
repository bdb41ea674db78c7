import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoginLogState } from '../../src/login/login-log.ts'
import { createPasswordHash } from '../../src/login/password-hash.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, logIn, postLogin } from '../support/log-in.ts'
import { loginLogRows } from '../support/login-log-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

describe('the login log', () => {
  test('records every attempt, successful or failed, with the name that was tried', async () => {
    const postern = await startPostern({
      ownDatabase: true,
      config: { ...dev, login: { failuresPerPair: 2, perAddressPerMinute: 100 } },
    })

    await postLogin(postern, goodLogin(postern))
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    await postLogin(postern, { ...goodLogin(postern, 'nobody'), password: 'wrong' })
    await postLogin(postern, { ...goodLogin(postern), code: undefined })
    await postLogin(postern, '{')
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    await postLogin(postern, goodLogin(postern))
    const rows = await loginLogRows(postern, 7)

    expect(rows.map(({ username, status, msg }) => [username, status, msg])).toEqual([
      ['editor', '2', 'login succeeded'],
      ['editor', '1', 'wrong username or password'],
      ['nobody', '1', 'wrong username or password'],
      ['editor', '1', 'malformed login request'],
      ['', '1', 'malformed login request'],
      ['editor', '1', 'wrong username or password'],
      ['editor', '1', 'too many attempts'],
    ])
  })

  test('records a wrong captcha, and a logout', async () => {
    const postern = await startPostern({ ownDatabase: true })

    await postLogin(postern, { ...goodLogin(postern), uuid: 'x', code: 'y' })
    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      ...(await takeCaptcha(postern)),
    })
    const { token } = answer.json() as { token: string }
    await postern.call('POST /api/v1/logout', { token, body: '' })
    const rows = await loginLogRows(postern, 3)

    expect(rows.map(({ msg }) => msg)).toEqual([
      'wrong captcha',
      'login succeeded',
      'logout succeeded',
    ])
  })

  test('holds the real peer address and the client, cut to the columns', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })
    const agent = `Browser/1.0 ${'x'.repeat(400)}`

    await postLogin(postern, goodLogin(postern), [
      'Content-Type: application/json',
      'X-Forwarded-For: 9.9.9.9',
      `User-Agent: ${agent}`,
    ])
    const [row] = await loginLogRows(postern, 1)

    expect(row).toMatchObject({ ipaddr: '127.0.0.1', remark: agent.slice(0, 255) })
  })

  test('holds a hostile name and client as one row, cut and without what cannot be stored', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })
    const username = `eve\0'); drop table sys_login_log; --\r\n{"level":"fatal"}${'x'.repeat(500)}`
    const agent = `windows ${'mac os x 1_'.repeat(700)}`

    await postLogin(postern, { ...goodLogin(postern), username }, [
      'Content-Type: application/json',
      `User-Agent: ${agent}`,
    ])
    const rows = await loginLogRows(postern, 1)

    const kept = username.slice(0, 128).replace('\0', '')
    expect(rows).toMatchObject([{ username: kept, remark: agent.slice(0, 255), status: '1' }])
    for (const line of postern.logText().trim().split('\n')) JSON.parse(line)
    expect(postern.logText()).not.toContain('"level":"fatal"')
  })

  test('keeps nobody from logging in while its table is away, and has the record later', async () => {
    const server = await startPostgres()
    onTestFinished(server.stop)
    const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 5000 }
    const database = await openDatabase({ url: server.url, directory: '', ...limits })
    const passwordHash = createPasswordHash({ concurrency: 2, queue: 10 })
    const [account] = await seedAccounts(database, passwordHash.hash)
    await database.close()
    const postern = await startPostern({ config: { ...dev, database: { url: server.url } } })
    await server.query('alter table sys_login_log rename to elsewhere')

    const answer = await postLogin(postern, { ...account, uuid: '-', code: '-' })
    await until(async () => (await stateOf(postern)).retried > 0)
    await server.query('alter table elsewhere rename to sys_login_log')
    await until(async () => (await stateOf(postern)).written === 1)

    expect(answer.json()).toMatchObject({ code: 200, success: true })
    expect(await stateOf(postern)).toMatchObject({ queued: 0, dropped: 0 })
    const rows = await server.query('select username, status from sys_login_log')
    expect(rows).toEqual([{ username: account?.username, status: '2' }])
    const metrics = await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)
    expect(await metrics.text()).toMatch(/^postern_login_log_written_total 1$/m)
  })

  test('never holds a password', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })

    await postLogin(postern, { ...goodLogin(postern), password: 'a-secret-guess' })
    const rows = await loginLogRows(postern, 1)

    expect(JSON.stringify(rows)).not.toContain('a-secret-guess')
    expect(postern.logText()).not.toContain('a-secret-guess')
  })

  test('is empty when logger.enableddb is off', async () => {
    const postern = await startPostern({
      ownDatabase: true,
      config: { ...dev, logger: { enableddb: false } },
    })

    await logIn(postern)
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    const rows = await loginLogRows(postern, 0)

    expect(rows).toEqual([])
  })
})

async function stateOf({ opsPort }: TestPostern): Promise<LoginLogState> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return ((await answer.json()) as { loginLog: LoginLogState }).loginLog
}

import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { cookieIn, startConsole, type TestConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

/** What a session and a question say: a status, and the reason of an outage. */
async function stateOf(target: TestConsole, cookie: string, operation = 'user/list') {
  const answers = ['session', operation].map(async (path) => {
    const { status, body } = await target.call(`GET ${path}`, { cookie })
    return { status, body }
  })
  return Promise.all(answers)
}

describe('the console', () => {
  test('says that the database is unreachable, ends no session, and recovers', async () => {
    const postgres = await startPostgres()
    onTestFinished(postgres.stop)
    const target = await startConsole({
      isWhole: true,
      config: { database: { url: postgres.url, statementTimeoutMs: 5000 } },
    })
    const { out } = await target.postern('user add ann --role admin')
    const body = { username: 'ann', password: out.trim() }
    const login = await target.call('POST login', { body })
    expect(login.status).toBe(200)
    const cookie = cookieIn(login)
    expect((await stateOf(target, cookie)).map(({ status }) => status)).toEqual([200, 200])

    await postgres.kill()
    await until(async () => (await stateOf(target, cookie))[0]?.status === 503)
    const [session, list] = await stateOf(target, cookie)
    expect(JSON.parse(session?.body ?? '')).toMatchObject({
      ...{ ok: false, errors: [{ kind: 'database' }] },
    })
    expect(list?.status).toBe(503)
    const refused = await target.call('POST login', { body })
    expect([refused.status, refused.header('set-cookie')]).toEqual([503, undefined])
    expect((await target.call('GET /console/')).status).toBe(200)
    // One line for each of thousands of requests would fill the log.
    expect(target.logText()).not.toContain('console request failed')

    await postgres.start()
    await until(async () => (await stateOf(target, cookie)).every(({ status }) => status === 200))
  })

  test('says that Redis is unreachable, still answers what needs none, and recovers', async () => {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    const target = await startConsole({
      isWhole: true,
      // Without Redis, the history is what the database has of it.
      ownDatabase: true,
      config: { redis: { url: redis.url }, policy: { source: 'redis' } },
    })
    const cookie = await target.logIn()
    const policy = async () => (await stateOf(target, cookie, 'policy/history'))[1]
    expect(await policy()).toMatchObject({ status: expect.any(Number) })

    await redis.kill()
    await until(async () => (await policy())?.status === 503)
    expect(JSON.parse((await policy())?.body ?? '')).toMatchObject({
      ...{ ok: false, errors: [{ message: expect.stringMatching(/redis/i) }] },
    })
    expect((await stateOf(target, cookie, 'user/list')).map(({ status }) => status)).toEqual([
      ...[200, 200],
    ])
    await redis.start()
    await until(async () => (await policy())?.status !== 503)
  })
})

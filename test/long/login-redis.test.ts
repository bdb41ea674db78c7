import { describe, expect, onTestFinished, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, logInFrom, postLogin } from '../support/log-in.ts'
import { startRedis } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

async function ownRedis() {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  return redis
}

const quick = (url: string) => ({ url, commandTimeoutMs: 100, connectTimeoutMs: 300 })

/** Logs in as a person does; the status and code of the first answer that is no captcha. */
async function logInWithCaptcha(postern: TestPostern): Promise<number> {
  const picture = await postern.call('GET /api/v1/getCaptcha')
  if (picture.status !== 200) return picture.status
  const { id: uuid } = picture.json() as { id: string }
  const code = postern.captchaTexts.at(-1)
  const answer = await postLogin(postern, { ...goodLogin(postern), uuid, code })
  return (answer.json() as { code: number }).code
}

async function metrics({ opsPort }: TestPostern): Promise<string> {
  return (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
}

describe('login while Redis is away', () => {
  test('says so, forwarding goes on, and login is back when Redis is', async () => {
    const redis = await ownRedis()
    const postern = await startPostern({ config: { redis: quick(redis.url) } })
    expect(await logInWithCaptcha(postern)).toBe(200)
    const captcha = await takeCaptcha(postern)

    await redis.kill()
    const login = await postLogin(postern, { ...goodLogin(postern), ...captcha })
    const picture = await postern.call('GET /api/v1/getCaptcha')
    const call = await postern.call('GET /api/v1/public/a', { as: 'editor' })

    for (const answer of [login, picture]) {
      expect(answer.status).toBe(503)
      expect(answer.json()).toMatchObject({ code: 503, msg: expect.stringContaining('try again') })
    }
    expect(call.status).toBe(200)
    expect(postern.upstream.requests).toHaveLength(1)
    await redis.start()
    await until(async () => (await logInWithCaptcha(postern)) === 200)
  })

  test('never skips the captcha, and never asks for a password', async () => {
    let asked = 0
    const redis = await ownRedis()
    const postern = await startPostern({
      config: { redis: quick(redis.url), login: { failuresPerAccount: 1, failuresPerPair: 1 } },
      verifyPassword: async () => {
        asked++
        return undefined
      },
    })
    await redis.kill()

    for (let turn = 0; turn < 5; turn++) {
      expect((await postLogin(postern, goodLogin(postern))).status).toBe(503)
    }
    expect(asked).toBe(0)
    await redis.start()
    // None of that was a wrong password: the one that may be wrong is still to come.
    await until(async () => (await logInWithCaptcha(postern)) !== 503)
    expect(asked).toBe(1)
  })

  test('does not wait for a Redis that hangs', async () => {
    const redis = await ownRedis()
    const postern = await startPostern({ config: { redis: quick(redis.url) } })
    const captcha = await takeCaptcha(postern)
    redis.pause()

    const from = performance.now()
    const answer = await postLogin(postern, { ...goodLogin(postern), ...captcha })
    const waited = performance.now() - from
    redis.resume()

    expect(answer.status).toBe(503)
    // Redis would have kept it for ever; the security catalogue allows one second.
    expect(waited).toBeLessThan(1000)
    await until(async () => (await logInWithCaptcha(postern)) === 200)
  })

  test('loses the captchas in flight with the data of Redis, and nothing else', async () => {
    const redis = await ownRedis()
    const postern = await startPostern({ config: { redis: quick(redis.url) } })
    const captcha = await takeCaptcha(postern)
    await redis.client.flushall()

    const answer = await postLogin(postern, { ...goodLogin(postern), ...captcha })

    expect([answer.status, answer.json()]).toEqual([200, { code: 400, msg: expect.any(String) }])
    expect(await logInWithCaptcha(postern)).toBe(200)
  })

  test('from the start does not keep the gateway from starting', async () => {
    const redis = await ownRedis()
    await redis.kill()
    const postern = await startPostern({ config: { redis: quick(redis.url) } })

    expect((await postern.call('GET /api/v1/public/a', { as: 'editor' })).status).toBe(200)
    expect((await postern.call('GET /api/v1/getCaptcha')).status).toBe(503)
    await redis.start()
    await until(async () => (await logInWithCaptcha(postern)) === 200)
  })
})

describe('limits on guessing while Redis cannot count', () => {
  const wrong = { username: 'boss', password: 'x', uuid: '-', code: '-' }

  async function startCounting(url: string) {
    let asked = 0
    const postern = await startPostern({
      config: { ...dev, redis: quick(url) },
      verifyPassword: async () => {
        asked++
        return undefined
      },
    })
    const guess = async (times: number) => {
      for (let turn = 1; turn <= times; turn++) await logInFrom(postern, `127.0.9.${turn}`, wrong)
    }
    return { postern, guess, asked: () => asked }
  }

  test.each([
    ['is gone', (redis: Awaited<ReturnType<typeof ownRedis>>) => redis.kill()],
    ['hangs', async (redis: Awaited<ReturnType<typeof ownRedis>>) => redis.pause()],
    [
      'has other things under the keys',
      async ({ client }: Awaited<ReturnType<typeof ownRedis>>) => {
        for (const key of await client.keys('*'))
          await client.del(key).then(() => client.lpush(key, 1))
      },
    ],
    [
      'takes no more data',
      async ({ client }: Awaited<ReturnType<typeof ownRedis>>) => {
        await client.config('SET', 'maxmemory', '1')
      },
    ],
  ])('hold in this process when Redis %s', async (_, breakIt) => {
    const redis = await ownRedis()
    const { postern, guess, asked } = await startCounting(redis.url)
    await guess(1)
    await breakIt(redis)

    await guess(20)

    expect(asked()).toBe(1 + 5)
    expect(postern.logText()).toContain('Redis unreachable: counting login attempts locally')
    expect(await metrics(postern)).toContain('postern_login_counted_alone 1')
  })

  test('are those of Redis again as soon as it is back', async () => {
    const redis = await ownRedis()
    const { postern, guess } = await startCounting(redis.url)
    await redis.kill()
    await guess(1)
    await redis.start()

    await until(async () => {
      await guess(1)
      return postern.logText().includes('counting login attempts in Redis again')
    })

    expect((await redis.client.keys('{postern}:login:*')).length).toBeGreaterThan(0)
    expect(await metrics(postern)).toContain('postern_login_counted_alone 0')
  })
})

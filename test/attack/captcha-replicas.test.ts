import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { takeCaptcha, wrongly } from '../support/captchas.ts'
import { goodLogin, postLogin } from '../support/log-in.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
beforeEach(async () => {
  await redis.client.flushall()
})
afterAll(() => redis.stop())

const code = (answer: { json(): unknown }) => (answer.json() as { code: number }).code

async function startReplicas(captcha: Readonly<Record<string, unknown>> = {}) {
  const options = {
    config: {
      redis: { url: redis.url },
      captcha,
      login: { perAddressPerMinute: 1000, captchaPerAddressPerMinute: 1000 },
    },
  }
  return [await startPostern(options), await startPostern(options)] as const
}

describe('a captcha over two replicas', () => {
  // T141
  test('is good at the one that did not issue it, once', async () => {
    const [here, there] = await startReplicas()
    const fields = { ...goodLogin(here), ...(await takeCaptcha(here)) }

    expect(code(await postLogin(there, fields))).toBe(200)
    expect(code(await postLogin(there, fields))).toBe(400)
    expect(code(await postLogin(here, fields))).toBe(400)
  })

  // T139
  test.each([
    ['a wrong answer', (fields: object) => fields, wrongly],
    ['a wrong password', (fields: object) => ({ ...fields, password: 'x' }), (it: object) => it],
  ])('is used up at both after %s at one', async (_, change, answered) => {
    const [here, there] = await startReplicas()
    const captcha = await takeCaptcha(here)

    expect(code(await postLogin(here, { ...change(goodLogin(here)), ...answered(captcha) }))).toBe(
      400,
    )
    expect(code(await postLogin(there, { ...goodLogin(there), ...captcha }))).toBe(400)
  })

  // T140
  test('lets at most one of 50 concurrent logins pass', async () => {
    const [here, there] = await startReplicas()
    const fields = { ...goodLogin(here), ...(await takeCaptcha(here)) }

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => postLogin(turn % 2 ? here : there, fields)),
    )

    expect(answers.filter((answer) => code(answer) === 200)).toHaveLength(1)
    expect(answers.filter((answer) => code(answer) === 400)).toHaveLength(49)
  })

  test('pushes out the oldest when somebody asks for more than are kept', async () => {
    const [here, there] = await startReplicas({ maxOutstanding: 100 })
    const oldest = await takeCaptcha(here)
    for (let turn = 0; turn < 100; turn++) await takeCaptcha(turn % 2 ? here : there)
    const newest = await takeCaptcha(there)

    expect(code(await postLogin(there, { ...goodLogin(here), ...oldest }))).toBe(400)
    expect(code(await postLogin(here, { ...goodLogin(here), ...newest }))).toBe(200)
    expect(await redis.client.zcard('{postern}:captchas')).toBeLessThanOrEqual(100)
  })

  // T162
  test('does not have its answer in Redis, and no key without an end', async () => {
    const [here, there] = await startReplicas({ length: 8, alphabet: 'ABCDEFGHKMNPRSTUVWXYZ' })
    for (let turn = 0; turn < 5; turn++) await takeCaptcha(turn % 2 ? here : there)

    const digests = await redis.client.hgetall('{postern}:captchas:digests')
    expect(Object.keys(digests)).toHaveLength(5)
    for (const text of [...here.captchaTexts, ...there.captchaTexts]) {
      expect(JSON.stringify(digests)).not.toContain(text)
    }
    const keys = await redis.client.keys('*captcha*')
    expect(keys.length).toBeGreaterThan(1)
    for (const key of keys) {
      expect(await redis.client.pttl(key)).toBeGreaterThan(0)
    }
  })

  // Whoever can write to Redis still does not know the key of the digests.
  test.each(['', 'short', 'A'.repeat(43)])(
    'whose digest somebody replaced by %j is a wrong answer',
    async (digest) => {
      const [here] = await startReplicas()
      const captcha = await takeCaptcha(here)
      await redis.client.hset('{postern}:captchas:digests', captcha.uuid, digest)

      const answer = await postLogin(here, { ...goodLogin(here), ...captcha })

      expect([answer.status, code(answer)]).toEqual([200, 400])
    },
  )
})

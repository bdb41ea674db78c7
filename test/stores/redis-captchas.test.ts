import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CaptchaStore } from '../../src/login/captcha/captcha.ts'
import { createRedisCaptchas } from '../../src/stores/limits/redis-captchas.ts'
import { startFakeRedis } from '../support/fake-redis.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
beforeEach(async () => {
  await redis.client.flushall()
})
afterAll(() => redis.stop())

async function replica(maxOutstanding = 100): Promise<CaptchaStore> {
  return createRedisCaptchas(await connectRedis(redis), { maxOutstanding })
}

describe('captchas in Redis', () => {
  test('of one replica are taken once at another', async () => {
    const [here, there] = [await replica(), await replica()]
    await here.put('one', 'digest', 60)

    expect(await there.take('one')).toBe('digest')
    expect(await here.take('one')).toBeUndefined()
    expect(await there.take('one')).toBeUndefined()
  })

  // T140
  test('are taken by one of 50 who ask at two replicas at once', async () => {
    const replicas = [await replica(), await replica()]
    await replicas[0]?.put('one', 'digest', 60)

    const taken = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => replicas[turn % 2]?.take('one')),
    )

    expect(taken.filter((digest) => digest !== undefined)).toEqual(['digest'])
  })

  test('end with their time, one by one', async () => {
    const { put, take } = await replica()
    await put('short', 'digest', 0.05)
    await put('long', 'digest', 60)

    const from = performance.now()
    await until(() => performance.now() - from > 60)

    expect(await take('short')).toBeUndefined()
    expect(await take('long')).toBe('digest')
  })

  test('that nobody issued do not exist', async () => {
    const { take } = await replica()

    expect(await take('__proto__')).toBeUndefined()
  })

  test('beyond the bound push the oldest out, of whichever replica', async () => {
    const [here, there] = [await replica(3), await replica(3)]
    for (const id of ['a', 'b', 'c', 'd']) await (id < 'c' ? here : there).put(id, id, 60)

    expect(await Promise.all(['a', 'b', 'c', 'd'].map(here.take))).toEqual([
      undefined,
      'b',
      'c',
      'd',
    ])
  })

  test('leave nothing behind: no key without an end, no more entries than the bound', async () => {
    const { put, take } = await replica(100)
    for (let id = 0; id < 300; id++) await put(`id ${id}`, 'digest', id % 2 ? 60 : 0.001)
    await take('id 299')

    const keys = await redis.client.keys('*')
    expect(keys.every((key) => key.startsWith(testPrefix))).toBe(true)
    for (const key of keys) expect(await redis.client.pttl(key)).toBeGreaterThan(0)
    expect(await redis.client.zcard(`${testPrefix}captchas`)).toBeLessThanOrEqual(100)
    expect(await redis.client.hlen(`${testPrefix}captchas:digests`)).toBeLessThanOrEqual(100)
  })

  test('that were all taken leave no key', async () => {
    const { put, take } = await replica()
    for (const id of ['a', 'b']) await put(id, id, 60)
    for (const id of ['a', 'b']) await take(id)

    expect(await redis.client.keys('*')).toEqual([])
  })

  test.each(['captchas', 'captchas:digests'])(
    'are gone, and stay bounded, when Redis dropped the key %s',
    async (key) => {
      const { put, take } = await replica(5)
      for (let id = 0; id < 5; id++) await put(`old ${id}`, 'digest', 60)
      await redis.client.del(`${testPrefix}${key}`)

      for (let id = 0; id < 5; id++) await put(`new ${id}`, 'digest', 60)

      expect(await take('old 0')).toBeUndefined()
      expect(await take('new 4')).toBe('digest')
      expect(await redis.client.hlen(`${testPrefix}captchas:digests`)).toBeLessThanOrEqual(5)
      expect(await redis.client.zcard(`${testPrefix}captchas`)).toBeLessThanOrEqual(5)
    },
  )

  test('are a fault, not a wrong answer, when a key has the wrong type', async () => {
    const { put, take } = await replica()
    await redis.client.set(`${testPrefix}captchas`, 'text')

    await expect(put('one', 'digest', 60)).rejects.toMatchObject({ part: 'redis' })
    await expect(take('one')).rejects.toMatchObject({ part: 'redis' })
  })

  test('are a fault while Redis is away or hangs, and work again after', async () => {
    const own = await startRedis()
    const { put, take } = createRedisCaptchas(await connectRedis(own, { commandTimeoutMs: 100 }), {
      maxOutstanding: 100,
    })
    await put('one', 'digest', 60)

    own.pause()
    await expect(take('one')).rejects.toMatchObject({ part: 'redis' })
    await own.kill()
    await expect(take('one')).rejects.toMatchObject({ part: 'redis' })
    await own.start()

    await until(() =>
      put('two', 'digest', 60).then(
        () => true,
        () => false,
      ),
    )
    expect(await take('two')).toBe('digest')
    await own.stop()
  })

  test.each([
    ['-OOM command not allowed when used memory is above maxmemory', 'an error'],
    ['-READONLY You can not write against a read only replica', 'a replica'],
    [':1', 'something else'],
  ])('are a fault when Redis answers %s: %s', async (reply) => {
    const fake = await startFakeRedis((name) => (name === 'EVAL' ? reply : undefined))
    const { take } = createRedisCaptchas(await connectRedis(fake), { maxOutstanding: 100 })

    await expect(take('one')).rejects.toMatchObject({ part: 'redis' })
    await fake.close()
  })
})

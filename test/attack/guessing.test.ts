import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dev, goodLogin, logInFrom } from '../support/log-in.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** Two replicas on one Redis, which tell how often a password was looked at. */
async function startReplicas(prefix: string) {
  let asked = 0
  const options = {
    config: { ...dev, redis: { url: redis.url, prefix }, login: { perAddressPerMinute: 1000 } },
    verifyPassword: async ({ username, password }: { username: string; password: string }) => {
      asked++
      const caller = { userId: '1', roleId: '1', roleKey: 'editor', roleName: '', dataScope: '' }
      return password === 'right' ? { ...caller, username } : undefined
    },
  }
  const [here, there] = [await startPostern(options), await startPostern(options)]
  return { here, there, asked: () => asked }
}

const wrong = { username: 'boss', password: 'wrong', uuid: '-', code: '-' }
const right = { ...wrong, password: 'right' }

describe('guessing one password over two replicas', () => {
  // T151
  test('from 100 addresses gets five tries, then nobody strange gets in, right or wrong', async () => {
    const { here, there, asked } = await startReplicas('{spread}:')

    const codes: number[] = []
    for (let turn = 1; turn <= 100; turn++) {
      codes.push(await logInFrom(turn % 2 ? here : there, `127.0.1.${turn}`, wrong))
    }

    expect(codes.slice(0, 5)).toEqual([400, 400, 400, 400, 400])
    expect(new Set(codes.slice(5))).toEqual(new Set([429]))
    expect(await logInFrom(here, '127.0.2.1', right)).toBe(429)
    expect(await logInFrom(there, '127.0.2.2', right)).toBe(429)
    expect(asked()).toBe(5)
  })

  test('with all attempts at once gets no more of them', async () => {
    const { here, there, asked } = await startReplicas('{burst}:')

    const codes = await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        logInFrom(turn % 2 ? here : there, `127.0.3.${turn + 1}`, wrong),
      ),
    )

    expect(codes.filter((code) => code === 400)).toHaveLength(5)
    expect(asked()).toBe(5)
  })

  test('does not lock out whoever logged in before, at either replica', async () => {
    const { here, there } = await startReplicas('{owner}:')
    expect(await logInFrom(here, '127.0.0.9', right)).toBe(200)
    for (let turn = 1; turn <= 20; turn++) await logInFrom(there, `127.0.4.${turn}`, wrong)

    expect(await logInFrom(there, '127.0.0.9', right)).toBe(200)
    expect(await logInFrom(here, '127.0.0.9', right)).toBe(200)
    expect(await logInFrom(here, '127.0.4.99', right)).toBe(429)
  })

  test('from an address where the owner is known is bounded there', async () => {
    const { here, there, asked } = await startReplicas('{beside}:')
    await logInFrom(here, '127.0.0.9', right)

    for (let turn = 0; turn < 20; turn++)
      await logInFrom(turn % 2 ? here : there, '127.0.0.9', wrong)

    expect(asked()).toBe(6)
    expect(await logInFrom(there, '127.0.5.1', right)).toBe(200)
  })

  test('goes on where it was when Redis lost the counts, and not for free', async () => {
    const { here, asked } = await startReplicas('{flushed}:')
    await logInFrom(here, '127.0.0.9', right)
    for (let turn = 1; turn <= 10; turn++) await logInFrom(here, `127.0.6.${turn}`, wrong)
    await redis.client.flushall()
    for (let turn = 1; turn <= 10; turn++) await logInFrom(here, `127.0.6.${turn}`, wrong)

    expect(asked()).toBe(11)
    expect(await logInFrom(here, '127.0.6.99', right)).toBe(429)
    expect(await logInFrom(here, '127.0.0.9', right)).toBe(200)
  })
})

describe('what guessing leaves in Redis', () => {
  test('has an end, and shows neither names nor addresses nor passwords', async () => {
    await redis.client.flushall()
    const postern = await startPostern({
      ownDatabase: true,
      // The login log holds names, as it must, and ends by its length.
      config: {
        ...dev,
        logger: { enableddb: false },
        redis: { url: redis.url, prefix: '{seen}:' },
      },
    })
    await logInFrom(postern, '127.0.7.77', { ...goodLogin(postern), password: 'guessed-password' })
    await logInFrom(postern, '127.0.7.77', { ...wrong, username: 'typed-password' })
    await logInFrom(postern, '127.0.7.77', goodLogin(postern))

    const keys = await redis.client.keys('*')
    // A session names the user who is logged in, and ends with the token.
    const others = keys.filter((key) => !key.startsWith('{seen}:sessions'))
    const content = await Promise.all(others.map((key) => redis.client.get(key)))
    expect(others.length).toBeGreaterThan(3)
    expect(keys.every((key) => key.startsWith('{seen}:'))).toBe(true)
    for (const key of keys) expect(await redis.client.pttl(key)).toBeGreaterThan(0)
    expect(JSON.stringify([keys, content])).not.toMatch(/editor|guessed|typed|127\.0/)
  })
})

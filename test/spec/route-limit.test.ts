import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RawAnswer } from '../support/raw-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const route = (limit: object, more: object = {}) => [
  { path: '/', upstream: 'backend' },
  { path: '/api/v1/public', upstream: 'backend', limit, ...more },
]
const open = { access: 'public', reason: 'a test' }
const code = (answer: RawAnswer) => (answer.json() as { readonly code?: number }).code ?? 'passed'

describe('the limit of a route', () => {
  test('refuses a caller what is too much, with HTTP 200, code 429 and when to come back', async () => {
    const now = Math.floor(nowSeconds() / 60) * 60 + 18
    const postern = await startPostern({ routes: route({ requests: 2 }), now: () => now })
    const call = () => postern.call('GET /api/v1/public/a', { as: 'editor' })

    await call()
    await call()
    const answer = await call()

    expect([answer.status, answer.json()]).toEqual([200, { code: 429, msg: expect.any(String) }])
    expect(answer.header('retry-after')).toBe('42')
    expect(answer.header('x-ratelimit-limit')).toBe('2')
    expect(answer.header('x-ratelimit-remaining')).toBe('0')
    expect(answer.header('ratelimit-policy')).toBe('"caller";q=2;w=60')
    expect(answer.header('ratelimit')).toBe('"caller";r=0;t=42')
    expect(postern.upstream.requests).toHaveLength(2)
  })

  test('counts each caller alone, under whatever path below the route', async () => {
    const postern = await startPostern({ routes: route({ requests: 2 }) })
    const call = (path: string, identity: number) =>
      postern.call(`GET /api/v1/public/${path}`, { token: tokenOf('editor', { identity }) })

    await call('a', 1)
    await call('b', 1)

    expect(code(await call('c', 1))).toBe(429)
    expect(code(await call('c', 2))).toBe('passed')
  })

  test('leaves other routes and the own endpoints alone', async () => {
    const postern = await startPostern({
      routes: [{ path: '/', upstream: 'backend', limit: { requests: 1, by: 'address' } }],
    })

    for (let turn = 0; turn < 3; turn++) {
      expect(code(await postern.call('GET /api/v1/getCaptcha'))).toBe(200)
    }
    expect(code(await postern.call('GET /api/v1/public/a', { as: 'editor' }))).toBe('passed')
    expect(code(await postern.call('GET /api/v1/public/a', { as: 'editor' }))).toBe(429)
  })

  test('by address covers a public route, and counts before anybody is identified', async () => {
    const limit = { requests: 1, by: 'address' }
    const known = await startPostern({ routes: route(limit) })
    const anybody = await startPostern({ routes: route(limit, open) })

    expect(code(await known.call('GET /api/v1/public/a'))).toBe(401)
    expect(code(await known.call('GET /api/v1/public/a', { as: 'editor' }))).toBe(429)
    expect(code(await anybody.call('GET /api/v1/public/a'))).toBe('passed')
    expect(code(await anybody.call('GET /api/v1/public/a'))).toBe(429)
  })

  test('by address counts the client that a trusted proxy names, by 64 bits of IPv6', async () => {
    const postern = await startPostern({
      routes: route({ requests: 1, by: 'address' }, open),
      config: { application: { trustedProxies: ['127.0.0.1'] } },
    })
    const from = (address: string) =>
      postern.call('GET /api/v1/public/a', { headers: [`X-Forwarded-For: ${address}`] }).then(code)

    expect(await from('2001:db8::1')).toBe('passed')
    expect(await from('2001:db8::2')).toBe(429)
    expect(await from('2001:db8:0:1::1')).toBe('passed')
    expect(await from('192.0.2.1')).toBe('passed')
    expect(await from('::ffff:192.0.2.1')).toBe(429)
  })

  test('by caller counts what is not permitted too', async () => {
    const postern = await startPostern({ routes: route({ requests: 1 }) })

    expect(code(await postern.call('POST /api/v1/public/a', { as: 'editor' }))).toBe(401)
    expect(code(await postern.call('POST /api/v1/public/a', { as: 'editor' }))).toBe(429)
  })

  test('tells every client what is left, and other routes nothing', async () => {
    const now = Math.floor(nowSeconds() / 60) * 60 + 18
    const postern = await startPostern({ routes: route({ requests: 2 }), now: () => now })
    postern.upstream.answerWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nRateLimit-X: own\r\nContent-Length: 0\r\n\r\n')
    })

    const limited = await postern.call('GET /api/v1/public/a', { as: 'editor' })
    const other = await postern.call('GET /api/v2', { as: 'admin' })

    expect(limited.header('ratelimit-policy')).toBe('"caller";q=2;w=60')
    expect(limited.header('ratelimit')).toBe('"caller";r=1;t=42')
    expect(limited.header('ratelimit-x')).toBe('own')
    expect(other.header('ratelimit')).toBeUndefined()
  })

  test('with a burst allows that many at once, then one after the other', async () => {
    let now = nowSeconds()
    const limit = { requests: 30, seconds: 60, burst: 2 }
    const postern = await startPostern({ routes: route(limit), now: () => now })
    const call = () => postern.call('GET /api/v1/public/a', { as: 'editor' })

    expect([code(await call()), code(await call())]).toEqual(['passed', 'passed'])
    const refused = await call()
    expect([refused.status, code(refused)]).toEqual([200, 429])
    expect(refused.header('retry-after')).toBe('2')
    expect(refused.header('ratelimit')).toBe('"caller";r=0;t=4')
    now += 2
    expect([code(await call()), code(await call())]).toEqual(['passed', 429])
  })

  test('by role counts all callers of a role together', async () => {
    const postern = await startPostern({ routes: route({ requests: 2, by: 'role' }) })
    const call = (role: string, identity: number) =>
      postern.call('GET /api/v1/public/a', { token: tokenOf(role, { identity }) }).then(code)

    expect([await call('editor', 1), await call('editor', 2)]).toEqual(['passed', 'passed'])
    expect([await call('editor', 3), await call('admin', 4)]).toEqual([429, 'passed'])
  })

  test('by service counts all requests to it, on each of its routes, public ones too', async () => {
    const limit = { requests: 2, by: 'service' }
    const postern = await startPostern({
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/api/v1/public', upstream: 'backend', limit: { ...limit } },
        { path: '/open', upstream: 'backend', limit, ...open },
      ],
    })
    const known = () => postern.call('GET /api/v1/public/a', { as: 'editor' }).then(code)

    // Without a login, nothing would reach the service.
    expect(code(await postern.call('GET /api/v1/public/a'))).toBe(401)
    expect([await known(), code(await postern.call('GET /open'))]).toEqual(['passed', 'passed'])
    expect([await known(), code(await postern.call('GET /open'))]).toEqual([429, 429])
    expect(code(await postern.call('GET /other', { as: 'admin' }))).toBe('passed')
  })

  test('by role is refused on a public route', async () => {
    await expect(
      startPostern({ routes: route({ requests: 1, by: 'role' }, open) }),
    ).rejects.toThrow(/routes\[1\]\.limit\.by: "role" cannot be used on a public route/)
  })

  test('by caller is refused on a public route, which knows none', async () => {
    await expect(startPostern({ routes: route({ requests: 1 }, open) })).rejects.toThrow(
      /routes\[1\]\.limit\.by: "caller" cannot be used on a public route/,
    )
  })

  test('without a number of requests is refused', async () => {
    await expect(startPostern({ routes: route({ seconds: 1 }) })).rejects.toThrow(
      /routes\[1\]\.limit\.requests is required/,
    )
  })
})

/** What replicas have added up so far. Every sum has an end. */
async function sumsIn({ client }: RedisServer): Promise<(string | null)[]> {
  const keys = await client.keys('{postern}:limit:*')
  for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
  return Promise.all(keys.map((key) => client.get(key)))
}

describe('the limit of a route over two replicas', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('with a burst is one limit too', async () => {
    const now = nowSeconds()
    const options = {
      routes: route({ requests: 10, seconds: 3600, burst: 10 }),
      config: { redis: { url: redis.url } },
      now: () => now,
    }
    const [here, there] = [await startPostern(options), await startPostern(options)]
    const call = ({ call: ask }: typeof here) =>
      ask('GET /api/v1/public/a', { token: tokenOf('editor', { identity: 9 }) }).then(code)

    for (let turn = 0; turn < 10; turn++) expect(await call(here)).toBe('passed')
    expect(await call(here)).toBe(429)
    expect(await call(there)).toBe('passed')
    await until(async () => (await sumsIn(redis)).includes('11'))
    await until(async () => (await call(there)) === 429)
    expect(there.upstream.requests.length).toBeLessThan(10)
  })

  test('is one limit, and holds at each replica alone while Redis is away', async () => {
    // Time stands still, so that no window ends while the test runs.
    const now = nowSeconds()
    const options = {
      routes: route({ requests: 20, seconds: 3600 }),
      config: { redis: { url: redis.url } },
      now: () => now,
    }
    const [here, there] = [await startPostern(options), await startPostern(options)]
    const call = ({ call: ask }: typeof here, identity: number) =>
      ask('GET /api/v1/public/a', { token: tokenOf('editor', { identity }) }).then(code)

    for (let turn = 0; turn < 20; turn++) expect(await call(here, 1)).toBe('passed')
    // Its first call makes the other replica ask; from the answer on it knows.
    expect(await call(there, 1)).toBe('passed')
    await until(async () => (await sumsIn(redis)).includes('21'))
    await until(async () => (await call(there, 1)) === 429)
    expect(there.upstream.requests.length).toBeLessThan(20)

    await redis.kill()
    for (let turn = 0; turn < 20; turn++) expect(await call(there, 2)).toBe('passed')
    expect(await call(there, 2)).toBe(429)
  })
})

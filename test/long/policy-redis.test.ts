import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startFakeRedis } from '../support/fake-redis.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import {
  askDuring,
  type Published,
  startPublished,
  testRedis,
} from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const first = ['clerk, /first, GET']
const second = ['clerk, /second, GET']

const isStale = async (published: Published) => (await published.readyz()).policy.stale
const takesSecond = (published: Published) =>
  until(async () => (await published.ask('/second')) === 'allowed')

describe('a gateway under load', () => {
  test('does not notice that Redis was killed, and follows it once it is back', async () => {
    const published = await startPublished({ rules: first })

    const verdicts = await askDuring(published, '/first', async () => {
      await published.redis.kill()
      await until(() => isStale(published))
      await pause(1500)
      await published.redis.start()
    })

    expect([...verdicts]).toEqual(['allowed'])
    await published.publish(second)
    await takesSecond(published)
  })

  test('does not notice that Redis hangs, and follows it once it goes on', async () => {
    const published = await startPublished({ rules: first })

    const verdicts = await askDuring(published, '/first', async () => {
      published.redis.pause()
      await until(() => isStale(published))
      await pause(4000)
      published.redis.resume()
      await until(async () => !(await isStale(published)))
    })

    expect([...verdicts]).toEqual(['allowed'])
    await published.publish(second)
    await takesSecond(published)
  })

  test('does not notice that Redis serves nobody for a while', async () => {
    const published = await startPublished({ rules: first })

    const verdicts = await askDuring(published, '/first', async () => {
      await published.redis.client.call('CLIENT', 'PAUSE', '2000', 'ALL')
      await until(() => isStale(published))
      await until(async () => !(await isStale(published)))
    })

    expect([...verdicts]).toEqual(['allowed'])
  })

  const faults: readonly (readonly [string, Fault, number])[] = [
    // Longer than it takes to give a silent connection up.
    ['is a black hole', { hold: true }, 4000],
    ['is two seconds late', { delayMs: 2000 }, 2500],
    ['spoils what Redis says', { corrupt: true }, 1500],
    ['resets every third answer', { resetEvery: 3 }, 1500],
    ['delivers single bytes', { slice: true }, 1500],
  ]

  test.each(faults)(
    'keeps its policy while the way to Redis %s, then follows',
    async (_, fault, ms) => {
      const { published, proxy } = await startBehindProxy()

      const verdicts = await askDuring(published, '/first', async () => {
        proxy.inject(fault)
        await pause(ms)
      })
      proxy.inject({})

      expect([...verdicts]).toEqual(['allowed'])
      await published.publish(second)
      await takesSecond(published)
    },
  )

  test.each(['reset', 'half-close'] as const)('gets over a %s of its connections', async (how) => {
    const { published, proxy } = await startBehindProxy()

    const verdicts = await askDuring(published, '/first', async () => {
      for (let times = 0; times < 5; times++) {
        proxy.cut(how)
        await pause(200)
      }
    })

    expect([...verdicts]).toEqual(['allowed'])
    await published.publish(second)
    await takesSecond(published)
  })

  test.each([
    ['OOM', "-OOM command not allowed when used memory > 'maxmemory'."],
    ['READONLY', "-READONLY You can't write against a read only replica."],
    ['LOADING', '-LOADING Redis is loading the dataset in memory'],
    ['NOAUTH', '-NOAUTH Authentication required.'],
    ['MASTERDOWN', '-MASTERDOWN Link with MASTER is down'],
  ])('keeps its policy while Redis answers %s to everything', async (word, line) => {
    const { published, proxy } = await startBehindProxy()
    const fake = await startFakeRedis((name) => (name === 'INFO' ? undefined : line))
    onTestFinished(fake.close)

    const verdicts = await askDuring(published, '/first', async () => {
      proxy.retarget(fake.port)
      proxy.cut('reset')
      await until(async () => (await published.readyz()).policy.lastError?.includes(word) ?? false)
    })
    proxy.retarget(published.redis.port)
    proxy.cut('reset')

    expect([...verdicts]).toEqual(['allowed'])
    await published.publish(second)
    await takesSecond(published)
  })

  test('takes in what it can read from a Redis that cannot be written', async () => {
    const published = await startPublished({ rules: first })

    await published.redis.client.config('SET', 'maxmemory', '1')
    await until(() => published.postern.logText().includes('replica report failed'))

    expect(await isStale(published)).toBe(false)
    await expect(published.publish(second)).rejects.toMatchObject({ part: 'redis' })
    await published.redis.client.config('SET', 'maxmemory', '0')
    await published.publish(second)
    await takesSecond(published)
  })
})

async function startBehindProxy(): Promise<{ published: Published; proxy: FaultProxy }> {
  const redis = await testRedis()
  const proxy = await startFaultProxy(redis.port)
  onTestFinished(proxy.close)
  const published = await startPublished({ redis, port: proxy.port, rules: first })
  return { published, proxy }
}

import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Counters, Limit } from '../../src/login/throttle.ts'
import { type CounterState, countHit } from '../../src/stores/limits/counter-state.ts'
import { createMemoryCounters } from '../../src/stores/limits/memory-counters.ts'
import { createRedisCounters, hitScript } from '../../src/stores/limits/redis-counters.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const limit: Limit = { hits: 2, windowSeconds: 60, lockoutSeconds: 10, maxLockoutSeconds: 100 }
const hour = { seconds: 3600 }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
beforeEach(async () => {
  await redis.client.flushall()
})
afterAll(() => redis.stop())

async function shared(): Promise<Counters> {
  return createRedisCounters({
    redis: await connectRedis(redis),
    // Nothing is ever within its limits: an answer that it gave would show.
    local: { ...createMemoryCounters(), hit: () => Promise.reject(new Error('counted alone')) },
    onUnreachable: () => {},
  })
}

async function waits(counters: Counters, key: string, times: number): Promise<number[]> {
  const seconds: number[] = []
  for (let turn = 0; turn < times; turn++) {
    seconds.push((await counters.hit([{ key, limit }])).lockedOutSeconds)
  }
  return seconds
}

describe.each([
  ['in memory', async () => createMemoryCounters()],
  ['in Redis', shared],
])('counters %s', (_, create) => {
  test('let as many hits pass as the limit has, then say how long to wait', async () => {
    const counters = await create()

    expect(await waits(counters, 'key', 4)).toEqual([0, 0, 10, 10])
    expect(await waits(counters, 'another key', 1)).toEqual([0])
  })

  test('let hits pass again when the wait is over', async () => {
    const counters = await create()
    const quick = { hits: 1, windowSeconds: 60, lockoutSeconds: 0.05, maxLockoutSeconds: 1 }
    const passes = async () =>
      (await counters.hit([{ key: 'key', limit: quick }])).lockedOutSeconds === 0
    expect([await passes(), await passes()]).toEqual([true, false])

    const from = performance.now()
    await until(passes)

    expect(performance.now() - from).toBeGreaterThan(30)
  })

  test('tell once that a lock-out begins, and for how long', async () => {
    const counters = await create()
    await waits(counters, 'full', 2)
    await waits(counters, 'locked', 3)
    const hits = ['locked', 'full', 'free'].map((key) => ({ key, limit }))

    expect((await counters.hit(hits)).began).toEqual([
      { key: 'full', lockoutMs: 10_000, lockouts: 1 },
    ])
    expect((await counters.hit(hits)).began).toEqual([])
    expect((await counters.hit([{ key: 'other', limit }])).began).toEqual([])
  })

  test('count under all keys or under none', async () => {
    const counters = await create()
    await waits(counters, 'full', 2)

    const both = () =>
      counters.hit([
        { key: 'full', limit },
        { key: 'free', limit },
      ])
    expect((await both()).lockedOutSeconds).toBe(10)
    expect((await both()).lockedOutSeconds).toBe(10)

    expect(await waits(counters, 'free', 3)).toEqual([0, 0, 10])
  })

  test('leave out what a mark exempts from', async () => {
    const counters = await create()
    const marked = { key: 'account', limit, unless: 'known' }
    const first = await counters.hit([marked])
    await first.takeBack({ clear: 'pair', mark: { key: 'known', ...hour } })
    await waits(counters, 'account', 3)

    expect((await counters.hit([marked])).lockedOutSeconds).toBe(0)
    expect((await counters.hit([{ ...marked, unless: 'unknown' }])).lockedOutSeconds).toBe(10)
  })

  test('take a hit back where it was counted, and nowhere else', async () => {
    const counters = await create()
    const known = await counters.hit([{ key: 'pair', limit }])
    await known.takeBack({ clear: 'pair', mark: { key: 'known', ...hour } })
    await waits(counters, 'account', 1)

    const { takeBack } = await counters.hit([
      { key: 'pair', limit },
      { key: 'account', limit, unless: 'known' },
    ])
    await takeBack()

    expect(await waits(counters, 'pair', 3)).toEqual([0, 0, 10])
    expect(await waits(counters, 'account', 2)).toEqual([0, 10])
  })

  test('forget a key that is cleared, with its waits', async () => {
    const counters = await create()
    const { takeBack } = await counters.hit([{ key: 'key', limit }])
    await waits(counters, 'key', 2)

    await takeBack({ clear: 'key', mark: { key: 'known', seconds: 0 } })

    expect(await waits(counters, 'key', 3)).toEqual([0, 0, 10])
    expect((await counters.hit([{ key: 'key', limit, unless: 'known' }])).lockedOutSeconds).toBe(10)
  })
})

describe('the rule of waiting', () => {
  const at = (times: readonly number[]) => {
    let state: CounterState | undefined
    return times.map((seconds) => {
      const counted = countHit(state, limit, 1e9 + seconds * 1000)
      state = counted.state
      return counted.lockoutMs / 1000
    })
  }

  test.each<[string, number[], number[]]>([
    ['a new window has all its hits', [0, 0, 60, 60], [0, 0, 0, 0]],
    ['a wait runs from the hit that was too many', [0, 0, 5, 14, 15], [0, 0, 10, 1, 0]],
    ['refused hits do not lengthen it', [0, 0, 0, 9, 9, 9, 10], [0, 0, 10, 1, 1, 1, 0]],
    ['the next wait is longer', [0, 0, 0, 10, 10, 10], [0, 0, 10, 0, 0, 20]],
    [
      'no wait is longer than the longest',
      [0, 0, 0, 10, 10, 10, 30, 30, 30, 70, 70, 70, 150, 150, 150],
      [0, 0, 10, 0, 0, 20, 0, 0, 40, 0, 0, 80, 0, 0, 100],
    ],
    ['a wait long over is forgotten', [0, 0, 0, 110, 110, 110], [0, 0, 10, 0, 0, 10]],
    ['one just over is not', [0, 0, 0, 109, 109, 109], [0, 0, 10, 0, 0, 20]],
    ['a clock that is set back keeps nobody waiting', [0, 0, 0, -500], [0, 0, 10, 0]],
  ])('%s', (_, times, expected) => {
    expect(at(times)).toEqual(expected)
  })

  test('is the same in Redis, whatever the clock does', async () => {
    // The same script, with the time of the test for Redis's own.
    const script = hitScript.replace("redis.call('TIME')", '{ ARGV[5], ARGV[6] }')
    const step = fc.oneof(fc.nat(30), fc.nat(130), fc.integer({ min: -400, max: -1 }))
    const limits = fc.record({
      hits: fc.integer({ min: 1, max: 3 }),
      windowSeconds: fc.integer({ min: 1, max: 60 }),
      lockoutSeconds: fc.integer({ min: 1, max: 20 }),
      maxLockoutSeconds: fc.integer({ min: 20, max: 100 }),
    })
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(step, { minLength: 1, maxLength: 25 }),
        async (one, steps) => {
          const key = `${testPrefix}${run++}`
          let state: CounterState | undefined
          let seconds = 1e6
          for (const passed of steps) {
            seconds += passed
            const counted = countHit(state, one, seconds * 1000)
            state = counted.state
            const {
              hits,
              windowSeconds: window,
              lockoutSeconds: wait,
              maxLockoutSeconds: most,
            } = one
            const args = [hits, window * 1000, wait * 1000, most * 1000, seconds, 0]
            const answer = await redis.client.eval(script, 2, key, key, ...args)

            const { lockoutMs, began } = counted
            const begun = began ? [state.lockouts, lockoutMs] : [0, 0]
            expect(answer).toEqual([lockoutMs, lockoutMs === 0 ? 1 : 0, ...begun])
            const kept = `${state.hits} ${state.windowEnds} ${state.lockouts} ${state.lockoutEnds}`
            expect(await redis.client.get(key)).toBe(kept)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('counters in memory', () => {
  test('keep no more keys than they may, and keep the one that is being hit', async () => {
    const counters = createMemoryCounters({ maxKeys: 100 })
    await waits(counters, 'attacked', 3)

    for (let other = 0; other < 1000; other++) {
      await waits(counters, `other ${other}`, 3)
      if (other % 50 === 0) await waits(counters, 'attacked', 1)
    }

    expect(await waits(counters, 'attacked', 1)).toEqual([10])
    expect(await waits(counters, 'other 0', 1)).toEqual([0])
  })
})

describe('counters in Redis', () => {
  test('are shared: of 50 hits at two replicas at once, as many pass as the limit has', async () => {
    const replicas = [await shared(), await shared()]

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, turn) => replicas[turn % 2]?.hit([{ key: 'key', limit }])),
    )

    expect(answers.filter((answer) => answer?.lockedOutSeconds === 0)).toHaveLength(2)
  })

  test('write no key without an end', async () => {
    const counters = await shared()
    const { takeBack } = await counters.hit([{ key: 'b', limit }])
    await waits(counters, 'a', 4)
    await waits(counters, 'b', 1)
    await takeBack({ clear: 'c', mark: { key: 'known', ...hour } })

    const keys = await redis.client.keys('*')
    expect(keys.sort()).toEqual(['a', 'b', 'known'].map((key) => `${testPrefix}${key}`))
    for (const key of keys) expect(await redis.client.pttl(key)).toBeGreaterThan(0)
  })

  test('give a key back the end that it lost', async () => {
    const counters = await shared()
    await waits(counters, 'key', 1)
    await redis.client.persist(`${testPrefix}key`)

    expect(await waits(counters, 'key', 2)).toEqual([0, 10])
    expect(await redis.client.pttl(`${testPrefix}key`)).toBeGreaterThan(0)
  })

  test('count anew over what is no count', async () => {
    const counters = await shared()
    await redis.client.set(`${testPrefix}key`, 'something else')

    expect(await waits(counters, 'key', 3)).toEqual([0, 0, 10])
  })

  test('ask a Redis that hangs once, and count alone for a while', async () => {
    const own = await startRedis()
    const client = await connectRedis(own, { commandTimeoutMs: 100 })
    const told: (string | undefined)[] = []
    let asked = 0
    let time = 0
    const counters = createRedisCounters({
      redis: {
        ...client,
        runScript(...script) {
          asked++
          // The time that the command takes, and no real one.
          return client.runScript(...script).finally(() => {
            time += 100
          })
        },
      },
      local: createMemoryCounters(),
      onUnreachable: (reason) => told.push(reason),
      now: () => time,
    })
    own.pause()

    expect(await waits(counters, 'key', 4)).toEqual([0, 0, 10, 10])
    expect(asked).toBe(1)
    own.resume()
    time += 1000
    await until(async () => {
      time += 1000
      return (await waits(counters, 'key', 1))[0] === 0
    })
    expect(told).toEqual([expect.stringContaining('timeout: no reply within 100 ms'), undefined])
    await own.stop()
  })
})

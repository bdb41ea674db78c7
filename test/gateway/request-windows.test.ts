import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createRequestWindows,
  type RequestWindowParts,
  type WindowCount,
} from '../../src/gateway/route/request-windows.ts'
import { until } from '../support/until.ts'

const limit = { requests: 3, seconds: 60 }
const start = 6e10

interface Limit {
  readonly requests: number
  readonly seconds: number
  readonly burst?: number
}

function windows(parts: Partial<RequestWindowParts> = {}) {
  const clock = { now: start }
  const created = createRequestWindows({ now: () => clock.now, shareEveryMs: 5, ...parts })
  onTestFinished(created.close)
  const takeAll = (name: string, times: number, of: Limit) =>
    Array.from({ length: times }, () => created.take(name, of))
  const take = (name: string, times = 1, of: Limit = limit) =>
    takeAll(name, times, of).map(({ retryAfterSeconds }) => retryAfterSeconds)
  return { clock, take, takeAll }
}

/** What several replicas add up, in one process. */
function sums() {
  const totals = new Map<string, number>()
  const share = async (counts: readonly WindowCount[]) =>
    counts.map(({ name, window, count }) => {
      const key = `${window} ${name}`
      totals.set(key, (totals.get(key) ?? 0) + count)
      return totals.get(key) ?? 0
    })
  return { totals, share }
}

describe('windows of requests', () => {
  test('let through what the limit has, then say how long until there is room', () => {
    const { take, clock } = windows()

    expect(take('a', 3)).toEqual([0, 0, 0])
    clock.now += 20_500
    expect(take('a', 2)).toEqual([40, 40])
    expect(take('b')).toEqual([0])
  })

  test('begin anew with the next window', () => {
    const { take, clock } = windows()
    take('a', 4)

    clock.now += 60_000

    expect(take('a', 4)).toEqual([0, 0, 0, 60])
  })

  test('say how many are left, and when all are', () => {
    const { takeAll, clock } = windows()
    clock.now += 20_500

    expect(takeAll('a', 4, limit)).toEqual([
      { retryAfterSeconds: 0, remaining: 2, resetSeconds: 40 },
      { retryAfterSeconds: 0, remaining: 1, resetSeconds: 40 },
      { retryAfterSeconds: 0, remaining: 0, resetSeconds: 40 },
      { retryAfterSeconds: 40, remaining: 0, resetSeconds: 40 },
    ])
  })

  test('keep no more names than they may, and keep the one that is in use', () => {
    const { take } = windows({ maxNames: 10 })
    take('busy', 3)

    for (let other = 0; other < 100; other++) {
      take(`other ${other}`, 3)
      if (other % 5 === 0) take('busy')
    }

    expect(take('busy')).toEqual([60])
    expect(take('other 0')).toEqual([0])
  })

  test('learn from the others what they let through', async () => {
    const { totals, share } = sums()
    const [here, there] = [windows({ share }), windows({ share })]
    here.take('a', 2)
    await until(() => totals.size === 1)

    expect(there.take('a')).toEqual([0])
    await until(() => totals.get(`${start / 60_000} a`) === 3)
    await until(() => there.take('a')[0] !== 0)

    expect([...totals.values()]).toEqual([3])
  })

  test('go on alone when the others cannot be asked', async () => {
    let asked = 0
    const share = async () => {
      asked++
      return undefined
    }
    const { take } = windows({ share })

    take('a', 2)
    await until(() => asked === 1)

    expect(take('a', 2)).toEqual([0, 60])
  })

  test('keep no more names for the others than for themselves', async () => {
    const shared: string[] = []
    const share = async (counts: readonly WindowCount[]) => {
      shared.push(...counts.map(({ name }) => name))
      return undefined
    }
    const { take, clock } = windows({ share, maxNames: 10 })

    for (let name = 0; name < 5000; name++) take(`${name % 50}`)
    clock.now += 60_000
    for (let name = 0; name < 50; name++) take(`${name}`)
    take('last')
    await until(() => shared.includes('last'))

    expect(shared).toHaveLength(10)
  })

  test('have one message under way, with a bounded number of names', async () => {
    const batches: number[] = []
    let answer = () => {}
    const share = (counts: readonly WindowCount[]) => {
      batches.push(counts.length)
      return new Promise<undefined>((resolve) => {
        answer = () => resolve(undefined)
      })
    }
    const { take } = windows({ share })
    for (let name = 0; name < 1500; name++) take(`${name}`)

    await until(() => batches.length === 1)
    answer()
    await until(() => batches.length === 2)

    expect(batches).toEqual([1000, 500])
    answer()
  })
})

describe('a limit with a burst', () => {
  const bursts: Limit = { requests: 60, seconds: 60, burst: 3 }

  test('lets that many through at once, then one for each interval', () => {
    const { take, takeAll, clock } = windows()

    expect(takeAll('a', 4, bursts)).toEqual([
      { retryAfterSeconds: 0, remaining: 2, resetSeconds: 1 },
      { retryAfterSeconds: 0, remaining: 1, resetSeconds: 2 },
      { retryAfterSeconds: 0, remaining: 0, resetSeconds: 3 },
      { retryAfterSeconds: 1, remaining: 0, resetSeconds: 3 },
    ])
    clock.now += 999
    expect(take('a', 1, bursts)).toEqual([1])
    clock.now += 1
    expect(take('a', 2, bursts)).toEqual([0, 1])
    clock.now += 60_000
    expect(take('a', 4, bursts)).toEqual([0, 0, 0, 1])
  })

  test('has no boundary around which twice as many pass', () => {
    const { take, clock } = windows()
    clock.now += 59_999
    take('a', 3, bursts)
    clock.now += 1

    expect(take('a', 1, bursts)).toEqual([1])
  })

  test('never lets more through than burst and rate, whenever requests come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }),
        (requests, seconds, burst, pauses) => {
          const { take, clock } = windows()
          const allowed: number[] = []
          for (const pause of pauses) {
            clock.now += pause
            if (take('a', 1, { requests, seconds, burst })[0] === 0) allowed.push(clock.now)
          }
          const tooMany = allowed.some((from, first) =>
            allowed.slice(first).some((to, count) => {
              const most = burst + ((to - from) * requests) / (seconds * 1000)
              return count + 1 > most + 0.01
            }),
          )
          expect(tooMany).toBe(false)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('allows the next request when it says so', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 20 }),
        (requests, seconds, burst) => {
          const { take, clock } = windows()
          const given = { requests, seconds, burst }
          const [wait = 0] = take('a', burst + 1, given).slice(-1)
          expect(wait).toBeGreaterThan(0)
          clock.now += wait * 1000
          expect(take('a', 1, given)).toEqual([0])
        },
      ),
    )
  })

  test('counts what other replicas let through', async () => {
    const { totals, share } = sums()
    const [here, there] = [windows({ share }), windows({ share })]
    here.take('a', 3, bursts)
    await until(() => totals.size === 1)

    expect(there.take('a', 1, bursts)).toEqual([0])
    await until(() => there.take('a', 1, bursts)[0] !== 0)
    expect(there.take('a', 1, bursts)[0]).toBeGreaterThan(0)
  })

  test('takes the place of a window, and gives it back, when a reload changes the limit', () => {
    const { take } = windows()

    expect(take('a', 4)).toEqual([0, 0, 0, 60])
    expect(take('a', 4, bursts)).toEqual([0, 0, 0, 1])
    expect(take('a', 3, { ...bursts, requests: 6 })).toEqual([0, 0, 3])
    expect(take('a', 1)).toEqual([0])
  })
})

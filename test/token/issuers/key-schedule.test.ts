import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IssuerKeySet } from '../../../src/token/issuers/issuer-key-set.ts'
import { createKeySchedule } from '../../../src/token/issuers/key-schedule.ts'

const times = { refreshSeconds: 300, cooldownSeconds: 30, waitMs: 2000, maxKeyAgeSeconds: 3600 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An issuer that answers as `answer` says, and counts. */
function setUp(first: { answer?: 'set' | 'error' | 'hang'; takesMs?: number } = {}) {
  const begun: number[] = []
  const issuer = { answer: 'set', takesMs: 0, version: 1, ...first }
  const failed = vi.fn()
  const schedule = createKeySchedule({
    ...times,
    onFailed: failed,
    async fetch() {
      begun.push(performance.now())
      if (issuer.answer === 'hang') await new Promise(() => {})
      if (issuer.takesMs > 0) await new Promise((done) => setTimeout(done, issuer.takesMs))
      if (issuer.answer === 'error') throw new Error('unreachable')
      return { version: issuer.version } as unknown as IssuerKeySet
    },
  })
  const version = () => (schedule.current() as unknown as { version: number } | undefined)?.version
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)
  return { schedule, issuer, begun, failed, version, pass }
}

describe('the keys of an issuer', () => {
  test('are fetched at once and then ahead of time, without any request', async () => {
    const { version, begun, issuer, pass } = setUp()
    expect(version()).toBeUndefined()

    await pass(0)
    expect(version()).toBe(1)
    issuer.version = 2
    await pass(301)

    expect(version()).toBe(2)
    expect(begun).toHaveLength(2)
    expect((begun[1] ?? 0) - (begun[0] ?? 0)).toBeGreaterThanOrEqual(240_000)
  })

  test('are fetched again at once after a fetch that took longer than the time to the next', async () => {
    const { begun, pass } = setUp({ answer: 'error', takesMs: 60_000 })
    const fake = globalThis.setTimeout
    const delays: number[] = []
    const recording = (run: () => void, ms = 0) => {
      delays.push(ms)
      return fake(run, ms)
    }
    globalThis.setTimeout = recording as typeof setTimeout

    await pass(61)

    expect(begun).toHaveLength(2)
    // Node warns about a negative one.
    expect(delays.filter((ms) => ms < 0)).toEqual([])
    globalThis.setTimeout = fake
  })

  test('are fetched once for any number of unknown kids in a cool-down', async () => {
    const { schedule, begun, pass } = setUp()
    await pass(31)

    const ask = () => Promise.all(Array.from({ length: 1000 }, () => schedule.refresh()))
    expect(new Set(await ask())).toEqual(new Set([true]))
    expect(new Set(await ask())).toEqual(new Set([false]))
    expect(begun).toHaveLength(2)
    await pass(31)
    expect(await schedule.refresh()).toBe(true)

    expect(begun).toHaveLength(3)
  })

  test('are fetched once in a cool-down while the issuer fails, too', async () => {
    const { schedule, begun, issuer, pass } = setUp()
    await pass(31)
    issuer.answer = 'error'

    for (let at = 0; at < 1000; at++) await schedule.refresh()

    expect(begun).toHaveLength(2)
    expect(schedule.isBehind()).toBe(true)
  })

  test('make a request wait for the fetch in progress, and no longer than the bound', async () => {
    const { schedule, issuer, pass } = setUp()
    await pass(31)
    issuer.answer = 'hang'
    let ended = false
    void schedule.refresh().then(() => {
      ended = true
    })

    await pass(1.9)
    expect(ended).toBe(false)
    await pass(0.2)

    expect(ended).toBe(true)
    expect(schedule.isBehind()).toBe(true)
  })

  test('stay in use while the issuer is unreachable, and no longer than the limit', async () => {
    const { schedule, issuer, version, pass } = setUp()
    await pass(0)
    issuer.answer = 'error'

    await pass(3600)
    expect(version()).toBe(1)
    await pass(1)
    expect(version()).toBeUndefined()
    expect(schedule.ageSeconds()).toBeGreaterThan(3600)
    issuer.answer = 'set'
    await pass(361)

    expect(version()).toBe(1)
    expect(schedule.isBehind()).toBe(false)
  })

  test('count their age from the beginning of the fetch', async () => {
    const { schedule, version, pass } = setUp({ takesMs: 4000 })
    await pass(4)

    expect(version()).toBe(1)
    expect(schedule.ageSeconds()).toBeGreaterThanOrEqual(4)
  })

  test('are fetched sooner after a failure, and less and less often', async () => {
    const { begun, pass, failed } = setUp({ answer: 'error' })
    await pass(1000)

    const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0))

    expect(gaps[0]).toBeLessThanOrEqual(36_000)
    expect(gaps[1]).toBeGreaterThanOrEqual(60_000)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(360_000)
    expect(failed).toHaveBeenCalledTimes(begun.length)
  })

  test('are not fetched any more after the end', async () => {
    const { schedule, begun, pass } = setUp()
    await pass(0)

    schedule.close()
    await schedule.refresh()
    await pass(10_000)

    expect(begun).toHaveLength(1)
  })

  test('are never fetched twice in a cool-down, whatever happens when', async () => {
    const step = fc.record({
      seconds: fc.integer({ min: 0, max: 90 }),
      answer: fc.constantFrom('set' as const, 'error' as const),
      takesMs: fc.integer({ min: 0, max: 5000 }),
      asks: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { schedule, issuer, begun, pass } = setUp()
        for (const { seconds, answer, takesMs, asks } of steps) {
          Object.assign(issuer, { answer, takesMs })
          if (asks) void schedule.refresh()
          await pass(seconds)
        }
        schedule.close()
        await pass(10)

        const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0))
        expect(Math.min(...gaps, 30_000)).toBeGreaterThanOrEqual(30_000)
      }),
      { numRuns: 50 },
    )
  })
})

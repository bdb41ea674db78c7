import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryCaptchas } from '../../src/stores/memory-captchas.ts'
import { createMemoryCounters } from '../../src/stores/memory-counters.ts'

describe('captchas in memory', () => {
  function captchas({ maxOutstanding = 100, start = 0 } = {}) {
    const clock = { now: start }
    return { clock, ...createMemoryCaptchas({ maxOutstanding, now: () => clock.now }) }
  }

  test('can be taken once', async () => {
    const { put, take } = captchas()
    await put('one', 'digest', 60)

    const taken = await Promise.all([take('one'), take('one'), take('one')])

    expect(taken).toEqual(['digest', undefined, undefined])
  })

  test.each([
    ['in time', 59_999, 'digest'],
    ['at the last moment', 60_000, undefined],
    ['too late', 90_000, undefined],
  ])('are answered %s', async (_, now, expected) => {
    const { put, take, clock } = captchas()
    await put('one', 'digest', 60)

    clock.now = now

    expect(await take('one')).toBe(expected)
  })

  test('that nobody issued do not exist', async () => {
    expect(await captchas().take('__proto__')).toBeUndefined()
  })

  test('beyond the bound push the oldest out', async () => {
    const { put, take } = captchas({ maxOutstanding: 3 })
    for (const id of ['a', 'b', 'c', 'd']) await put(id, id, 60)

    expect(await Promise.all(['a', 'b', 'c', 'd'].map(take))).toEqual([undefined, 'b', 'c', 'd'])
  })

  test('are never more than the bound, and each is taken at most once', async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('put', 'take'), fc.nat(20)))
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const { put, take } = captchas({ maxOutstanding: 5 })
        const offered = new Set<number>()
        for (const [step, id] of sequence) {
          if (step === 'put') {
            await put(String(id), String(id), 60)
            offered.add(id)
          } else if ((await take(String(id))) !== undefined) {
            expect(offered.delete(id)).toBe(true)
          }
        }

        const left = await Promise.all([...offered].map((id) => take(String(id))))
        expect(left.filter((digest) => digest !== undefined).length).toBeLessThanOrEqual(5)
      }),
    )
  })
})

describe('counters in memory', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const limit = { points: 2, seconds: 60 }

  test('allow as many hits as the limit has points, then say how long to wait', async () => {
    const { hit } = createMemoryCounters()

    expect(await hit('key', limit)).toEqual({ allowed: true, retryAfterSeconds: 0 })
    expect(await hit('key', limit)).toEqual({ allowed: true, retryAfterSeconds: 0 })
    vi.advanceTimersByTime(10_500)
    expect(await hit('key', limit)).toEqual({ allowed: false, retryAfterSeconds: 50 })
    expect(await hit('another key', limit)).toEqual({ allowed: true, retryAfterSeconds: 0 })
  })

  test('start anew when their time is over', async () => {
    const { hit } = createMemoryCounters()
    for (let turn = 0; turn < 3; turn++) await hit('key', limit)

    vi.advanceTimersByTime(60_000)

    expect(await hit('key', limit)).toEqual({ allowed: true, retryAfterSeconds: 0 })
  })

  test('are reset under every limit at once', async () => {
    const { hit, reset } = createMemoryCounters()
    const strict = { points: 1, seconds: 600 }
    for (let turn = 0; turn < 3; turn++) await Promise.all([hit('key', limit), hit('key', strict)])

    await reset('key')

    expect(await hit('key', limit)).toMatchObject({ allowed: true })
    expect(await hit('key', strict)).toMatchObject({ allowed: true })
  })

  test('keep no more keys than they may, and keep the one that is being hit', async () => {
    const { hit } = createMemoryCounters({ maxKeys: 100 })
    for (let turn = 0; turn < 2; turn++) await hit('attacked', limit)

    for (let other = 0; other < 1000; other++) {
      await hit(`other ${other}`, limit)
      if (other % 50 === 0) await hit('attacked', limit)
    }

    expect(vi.getTimerCount()).toBeLessThanOrEqual(100)
    expect(await hit('attacked', limit)).toMatchObject({ allowed: false })
  })
})

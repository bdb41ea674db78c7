import { describe, expect, test } from 'vitest'
import { createComparisonSchedule } from '../../src/stores/revocations/comparison-schedule.ts'

/** A clock that only the test moves, and how long it takes from now until a comparison is due. */
function clocked(random = () => 0.999) {
  let ms = 1_000_000
  const times = createComparisonSchedule({ now: () => ms, random })
  const wait = (milliseconds: number) => {
    ms += milliseconds
  }
  function dueAfterMs(): number {
    const from = ms
    while (!times.isDue()) wait(10)
    return ms - from
  }
  function compare(): void {
    times.begun()
    times.done()
  }
  return { times, wait, dueAfterMs, compare }
}

describe('the time of the next comparison of revocation lists', () => {
  test('a gateway that has just started compares at once', () => {
    expect(clocked().dueAfterMs()).toBe(0)
  })

  test('a thousand gateways that come back together spread a long list over five seconds', () => {
    const waits = Array.from({ length: 1000 }, (_, at) => {
      const { times, compare, wait, dueAfterMs } = clocked(() => at / 1000)
      compare()
      wait(120_000)
      times.soon(1000)
      return dueAfterMs()
    })

    for (const second of [0, 1, 2, 3, 4]) {
      const share = waits.filter((ms) => ms >= second * 1000 && ms < (second + 1) * 1000).length
      expect(share).toBeGreaterThan(150)
      expect(share).toBeLessThan(250)
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000)
  })

  test('a short list is compared at once', () => {
    const { times, compare, dueAfterMs } = clocked()
    compare()
    times.soon(49)

    expect(dueAfterMs()).toBe(0)
  })

  test('a second request for a comparison does not postpone the first', () => {
    const { times, compare, wait, dueAfterMs } = clocked()
    compare()
    wait(120_000)
    times.soon(1000)
    wait(3000)
    times.soon(1000)

    expect(dueAfterMs()).toBeLessThanOrEqual(2000)
  })

  test('a connection lost again and again doubles the spread, up to a minute', () => {
    const { times, compare, dueAfterMs } = clocked()
    compare()
    const waits = Array.from({ length: 7 }, () => {
      times.soon(1000)
      const ms = dueAfterMs()
      compare()
      return Math.round(ms / 1000)
    })

    // Each comparison is within a minute of the one before, so that the next may wait twice as long.
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40])
    expect(Math.max(...waits)).toBeLessThanOrEqual(60)
  })

  test('after a quiet minute the spread is five seconds again', () => {
    const { times, compare, wait, dueAfterMs } = clocked()
    for (let at = 0; at < 4; at++) compare()
    wait(61_000)
    compare()
    times.soon(1000)

    expect(dueAfterMs()).toBeLessThanOrEqual(5000)
  })

  test('attempts that fail back off, up to a minute, and start again after a success', () => {
    const { times, compare, wait, dueAfterMs } = clocked()
    compare()
    wait(120_000)
    const waits = Array.from({ length: 6 }, () => {
      times.begun()
      times.failed(0)
      return Math.round(dueAfterMs() / 1000)
    })

    expect(waits).toEqual([1, 2, 4, 8, 16, 32])
    for (let at = 0; at < 3; at++) times.failed(0)
    expect(dueAfterMs()).toBeLessThanOrEqual(60_000)

    compare()
    times.begun()
    times.failed(0)
    expect(dueAfterMs()).toBeLessThanOrEqual(1000)
  })

  test('without any loss the list is compared every two and a half to five minutes', () => {
    for (const random of [0, 0.5, 0.999]) {
      const { compare, dueAfterMs } = clocked(() => random)
      compare()
      const ms = dueAfterMs()
      expect(ms).toBeGreaterThanOrEqual(150_000)
      expect(ms).toBeLessThanOrEqual(300_000)
    }
  })
})

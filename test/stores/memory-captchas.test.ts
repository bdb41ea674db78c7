import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMemoryCaptchas } from '../../src/stores/limits/memory-captchas.ts'

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

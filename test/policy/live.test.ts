import { describe, expect, test } from 'vitest'
import { createLivePolicies } from '../../src/policy/live.ts'
import { policies } from './policy-text.ts'

const first = policies({ lines: ['p, a, /first, GET'] })
const second = policies({ lines: ['p, a, /second, GET'] })

describe('live policies', () => {
  test('are a fault of the policies until there are some', () => {
    const live = createLivePolicies()

    expect(() => live.current()).toThrow(
      expect.objectContaining({ name: 'Fault', part: 'policies' }),
    )
    expect([live.revision(), live.since()]).toEqual([undefined, undefined])
  })

  test('are what was swapped in last, since then', () => {
    let now = 1_000
    const live = createLivePolicies(() => now)

    expect(live.swap(first)).toBe(true)
    now = 2_000
    expect(live.swap(second)).toBe(true)

    expect(live.current()).toBe(second)
    expect([live.revision(), live.since()]).toEqual([second.revision, 2_000])
  })

  test.each([
    ['an older one', 6],
    ['the same one again', 7],
    ['one that is no number', Number.NaN],
  ])('are not replaced by %s', (_, sequence) => {
    const live = createLivePolicies()
    live.swap(first, 7)

    expect(live.swap(second, sequence)).toBe(false)
    expect(live.current()).toBe(first)
  })

  test('remember the highest sequence through a swap without one', () => {
    const live = createLivePolicies()
    live.swap(first, 7)

    expect(live.swap(second)).toBe(true)
    expect(live.swap(first, 6)).toBe(false)
    expect(live.swap(first, 8)).toBe(true)
    expect(live.current()).toBe(first)
  })

  test('keep their time when the same revision comes again', () => {
    let now = 1_000
    const live = createLivePolicies(() => now)
    live.swap(first, 1)
    now = 2_000

    live.swap(policies({ lines: ['# moved', 'p, a, /first, GET'] }), 2)

    expect([live.revision(), live.since()]).toEqual([first.revision, 1_000])
    expect(live.current()).not.toBe(first)
  })
})

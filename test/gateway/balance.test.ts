import { describe, expect, test } from 'vitest'
import { createBalance } from '../../src/gateway/upstream/balance.ts'
import { createWarmUp } from '../../src/gateway/upstream/state/warm-up.ts'
import type { Target } from '../../src/gateway/upstream/target.ts'

interface Fake {
  weight?: number
  share?: () => number
  outstanding?: number
  ejected?: boolean
  healthy?: boolean
  open?: boolean
  free?: boolean
}

function target(name: string, fake: Fake): Target {
  return {
    name,
    weight: fake.weight ?? 1,
    share: fake.share ?? (() => 1),
    outstanding: () => fake.outstanding ?? 0,
    waiting: () => 0,
    tunnels: () => 0,
    hasFree: () => fake.free === true,
    isHealthy: () => fake.healthy !== false,
    breaker: { allows: () => fake.open !== true, state: () => (fake.open ? 'open' : 'closed') },
    outlier: { isEjected: () => fake.ejected === true },
  } as Target
}

function chosen(
  fakes: Readonly<Record<string, Fake>>,
  { balance = 'round-robin' as const, times = 1, unequal = true } = {},
) {
  const all = Object.entries(fakes).map(([name, fake]) => target(name, fake))
  const one = createBalance({ balance, maxWaiting: 10, tunnels: 10 })
  if (unequal) one.unequalUntil(Number.POSITIVE_INFINITY)
  return Array.from({ length: times }, () => one.find(all, false)?.name ?? '-').join('')
}

describe('weighted targets', () => {
  test('get requests in proportion, and not in bursts', () => {
    expect(chosen({ a: { weight: 5 }, b: {}, c: {} }, { times: 7 })).toHaveLength(7)
    const turns = chosen({ a: { weight: 5 }, b: {}, c: {} }, { times: 70 })
    expect([...'abc'].map((name) => turns.split(name).length - 1)).toEqual([50, 10, 10])
    expect(turns).not.toMatch(/aaaaaa|bb|cc/)
  })

  test('with the weight 0 get none, also if no other is left', () => {
    expect(chosen({ a: { weight: 0 }, b: {} }, { times: 4 })).toBe('bbbb')
    expect(chosen({ a: { weight: 0 }, b: { open: true } })).toBe('-')
  })

  test('that are unreachable get what has an open connection, if no other is left', () => {
    const open = { open: true, free: true }
    expect(chosen({ a: open, b: { open: true } }, { times: 3 })).toBe('aaa')
    expect(chosen({ a: open, b: { ejected: true } }, { times: 3 })).toBe('bbb')
    expect(chosen({ a: { ...open, weight: 0 }, b: { open: true } })).toBe('-')
    const one = createBalance({ balance: 'round-robin', maxWaiting: 10, tunnels: 10 })
    expect(one.find([target('a', open)], true)).toBe(undefined)
  })

  test('have as many requests in progress as their weight allows, with least-outstanding', () => {
    const balance = 'least-outstanding' as never
    expect(chosen({ a: { weight: 4, outstanding: 2 }, b: { outstanding: 1 } }, { balance })).toBe(
      'a',
    )
    expect(chosen({ a: { weight: 4, outstanding: 9 }, b: { outstanding: 1 } }, { balance })).toBe(
      'b',
    )
  })

  test('that are ejected or unhealthy get none, unless all are', () => {
    expect(chosen({ a: { ejected: true }, b: {} }, { times: 3, unequal: false })).toBe('bbb')
    expect(chosen({ a: { ejected: true }, b: { healthy: false } }, { times: 2 })).toMatch(
      /a.*b|b.*a/,
    )
    expect(chosen({ a: { ejected: true }, b: { weight: 0 } })).toBe('a')
  })

  test('get a share that grows linearly while they warm up', () => {
    let time = 0
    let warmAt = 0
    const warmUp = createWarmUp(
      (until) => {
        warmAt = until
      },
      () => time,
    )
    expect(warmUp.share()).toBe(1)
    warmUp.start(100, 1000)
    const shares = [0, 150, 600, 1099, 1100].map((now) => {
      time = now
      return warmUp.share()
    })
    expect(shares).toEqual([0.1, 0.1, 0.5, 0.999, 1])
    expect(warmAt).toBe(1100)
    const turns = chosen({ a: { share: () => 0.1 }, b: {} }, { times: 110 })
    expect(turns.split('a').length - 1).toBe(10)
  })
})

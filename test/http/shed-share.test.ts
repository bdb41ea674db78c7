import { describe, expect, test } from 'vitest'
import { createShedShare } from '../../src/http/port/shed-share.ts'

const limitMs = 500

/** Samples as an event loop would give them that is this late each time. */
function run(delays: readonly number[], share = createShedShare(limitMs), from = 0) {
  let at = from
  const shares = delays.map((late) => {
    at += 50 + late
    share.sample(late, at)
    return share.now()
  })
  return { share, shares, at }
}

const calm = Array.from({ length: 60 }, () => 2)

describe('the share of new requests that is refused', () => {
  test.each([
    ['nothing but short delays', []],
    ['one long hold', [642]],
    ['one hold of many seconds', [20_000]],
    ['two long holds in a row', [642, 642]],
    ['holds with a pause after each', Array.from({ length: 50 }, (_, at) => (at % 5 ? 10 : 900))],
    ['a delay that stays just below the limit', Array.from({ length: 50 }, () => 499)],
  ])('is nothing after %s', (_, delays) => {
    expect(new Set(run([...calm, ...delays, ...calm]).shares)).toEqual(new Set([0]))
  })

  test('grows while the delay stays above the limit, and is never all', () => {
    const { shares } = run([...calm, ...Array.from({ length: 60 }, () => 600)])

    const shed = shares.slice(calm.length)
    expect(shed).toEqual([...shed].sort((a, b) => a - b))
    expect(shed.findIndex((share) => share > 0)).toBeLessThanOrEqual(3)
    expect(shed.at(-1)).toBe(0.9)
  })

  test('grows faster the later it is', () => {
    const shareAfter = (late: number) =>
      run([...calm, ...Array.from({ length: 6 }, () => late)]).share

    expect(shareAfter(2000).now()).toBeGreaterThan(shareAfter(600).now())
  })

  test('stays where the delay is bearable, and goes away when it is short', () => {
    const { share, at } = run(Array.from({ length: 10 }, () => 700))
    const held = share.now()

    const bearable = run(
      Array.from({ length: 20 }, () => 400),
      share,
      at,
    )
    expect(held).toBeGreaterThan(0)
    expect(share.now()).toBe(held)
    run(
      Array.from({ length: 200 }, () => 5),
      share,
      bearable.at,
    )
    expect(share.now()).toBe(0)
  })
})

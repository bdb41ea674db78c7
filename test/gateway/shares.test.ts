import { describe, expect, test } from 'vitest'
import { createShares } from '../../src/gateway/upstream/shares.ts'

describe('a place in a share', () => {
  // An upstream whose circuit opens fails all of them in one turn.
  test('passes on along a long line of requests that fail at once', () => {
    const shares = createShares(
      () => 1,
      () => 50_000,
    )
    const share = shares.of('a client')
    let begun = 0
    expect(shares.hold(share)).toBe(true)
    for (let turn = 0; turn < 50_000; turn++) shares.wait(share, () => begun++ < 0)

    shares.release(share)

    expect([begun, share.held, share.line.length]).toEqual([50_000, 0, 0])
    expect(shares.of('a client')).not.toBe(share)
  })

  test('stays with the first that begins', () => {
    const shares = createShares(
      () => 1,
      () => 10,
    )
    const share = shares.of('a client')
    shares.hold(share)
    const begun: number[] = []
    for (let turn = 0; turn < 4; turn++) shares.wait(share, () => begun.push(turn) === 2)

    shares.release(share)

    expect([begun, share.held, share.line.length]).toEqual([[0, 1], 1, 2])
  })
})

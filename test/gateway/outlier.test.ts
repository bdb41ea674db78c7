import { describe, expect, test } from 'vitest'
import type { Tally } from '../../src/gateway/upstream/state/error-share.ts'
import {
  createOutlier,
  type Ejection,
  type OutlierSettings,
} from '../../src/gateway/upstream/state/outlier.ts'

type Changes = Partial<OutlierSettings> & { readonly mayEject?: boolean; readonly others?: Tally }

function start({ mayEject = true, others, ...changed }: Changes = {}) {
  let time = 1000
  let attempt = 0
  const ejections: Ejection[] = []
  const settings = {
    errorShare: { percent: 0, requests: 10, intervalMs: 1000 },
    ...{ consecutive5xx: 3, consecutiveBroken: 3, baseEjectionMs: 100, maxEjectionMs: 250 },
    ...{ maxEjectedPercent: 50, rampMs: 0, ...changed },
  }
  const outlier = createOutlier(settings, {
    mayEject: () => mayEject,
    ...(others && { others: () => others }),
    onEjected: (ejection) => ejections.push(ejection),
    now: () => time,
  })
  const answer = (...statuses: readonly number[]) => {
    for (const status of statuses) {
      outlier.answered(++attempt, status)
      outlier.completed(attempt)
    }
  }
  const breakOff = (times: number) => {
    for (let turn = 0; turn < times; turn++) {
      outlier.answered(++attempt, 200)
      outlier.broke(attempt, attempt)
    }
  }
  const wait = (ms: number) => {
    time += ms
  }
  const change = (next: Partial<OutlierSettings>) => outlier.change({ ...settings, ...next })
  return { outlier, ejections, answer, breakOff, wait, change }
}

describe('outlier detection', () => {
  test('ejects after consecutive 5xx responses, and any other status begins anew', () => {
    const { outlier, ejections, answer } = start()
    answer(500, 503, 404, 500, 502, 200, 500, 500)
    expect(outlier.isEjected()).toBe(false)
    answer(599)
    expect(outlier.isEjected()).toBe(true)
    expect(ejections).toEqual([{ reason: 'consecutive-5xx', forMs: 100 }])
  })

  test('ejects after consecutive broken responses, although each began well', () => {
    const { outlier, ejections, breakOff, answer } = start()
    breakOff(2)
    answer(200)
    breakOff(2)
    expect(outlier.isEjected()).toBe(false)
    breakOff(1)
    expect(ejections).toEqual([{ reason: 'consecutive-broken', forMs: 100 }])
  })

  test('counts responses that one restart breaks off as one', () => {
    const { outlier } = start()
    for (let attempt = 1; attempt <= 50; attempt++) outlier.answered(attempt, 200)
    for (let attempt = 1; attempt <= 50; attempt++) outlier.broke(attempt, 50)
    expect(outlier.isEjected()).toBe(false)
  })

  test('counts nothing where it is off, or where too many targets are ejected', () => {
    const off = start({ consecutive5xx: 0, consecutiveBroken: 0 })
    off.answer(...Array.from({ length: 50 }, () => 500))
    off.breakOff(50)
    const last = start({ mayEject: false })
    last.answer(500, 500, 500, 500)

    expect([off.outlier.isEjected(), last.outlier.isEjected()]).toEqual([false, false])
  })

  test('ejects for longer each time, up to the maximum, after the first failure on return', () => {
    const { ejections, answer, wait } = start()
    answer(500, 500, 500)
    for (let turn = 0; turn < 3; turn++) {
      wait(250)
      answer(500)
    }
    expect(ejections.map(({ forMs }) => forMs)).toEqual([100, 200, 250, 250])
  })

  test('takes it back after a success, and forgets ejections while it serves', () => {
    const { outlier, ejections, answer, wait } = start()
    answer(500, 500, 500)
    wait(100)
    answer(200, 500, 500)
    expect(outlier.isEjected()).toBe(false)
    answer(500)
    expect(ejections.at(-1)?.forMs).toBe(200)
    wait(200)
    answer(200)
    wait(1000)
    answer(500, 500, 500)
    expect(ejections.at(-1)?.forMs).toBe(100)
  })

  test('ignores responses to requests sent before the ejection', () => {
    const { outlier, ejections, wait } = start({ consecutive5xx: 1 })
    outlier.answered(1, 200)
    outlier.answered(9, 500)
    wait(100)
    outlier.answered(5, 500)
    expect([outlier.isEjected(), ejections.length]).toEqual([false, 1])
  })
})

/** Off for everything but the share of failed requests. */
const byShare = {
  ...{ consecutive5xx: 0, consecutiveBroken: 0, baseEjectionMs: 5000, maxEjectionMs: 5000 },
  errorShare: { percent: 40, requests: 10, intervalMs: 1000 },
}

describe('the share of failed requests', () => {
  const half = [200, 500, 200, 500, 200, 500, 200, 500, 200, 500]

  test('ejects a target that fails a steady part, after the interval', () => {
    const { outlier, ejections, answer, wait } = start(byShare)
    answer(...half)
    expect(ejections).toEqual([])
    wait(1000)
    answer(200)
    expect(ejections).toEqual([{ reason: 'error-share', forMs: 5000 }])
    expect(outlier.ejections()).toMatchObject({ 'error-share': 1 })
  })

  test('counts broken responses, and requests without one', () => {
    const { outlier, ejections, answer, breakOff, wait } = start(byShare)
    answer(200, 200, 200, 200, 200, 200)
    breakOff(2)
    for (const attempt of [101, 102]) outlier.failed(attempt)
    expect(outlier.tally(1)).toEqual({ requests: 10, failures: 4 })
    wait(1000)
    outlier.answered(103, 200)
    expect(ejections).toHaveLength(1)
  })

  test('means nothing with fewer requests, a smaller share, or after a longer pause', () => {
    const { ejections, answer, wait } = start(byShare)
    answer(500, 500, 500, 500, 500, 500, 500, 500, 500)
    wait(1000)
    answer(...half.map((status, at) => (at < 4 ? 200 : status)))
    wait(1000)
    answer(...half)
    wait(2000)
    answer(200)
    expect(ejections).toEqual([])
  })

  test('is compared with the others, which must fail half as often at most', () => {
    const compared = (failures: number) => {
      const { ejections, answer, wait } = start({ ...byShare, others: { requests: 100, failures } })
      answer(...half)
      wait(1000)
      answer(200)
      return ejections.length
    }
    expect([compared(0), compared(25), compared(26), compared(50)]).toEqual([1, 1, 0, 0])
  })

  test('leaves out breaks of responses that began in an earlier interval', () => {
    const { outlier, ejections, answer, wait } = start(byShare)
    answer(...Array.from({ length: 10 }, () => 200))
    wait(1000)
    answer(...Array.from({ length: 20 }, () => 200))
    for (let attempt = 1; attempt <= 10; attempt++) outlier.broke(attempt, 30)
    wait(1000)
    answer(200)
    expect(ejections).toEqual([])
  })

  test('begins anew with an ejection, whatever its reason', () => {
    const { outlier, ejections, answer, wait } = start({
      ...byShare,
      ...{ consecutive5xx: 10, baseEjectionMs: 100, maxEjectionMs: 100 },
    })
    answer(...Array.from({ length: 10 }, () => 500))
    wait(1000)
    answer(...Array.from({ length: 10 }, () => 200))
    wait(1000)
    answer(200)
    expect(ejections.map(({ reason }) => reason)).toEqual(['consecutive-5xx'])
    expect(outlier.recent()).toEqual({ requests: 10, failures: 0 })
  })
})

describe('other settings', () => {
  test('shorten an ejection, and end one whose detection is off', () => {
    const { outlier, answer, change } = start({ baseEjectionMs: 10_000, maxEjectionMs: 10_000 })
    answer(500, 500, 500)
    expect(change({ baseEjectionMs: 10_000, maxEjectionMs: 20_000 })).toBe(false)
    expect(outlier.remainingMs()).toBe(10_000)
    expect(change({ maxEjectionMs: 700 })).toBe(true)
    expect(outlier.remainingMs()).toBe(700)
    expect(change({ maxEjectionMs: 700, consecutive5xx: 0 })).toBe(true)
    expect(outlier.isEjected()).toBe(false)
  })

  test('apply to the count that has begun, and to the return of a target', () => {
    const { outlier, answer, wait, change } = start()
    answer(500, 500)
    change({ consecutive5xx: 5 })
    answer(500, 500)
    expect(outlier.isEjected()).toBe(false)
    answer(500)
    expect(outlier.isEjected()).toBe(true)
    change({ consecutive5xx: 2 })
    wait(100)
    answer(500)
    expect(outlier.isEjected()).toBe(true)
  })
})

import { describe, expect, test } from 'vitest'
import type { Tally } from '../../src/gateway/upstream/state/error-share.ts'
import {
  createOutlier,
  type Ejection,
  type OutlierSettings,
} from '../../src/gateway/upstream/state/outlier.ts'

type Changes = Partial<OutlierSettings> & {
  readonly mayEject?: boolean
  readonly others?: Pick<Tally, 'callers' | 'failing'>
}

function start({ mayEject = true, others, ...changed }: Changes = {}) {
  let time = 1000
  let who = 'a'
  const ejections: Ejection[] = []
  const settings = {
    errorShare: { percent: 0, requests: 10, intervalMs: 1000 },
    ...{ consecutive5xx: 3, consecutiveBroken: 3, baseEjectionMs: 100, maxEjectionMs: 250 },
    ...{ maxEjectedPercent: 50, rampMs: 0, ...changed },
  }
  const outlier = createOutlier(settings, {
    mayEject: () => mayEject,
    ...(others && { others: () => ({ requests: 0, failures: 0, ...others }) }),
    onEjected: (ejection) => ejections.push(ejection),
    now: () => time,
  })
  const answer = (...statuses: readonly number[]) => {
    for (const status of statuses) {
      const attempt = outlier.began()
      outlier.answered(attempt, who, status)
      outlier.completed(attempt)
    }
  }
  const breakOff = (times: number) => {
    for (let turn = 0; turn < times; turn++) {
      const attempt = outlier.began()
      outlier.answered(attempt, who, 200)
      outlier.broke(attempt, who)
    }
  }
  const fail = (times: number, hasBroken: boolean) => {
    for (let turn = 0; turn < times; turn++) outlier.failed(outlier.began(), who, hasBroken)
  }
  const as = (caller: string) => {
    who = caller
  }
  const wait = (ms: number) => {
    time += ms
  }
  const change = (next: Partial<OutlierSettings>) => outlier.change({ ...settings, ...next })
  return { outlier, ejections, answer, breakOff, fail, as, wait, change }
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
    const attempts = Array.from({ length: 50 }, () => outlier.began())
    for (const attempt of attempts) outlier.answered(attempt, 'a', 200)
    for (const attempt of attempts) outlier.broke(attempt, 'a')
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
    const [first, early, last] = [outlier.began(), outlier.began(), outlier.began()]
    outlier.answered(first, 'a', 200)
    outlier.answered(last, 'a', 500)
    wait(100)
    outlier.answered(early, 'a', 500)
    expect([outlier.isEjected(), ejections.length]).toEqual([false, 1])
  })
})

describe('requests without a response', () => {
  test('eject as broken responses do, whether the connection breaks or the time is up', () => {
    const { ejections, fail, breakOff, answer } = start()
    fail(2, true)
    answer(200)
    fail(1, true)
    breakOff(1)
    expect(ejections).toEqual([])
    fail(1, false)
    expect(ejections).toEqual([{ reason: 'consecutive-broken', forMs: 100 }])
  })

  test('count once if one event has broken their connections', () => {
    const { outlier, fail } = start()
    const attempts = Array.from({ length: 50 }, () => outlier.began())
    for (const attempt of attempts) outlier.failed(attempt, 'a', true)
    fail(1, true)
    expect(outlier.isEjected()).toBe(false)
    fail(1, true)
    expect(outlier.isEjected()).toBe(true)
  })
})

describe('a caller', () => {
  test.each([
    ['errors', { consecutive5xx: 3 }],
    ['broken connections', { consecutiveBroken: 3 }],
  ])('with %s in a row ejects nothing that others use', (_, settings) => {
    const { outlier, answer, fail, as, wait } = start(settings)
    const failAs = (who: string, times: number) => {
      as(who)
      if ('consecutive5xx' in settings) answer(...Array.from({ length: times }, () => 500))
      else fail(times, true)
    }
    answer(200)
    failAs('b', 100)
    expect(outlier.isEjected()).toBe(false)
    wait(9999)
    failAs('b', 1)
    expect(outlier.isEjected()).toBe(false)

    failAs('c', 1)
    expect(outlier.isEjected()).toBe(true)
  })

  test('is enough if no other has called for a while', () => {
    const { outlier, answer, fail, as, wait } = start()
    answer(200)
    as('b')
    fail(3, true)
    wait(10_000)
    expect(outlier.isEjected()).toBe(false)
    fail(1, true)
    expect(outlier.isEjected()).toBe(true)
  })

  test('does not prolong an ejection alone', () => {
    const { outlier, answer, fail, as, wait } = start()
    fail(2, true)
    as('b')
    fail(1, true)
    expect(outlier.isEjected()).toBe(true)
    wait(100)
    fail(20, true)
    expect(outlier.isEjected()).toBe(false)
    as('a')
    answer(200)
    as('b')
    fail(2, true)
    expect(outlier.isEjected()).toBe(false)
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
    const { outlier, ejections, answer, breakOff, fail, wait } = start(byShare)
    answer(200, 200, 200, 200, 200, 200)
    breakOff(2)
    fail(1, true)
    fail(1, false)
    expect(outlier.tally(1)).toEqual({ requests: 10, failures: 4, callers: 1, failing: 0.4 })
    wait(1000)
    answer(200)
    expect(ejections).toHaveLength(1)
  })

  test.each([
    [['bad', 'one', 'two'], 0],
    [['bad', 'worse', 'one', 'two'], 1],
  ])('counts every caller as much as any other: %j', (callers, count) => {
    const { ejections, answer, as, wait } = start(byShare)
    for (const who of callers) {
      const isGood = who === 'one' || who === 'two'
      as(who)
      answer(...Array.from({ length: isGood ? 5 : 1000 }, () => (isGood ? 200 : 500)))
    }
    wait(1000)
    answer(200)
    expect(ejections).toHaveLength(count)
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
      const { ejections, answer, wait } = start({
        ...byShare,
        others: { callers: 100, failing: failures },
      })
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
    for (let attempt = 1; attempt <= 10; attempt++) outlier.broke(attempt, 'a')
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
    expect(outlier.recent()).toMatchObject({ requests: 10, failures: 0 })
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

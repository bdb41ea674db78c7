import { describe, expect, test } from 'vitest'
import { createOutlier, type Ejection } from '../../src/gateway/upstream/outlier.ts'

function start({ mayEject = true, ...changed }: Readonly<Record<string, number | boolean>> = {}) {
  let time = 1000
  let attempt = 0
  const ejections: Ejection[] = []
  const settings = {
    ...{ consecutive5xx: 3, consecutiveBroken: 3, baseEjectionMs: 100, maxEjectionMs: 250 },
    ...{ maxEjectedPercent: 50, rampMs: 0, ...changed },
  }
  const outlier = createOutlier(settings, {
    mayEject: () => mayEject === true,
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
  return { outlier, ejections, answer, breakOff, wait }
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

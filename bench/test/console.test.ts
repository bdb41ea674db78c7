import { describe, expect, test } from 'vitest'
import { cpuSecondsOf } from '../console/cpu.ts'
import { comparePhases, intervalOf, median } from '../console/figures.ts'
import { liveShareOf } from '../console/live-share.ts'
import { filesOf } from '../console/policy.ts'

describe('the benchmark of the console', () => {
  test('compares each phase with those around it, so that a slow minute does not decide', () => {
    const levels = [40, 41, 40, 61.2, 80, 82, 80]
    const phases = levels.map((level, at) => ({
      isWatched: at % 2 === 1,
      // A window in which the machine did something else.
      cpuMicros: [level, level, level * 3],
    }))

    expect(comparePhases(phases)).toMatchObject({
      ratio: 1.025,
      phases: [1.025, 1.02, 1.025],
      cpuMicros: { without: 60, watched: 61.2 },
      control: { ratio: 1 },
    })
  })

  test('says within which bounds the median is', () => {
    const [low, high] = intervalOf(Array.from({ length: 101 }, (_, at) => at))

    expect(low).toBeGreaterThan(25)
    expect(low).toBeLessThan(45)
    expect(high).toBeGreaterThan(55)
    expect(high).toBeLessThan(75)
    expect(intervalOf([2, 2, 2])).toEqual([2, 2])
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
  })

  test('finds the samples of a profile that are for live pages', () => {
    const frame = (functionName: string, url = '') => ({ functionName, url: `file:///src/${url}` })
    const watch = 'gateway/evidence/decision-watch.ts'
    const nodes = [
      { id: 1, callFrame: frame('(root)'), children: [2, 3, 4, 8, 9] },
      { id: 2, callFrame: frame('(idle)') },
      { id: 3, callFrame: frame('(program)') },
      { id: 4, callFrame: frame('', watch), children: [5, 6] },
      { id: 5, callFrame: frame('admit', 'gateway/pipeline.ts') },
      { id: 6, callFrame: frame('note', watch), children: [7] },
      { id: 7, callFrame: frame('describe', 'gateway/evidence/decision-record.ts') },
      { id: 8, callFrame: frame('(garbage collector)') },
      {
        id: 9,
        callFrame: frame('send', 'stores/policies/replicas/decision-feed.ts'),
        children: [10],
      },
      { id: 10, callFrame: frame('run', 'stores/redis/redis.ts') },
    ]

    expect(liveShareOf({ nodes, samples: [2, 2, 3, 4, 5, 5, 5, 6, 7, 10, 8, 8] })).toEqual({
      ...{ live: 4, samples: 10, share: 0.4, collected: 0.2 },
    })
  })

  test('reads the CPU time of this process', () => {
    const before = cpuSecondsOf(process.pid)
    const end = performance.now() + 50
    while (performance.now() < end);

    expect(cpuSecondsOf(process.pid)).toBeGreaterThan(before)
  })

  test('has 10,000 rules of 200 roles', () => {
    const rules = filesOf(1).flatMap(({ name, text }) =>
      name === 'policy.csv' ? text.trim().split('\n') : [],
    )

    expect(rules).toHaveLength(10_000)
    expect(new Set(rules.map((rule) => rule.split(',')[1])).size).toBe(200)
  })
})

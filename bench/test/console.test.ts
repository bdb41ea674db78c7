import { describe, expect, test } from 'vitest'
import { cpuSecondsOf } from '../console/cpu.ts'
import { alternating, compareWindows, lowerQuartile, median } from '../console/figures.ts'
import { filesOf } from '../console/policy.ts'

describe('the benchmark of the console', () => {
  test('compares each window with its neighbor, so that a slow minute does not decide', () => {
    const cpu = [
      ...[40, 41],
      // The machine was slow.
      ...[82, 80],
      ...[40, 40.4],
    ]
    const order = alternating(3)
    const windows = order.map((isWatched, at) => ({ isWatched, cpuMicros: cpu[at] ?? 0 }))

    expect(order).toEqual([false, true, true, false, false, true])
    expect(compareWindows(windows)).toMatchObject({
      ratio: 1.025,
      pairs: [1.025, 1.025, 1.01],
      control: { ratio: 0.5, quartiles: [0.5, 0.5] },
    })
  })

  test('knows the middle and the lower quarter', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
    expect(lowerQuartile([8, 7, 6, 5, 4, 3, 2, 1])).toBe(3)
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

import { describe, expect, test } from 'vitest'
import { aggregateMetrics, createAggregateMetrics } from '../../src/metrics/aggregate.ts'
import { createMetricRegistry, metricsText } from '../../src/metrics/registry.ts'
import type { MetricSnapshot, SnapshotValue } from '../../src/metrics/snapshot.ts'

type Rule = MetricSnapshot['aggregate']

function metric(
  type: MetricSnapshot['type'],
  values: readonly SnapshotValue[],
  rule?: Rule,
): MetricSnapshot {
  return { name: 'a', help: 'h', type, aggregate: rule, values }
}

const value = (number: number, labels = {}) => ({ value: number, labels })

describe('the metrics of several workers', () => {
  test.each<[string, MetricSnapshot['type'], Rule, number]>([
    ['counters add up', 'counter', undefined, 5],
    ['gauges can add up', 'gauge', 'sum', 5],
    ['gauges can show the greatest', 'gauge', 'max', 3],
    ['gauges can show the least', 'gauge', 'min', 2],
  ])('are one: %s', (_, type, rule, expected) => {
    const sets = [2, 3].map((number, at) => ({
      worker: at + 1,
      metrics: [metric(type, [value(number)], rule)],
    }))

    expect(aggregateMetrics(sets)[0]?.values).toEqual([value(expected)])
  })

  test('that have no rule are shown by worker', () => {
    const sets = [2, 3].map((number, at) => ({
      worker: at + 1,
      metrics: [metric('gauge', [value(number, { kind: 'k' })])],
    }))

    expect(aggregateMetrics(sets)[0]?.values).toEqual([
      value(2, { kind: 'k', worker: '1' }),
      value(3, { kind: 'k', worker: '2' }),
    ])
  })

  test('are joined label by label, and what is no number is left out', () => {
    const first = [value(1, { a: 'x', b: 'y' }), value(Number.NaN, { a: 'z' })]
    const second = [value(2, { b: 'y', a: 'x' }), value(4, { a: 'w' })]

    const joined = aggregateMetrics(
      [first, second].map((values, at) => {
        return { worker: at, metrics: [metric('counter', values)] }
      }),
    )

    expect(joined[0]?.values).toEqual([value(3, { a: 'x', b: 'y' }), value(4, { a: 'w' })])
  })

  test('keep what only grows when a worker ends, and forget its gauges', () => {
    const aggregate = createAggregateMetrics()
    const gauge = { ...metric('gauge', [value(7)], 'sum'), name: 'g' }
    aggregate.take(1, [metric('counter', [value(10)]), gauge])
    aggregate.take(2, [metric('counter', [value(5)]), gauge])

    aggregate.ended(1)
    aggregate.ended(1)

    const read = () =>
      Object.fromEntries(aggregate.joined([]).map((f) => [f.name, f.values[0]?.value]))
    expect(read()).toEqual({ a: 15, g: 7 })
    aggregate.take(1, [metric('counter', [value(1)])])
    expect(read()).toEqual({ a: 16, g: 7 })
  })

  test('are written as one worker writes its own, histograms too', async () => {
    const registry = createMetricRegistry()
    const count = registry.counter({ name: 'c_total', help: 'c', labels: ['x'] })
    const time = registry.duration({ name: 'd_seconds', help: 'd', label: 'x' })
    count('1')
    time(0.3, '1')
    const own = JSON.parse(JSON.stringify(await registry.snapshot('own')))

    const text = await metricsText(aggregateMetrics([{ worker: 1, metrics: own }]))
    const twice = await metricsText(aggregateMetrics([own, own].map((f) => ({ metrics: f }))))

    const single = (await registry.text()).split('\n')
    const lines = text.split('\n').filter((line) => line !== '')
    expect(single).toEqual(expect.arrayContaining(lines))
    expect(lines.length).toBeGreaterThan(15)
    expect(twice).toContain('c_total{x="1"} 2')
    expect(twice).toContain('d_seconds_bucket{le="0.5",x="1"} 2')
    expect(twice).toContain('d_seconds_bucket{le="0.25",x="1"} 0')
    expect(twice).toContain('d_seconds_sum{x="1"} 0.6')
  })
})

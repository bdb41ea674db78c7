import { expect, test } from 'vitest'
import { createQuickHistogram } from '../../src/metrics/quick-histogram.ts'
import { createMetricRegistry } from '../../src/metrics/registry.ts'

test('each bucket has all that is at most its bound', async () => {
  const { observe, get } = createQuickHistogram({ name: 'x', help: 'x', buckets: [1, 2, 4] })

  for (const value of [0.5, 1, 1.5, 4, 4.5]) observe(value)

  const { values } = await get()
  expect(values.map(({ metricName, labels, value }) => [metricName, labels['le'], value])).toEqual([
    ['x_bucket', 1, 2],
    ['x_bucket', 2, 3],
    ['x_bucket', 4, 4],
    ['x_bucket', '+Inf', 5],
    ['x_sum', undefined, 11.5],
    ['x_count', undefined, 5],
  ])
})

test('each label has counts of its own, whichever came last', async () => {
  const registry = createMetricRegistry()
  const observe = registry.duration({ name: 'x_seconds', help: 'x', label: 'route' })

  for (const route of ['/a', '/b', '/a', '/a']) observe(0.02, route)

  const text = await registry.text()
  expect(text).toContain('# TYPE x_seconds histogram\n')
  expect(text).toContain('x_seconds_count{route="/a"} 3\n')
  expect(text).toContain('x_seconds_bucket{le="0.01",route="/b"} 0\n')
  expect(text).toContain('x_seconds_bucket{le="0.025",route="/b"} 1\n')
})

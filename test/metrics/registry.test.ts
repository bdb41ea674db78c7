import { expect, test } from 'vitest'
import type { Sample } from '../../src/metrics/counts.ts'
import { createMetricRegistry } from '../../src/metrics/registry.ts'

test('a metric without readings has no sample: 0 would be a statement', async () => {
  const registry = createMetricRegistry()
  let known = true
  const read = () => (known ? 1 : undefined)
  const readLabelled = (): readonly Sample[] => (known ? [[1, 'x']] : [])
  registry.readGauge({ name: 'age_seconds', help: 'An age.', aggregate: 'max', read })
  registry.readCounter({ name: 'failures_total', help: 'Failures.', read })
  registry.readGauge({
    name: 'info',
    help: 'Info.',
    labels: ['of'],
    aggregate: 'max',
    read: readLabelled,
  })
  const samples = async () => (await registry.text()).match(/^(?:age|failures|info).*/gm)

  expect(await samples()).toEqual(['age_seconds 1', 'failures_total 1', 'info{of="x"} 1'])
  known = false
  expect(await samples()).toBeNull()
  known = true
  expect(await samples()).toHaveLength(3)
})

import { describe, expect, test } from 'vitest'
import { createWholeFigures, joinFigures } from '../../src/metrics/aggregate.ts'
import { createFigures, figuresText } from '../../src/metrics/registry.ts'
import type { FigureSnapshot, SnapshotValue } from '../../src/metrics/snapshot.ts'

type Whole = FigureSnapshot['whole']

function figure(
  type: FigureSnapshot['type'],
  values: readonly SnapshotValue[],
  whole?: Whole,
): FigureSnapshot {
  return { name: 'a', help: 'h', type, whole, values }
}

const value = (number: number, labels = {}) => ({ value: number, labels })

describe('the figures of several workers', () => {
  test.each<[string, FigureSnapshot['type'], Whole, number]>([
    ['counters add up', 'counter', undefined, 5],
    ['gauges can add up', 'gauge', 'sum', 5],
    ['gauges can show the greatest', 'gauge', 'max', 3],
    ['gauges can show the least', 'gauge', 'min', 2],
  ])('%s', (_, type, whole, expected) => {
    const sets = [2, 3].map((number, at) => ({
      worker: at + 1,
      figures: [figure(type, [value(number)], whole)],
    }))

    expect(joinFigures(sets)[0]?.values).toEqual([value(expected)])
  })

  test('that have no rule are shown by worker', () => {
    const sets = [2, 3].map((number, at) => ({
      worker: at + 1,
      figures: [figure('gauge', [value(number, { kind: 'k' })])],
    }))

    expect(joinFigures(sets)[0]?.values).toEqual([
      value(2, { kind: 'k', worker: '1' }),
      value(3, { kind: 'k', worker: '2' }),
    ])
  })

  test('are joined label by label, and what is no number is left out', () => {
    const first = [value(1, { a: 'x', b: 'y' }), value(Number.NaN, { a: 'z' })]
    const second = [value(2, { b: 'y', a: 'x' }), value(4, { a: 'w' })]

    const joined = joinFigures(
      [first, second].map((values, at) => {
        return { worker: at, figures: [figure('counter', values)] }
      }),
    )

    expect(joined[0]?.values).toEqual([value(3, { a: 'x', b: 'y' }), value(4, { a: 'w' })])
  })

  test('keep what only grows when a worker ends, and forget its gauges', () => {
    const whole = createWholeFigures()
    const gauge = { ...figure('gauge', [value(7)], 'sum'), name: 'g' }
    whole.take(1, [figure('counter', [value(10)]), gauge])
    whole.take(2, [figure('counter', [value(5)]), gauge])

    whole.ended(1)
    whole.ended(1)

    const read = () => Object.fromEntries(whole.joined([]).map((f) => [f.name, f.values[0]?.value]))
    expect(read()).toEqual({ a: 15, g: 7 })
    whole.take(1, [figure('counter', [value(1)])])
    expect(read()).toEqual({ a: 16, g: 7 })
  })

  test('are written as one worker writes its own, histograms too', async () => {
    const figures = createFigures()
    const count = figures.counter({ name: 'c_total', help: 'c', labels: ['x'] })
    const time = figures.duration({ name: 'd_seconds', help: 'd', label: 'x' })
    count('1')
    time(0.3, '1')
    const own = JSON.parse(JSON.stringify(await figures.snapshot('own')))

    const text = await figuresText(joinFigures([{ worker: 1, figures: own }]))
    const twice = await figuresText(joinFigures([own, own].map((f) => ({ figures: f }))))

    const single = (await figures.text()).split('\n')
    const lines = text.split('\n').filter((line) => line !== '')
    expect(single).toEqual(expect.arrayContaining(lines))
    expect(lines.length).toBeGreaterThan(15)
    expect(twice).toContain('c_total{x="1"} 2')
    expect(twice).toContain('d_seconds_bucket{le="0.5",x="1"} 2')
    expect(twice).toContain('d_seconds_bucket{le="0.25",x="1"} 0')
    expect(twice).toContain('d_seconds_sum{x="1"} 0.6')
  })
})

import { describe, expect, test } from 'vitest'
import { compareWith } from '../run/baseline.ts'
import { drawChart } from '../run/chart.ts'
import { between } from '../run/docs.ts'
import { type Report, reportText, rowsOf } from '../run/report.ts'
import { createResults } from '../run/results.ts'
import { asMarkdown, asText, cpuTable, disturbedTable, targetTable } from '../run/tables.ts'
import { judge, targets } from '../run/targets.ts'
import { workloads } from '../run/workloads.ts'

const postern = { peer: 'postern', workload: 'get' }
const bare = { peer: 'bare', workload: 'get' }

function resultsOf(ours: readonly number[], theirs: readonly number[]) {
  const results = createResults()
  for (const [at, cpuMicros] of ours.entries()) results.add(postern, at + 1, { cpuMicros })
  for (const [at, cpuMicros] of theirs.entries()) results.add(bare, at + 1, { cpuMicros })
  return results
}

const verdictOn = (name: string, results: ReturnType<typeof resultsOf>) =>
  judge(results).find((verdict) => verdict.name === name)

describe('a ratio', () => {
  test('is the median of the ratios of each round, so that a slow round does not decide', () => {
    // The machine was slow in round 2 for both.
    const results = resultsOf([100, 1000, 120], [100, 800, 100])

    expect(results.ratio(postern, bare, 'cpuMicros')).toBe(1.2)
  })

  test('leaves out a round in which either failed', () => {
    const results = createResults()
    results.add(postern, 1, { cpuMicros: 500 })
    results.add(postern, 2, { cpuMicros: 100 })
    results.add(bare, 2, { cpuMicros: 50 })

    expect(results.ratio(postern, bare, 'cpuMicros')).toBe(2)
  })

  test('is not there when one of the two was not measured', () => {
    expect(resultsOf([100], []).ratio(postern, bare, 'cpuMicros')).toBeUndefined()
  })
})

describe('a ratio of windows that follow each other', () => {
  test('is that of the lower quartiles, and counts before that of the rounds', () => {
    const results = createResults()
    results.add({ peer: 'postern', workload: 'get' }, 1, { cpuMicros: 90 })
    results.add({ peer: 'bare', workload: 'get' }, 1, { cpuMicros: 30 })
    results.addPairs('bare', [{ of: 70, to: 50 }])
    results.addPairs('bare', [
      { of: 60, to: 90 },
      { of: 300, to: 52 },
      { of: 59, to: 88 },
      { of: 62, to: 40 },
    ])

    expect(results.pairedRatio('bare')).toBe(1.2)
    expect(judge(results).find(({ name }) => name === 'bare')?.value).toBe(1.2)
    expect(results.pairedRatio('caddy')).toBeUndefined()
  })
})

describe('a target', () => {
  test('is reached up to its limit, and not above', () => {
    expect(verdictOn('bare', resultsOf([110], [100]))).toMatchObject({ value: 1.1, reached: true })
    expect(verdictOn('bare', resultsOf([111], [100]))).toMatchObject({ reached: false })
  })

  test('says so when it was not measured, instead of being reached', () => {
    expect(verdictOn('caddy', resultsOf([1], [1]))).not.toHaveProperty('reached')
    expect(asText(targetTable(judge(createResults())))).not.toMatch(/ reached/)
  })

  test('is about workloads that exist', () => {
    const known = [...workloads.map(({ name }) => name), 'logins', 'reloads']
    const asked = targets.flatMap(({ of, to }) => [of.workload, to?.workload ?? of.workload])

    expect(asked.filter((name) => !known.includes(name.replace('-calm', '')))).toEqual([])
  })
})

describe('the ratios that are kept', () => {
  const kept = { date: '', ratios: { bare: 1 } }

  test('are worse only past fifteen percent', () => {
    const worse = (ours: number) =>
      compareWith(kept, judge(resultsOf([ours], [100]))).map((one) => one.worse)

    expect(worse(114)).toEqual([false])
    expect(worse(116)).toEqual([true])
  })

  test('do not count as good what could not be measured', () => {
    expect(compareWith(kept, judge(createResults()))).toMatchObject([{ worse: false }])
    expect(compareWith(kept, judge(createResults()))[0]).not.toHaveProperty('now')
  })
})

describe('what is written', () => {
  const report = {
    peers: [
      { name: 'postern', title: 'Postern', kind: 'ours', rules: 10_000, version: '' },
      { name: 'bare', title: 'a < b & c', kind: 'plain', version: '' },
    ],
    rows: rowsOf(resultsOf([123.4], [9000])),
  } as unknown as Report

  test('keeps of the samples the median, the spread and the ratio, a line for each', () => {
    const rows = rowsOf(resultsOf([40, 50, 60], [100, 100, 100]))

    expect(rows).toEqual([
      { peer: 'postern', workload: 'get', cpuMicros: 50, spread: [40, 60], ratio: 1 },
      { peer: 'bare', workload: 'get', cpuMicros: 100, spread: [100, 100], ratio: 0.5 },
    ])
    const text = reportText({ ...report, rows })
    expect(JSON.parse(text).rows).toEqual(rows)
    expect(text.split('\n').filter((line) => line.includes('cpuMicros'))).toHaveLength(2)
  })

  test('is a table with a row for each peer and no figure that was not measured', () => {
    expect(asMarkdown(cpuTable(report))).toBe(
      [
        '| CPU µs per request | GET |',
        '| --- | --: |',
        '| Postern, 10,000 rules | 123 |',
        '| a < b & c | 9,000 |',
      ].join('\n'),
    )
  })

  test('says what something does to calls, here and at another gateway', () => {
    const disturbed = createResults()
    const phases = { 'logins-calm': [1, 2], 'logins-elsewhere': [2, 2], logins: [3, 5] }
    for (const [workload, rounds] of Object.entries(phases)) {
      rounds.forEach((p99, at) => void disturbed.add({ peer: 'postern', workload }, at, { p99 }))
    }

    expect(disturbedTable(['logins', 'reloads'], { rows: rowsOf(disturbed) }).slice(1)).toEqual([
      ['logins', '1.5', '2.0', '4.0', '2.75', '2.00'],
      ['reloads', '–', '–', '–', '–', '–'],
    ])
  })

  test('goes between its markers, and nowhere else', () => {
    const text = 'before\n<!-- bench:a -->\nold\n<!-- /bench:a -->\nafter'

    expect(between(text, 'a', 'new')).toBe(
      'before\n<!-- bench:a -->\nnew\n<!-- /bench:a -->\nafter',
    )
    expect(() => between(text, 'b', 'new')).toThrow('no place for b')
  })

  test('is a chart with every peer, escaped, and both colour schemes', () => {
    const svg = drawChart(report)

    expect(svg).toContain('Postern, 10,000 rules')
    expect(svg).toContain('a &lt; b &amp; c')
    expect(svg).toContain('prefers-color-scheme: dark')
  })
})

import { describe, expect, test } from 'vitest'
import { decisionsPerBatch, readBatch } from '../../src/fleet/decision-batch.ts'
import type { DecisionRecord } from '../../src/gateway/evidence/decision-record.ts'
import { createDecisionWatch } from '../../src/gateway/evidence/decision-watch.ts'
import type { Admit } from '../../src/gateway/pipeline.ts'
import { Refusal } from '../../src/kernel/errors.ts'

const record = {
  decision_id: 'd-1',
  timestamp: '2026-11-17T08:00:00.000Z',
  request_id: 'q-1',
  subject: { user_id: '7', role_key: 'clerk' },
  domain: 'north',
  method: 'GET',
  path: '/orders',
  result: 'deny',
  reason: 'rule-denies',
  step: 'rule',
  rule: { file: 'policy.csv', line: 3 },
  labels: { pod: 'gw-1', version: '1.0.0' },
} as unknown as DecisionRecord

/** A gateway that allows or refuses as told, and counts how often a decision is described. */
function watched() {
  const watch = createDecisionWatch()
  let described = 0
  const admit = ((received: unknown) => {
    if (received === 'deny') throw new Refusal('not-permitted')
    return Promise.resolve({ grounds: 'permitted' })
  }) as unknown as Admit
  const wrapped = watch.wrap(admit, (_, came) => {
    described++
    return { ...record, result: came instanceof Error ? 'deny' : 'allow' }
  })
  const ask = async (what: 'allow' | 'deny') => {
    const answer = async () => wrapped(what as never, undefined as never)
    return answer().then(
      () => 'allowed',
      (error: unknown) => (error as Refusal).kind,
    )
  }
  return { ...watch, ask, described: () => described }
}

describe('watching decisions', () => {
  test('describes nothing before someone watches, and then what the console shows', async () => {
    const { ask, take, described } = watched()
    expect(await ask('deny')).toBe('not-permitted')
    expect([described(), take()]).toEqual([0, { decisions: [], leftOut: 0 }])

    expect([await ask('deny'), await ask('allow')]).toEqual(['not-permitted', 'allowed'])
    const { decisions } = take()

    expect(decisions[0]).toEqual({
      ...{ at: record.timestamp, gateway: 'gw-1', method: 'GET', path: '/orders', result: 'deny' },
      ...{ reason: 'rule-denies', step: 'rule', rule: 'policy.csv:3', role: 'clerk', user: '7' },
      ...{ request: 'q-1', domain: 'north' },
    })
    expect(decisions[1]?.result).toBe('allow')
  })

  test('answers at once what is known at once', () => {
    const watch = createDecisionWatch()
    const known = { grounds: 'permitted' }
    const wrapped = watch.wrap((() => known) as unknown as Admit, () => record)
    watch.take()

    expect(wrapped(undefined as never, undefined as never)).toBe(known)
    expect(watch.take().decisions).toHaveLength(1)
  })

  test('describes few, counts the others, and keeps refusals from being crowded out', async () => {
    const { ask, take, described } = watched()
    take()
    for (let turn = 0; turn < 100; turn++) await ask('allow')
    for (let turn = 0; turn < 5; turn++) await ask('deny')
    const { decisions, leftOut } = take()

    expect(decisions.filter(({ result }) => result === 'deny').length).toBe(5)
    expect([decisions.length, leftOut]).toEqual([decisionsPerBatch.allow + 5, 88])
    expect(described()).toBe(decisionsPerBatch.allow + 5)
    await ask('deny')
    expect(take().decisions.length).toBe(1)
  })
})

describe('a batch from another process', () => {
  test('is cut to its limits, and counts what it loses by that', () => {
    const batch = readBatch({
      decisions: Array.from({ length: 30 }, () => ({ path: `/${'x'.repeat(1000)}`, role: 7 })),
      leftOut: 4,
      other: true,
    })

    expect([batch?.decisions.length, batch?.leftOut]).toEqual([25, 9])
    expect(batch?.decisions[0]).toEqual({
      ...{ at: '', gateway: '', method: '', result: 'deny', reason: '', step: '' },
      path: `/${'x'.repeat(299)}…`,
    })
  })

  test.each([undefined, null, 'x', {}, { decisions: {} }])('%o is none', (value) => {
    expect(readBatch(value)).toBeUndefined()
  })

  test.each([-1, 1.5, '3', Number.POSITIVE_INFINITY])('leftOut %o counts as 0', (leftOut) => {
    expect(readBatch({ decisions: [], leftOut })).toEqual({ decisions: [], leftOut: 0 })
  })
})

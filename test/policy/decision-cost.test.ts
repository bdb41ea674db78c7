import { describe, expect, test } from 'vitest'
import { measureDecisions } from '../../src/policy/engine/decision-cost.ts'
import { casbinModels } from './casbin-models.ts'
import { policySet } from './policy-text.ts'

/** Advances by these steps, then by the last one. */
function clock(...steps: readonly number[]): () => number {
  let now = 0
  let at = -1
  return () => {
    const step = steps[Math.min(at++, steps.length - 1)] ?? 0
    now += step
    return now
  }
}

const lines = Array.from({ length: 200 }, (_, at) => `p, role-${at}, /a-${at}/:id, GET`)
const set = policySet({ modelText: casbinModels.superuser, lines })

describe('the cost of a decision', () => {
  test('is the mean until the time is used up, without the first decision', () => {
    expect(measureDecisions(set, { cpuMs: clock(100, 20), budgetMs: 200 })).toEqual({
      msPerDecision: 20,
      decisions: 6,
      rules: 200,
    })
  })

  test('is that of one decision if it takes all the time', () => {
    expect(measureDecisions(set, { cpuMs: clock(5_000), budgetMs: 200 })).toEqual({
      msPerDecision: 5_000,
      decisions: 1,
      rules: 200,
    })
  })

  test('is measured to an end although the clock does not move', () => {
    const few = policySet({ modelText: casbinModels.superuser, lines: lines.slice(0, 1) })

    expect(measureDecisions(few, { cpuMs: () => 7 })).toMatchObject({ msPerDecision: 0, rules: 1 })
  })

  test('is measured by a clock that runs', () => {
    expect(
      measureDecisions(set, { cpuMs: () => performance.now() })?.msPerDecision,
    ).toBeGreaterThan(0)
  })

  test.each(Object.keys(casbinModels) as (keyof typeof casbinModels)[])(
    'is not measured without rules: %s',
    (model) => {
      const empty = policySet({ modelText: casbinModels[model], lines: ['# postern: empty'] })

      expect(measureDecisions(empty, { cpuMs: clock(1) })).toBe(undefined)
    },
  )

  test('is not measured for the index', () => {
    expect(measureDecisions(policySet({}), { cpuMs: clock(1) })).toBe(undefined)
  })
})

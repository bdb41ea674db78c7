import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { parseInSteps, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { sortInSteps } from '../../src/policy/set/sorting.ts'
import { finish, finishWithRests } from '../../src/policy/steps.ts'
import { casbinModels } from './casbin-models.ts'
import { policyFiles, widestModel } from './policy-text.ts'

const manyRules = Array.from(
  { length: 20_000 },
  (_, at) => `p, team-${at % 200}, /api/v1/area-${at % 50}/things-${at}/:id, GET`,
)
const manyLinks = Array.from({ length: 2_000 }, (_, at) => `g, team-${at % 200}, heir-${at}`)
const files = policyFiles({ model: widestModel, lines: [...manyRules, ...manyLinks] })

/** Counts its pauses, and what the event loop did in them. */
function createPause() {
  let pauses = 0
  const pause = async () => {
    pauses++
  }
  return { pause, pauses: () => pauses }
}

describe('policies prepared in slices', () => {
  test('answer as those do that are compiled at a stretch', async () => {
    const sliced = await preparePolicies(files)
    const compiled = compile(parsePolicySet(files))

    expect(sliced.revision).toBe(compiled.revision)
    expect(sliced.set).toEqual(compiled.set)
    for (const roleKey of ['team-7', 'team-8', 'nobody']) {
      const question = { roleKey, method: 'GET', path: '/api/v1/area-7/things-7/1' }
      expect(decide(question, sliced)).toEqual(decide(question, compiled))
    }
  })

  test('can pause at least once for every 128 of 20,000 rules, in each part of the work', async () => {
    const { pause, pauses } = createPause()

    await preparePolicies(files, { pause, sliceMs: 0 })

    // Reading, keys, sorting, comparing, hashing, indexing.
    expect(pauses()).toBeGreaterThan((20_000 / 128) * 4)
  })

  test('can pause under casbin as well', async () => {
    const { pause, pauses } = createPause()
    const lines = manyRules.slice(0, 5_000)

    const prepared = await preparePolicies(
      policyFiles({ modelText: casbinModels.superuser, lines }),
      { pause, sliceMs: 0 },
    )

    expect(prepared.engine.name).toBe('casbin')
    expect(pauses()).toBeGreaterThan((5_000 / 128) * 4)
  })

  test('do not pause when there is time enough', async () => {
    const { pause, pauses } = createPause()

    await preparePolicies(files, { pause, sliceMs: Number.POSITIVE_INFINITY })

    expect(pauses()).toBe(0)
  })

  test('are given up in the pause after which nobody wants them', async () => {
    const closing = new AbortController()
    let pauses = 0
    const pause = async () => {
      if (++pauses === 10) closing.abort(new Error('closing'))
    }

    const given = preparePolicies(files, { pause, sliceMs: 0, signal: closing.signal })

    await expect(given).rejects.toThrow('closing')
    expect(pauses).toBe(10)
  })

  test('let the event loop run by default', async () => {
    let turns = 0
    const clock = setInterval(() => turns++, 0)

    await preparePolicies(files, { sliceMs: 0 })
    clearInterval(clock)

    expect(turns).toBeGreaterThan(0)
  })

  test('are refused as at a stretch, the bad row named', async () => {
    const bad = policyFiles({ lines: [...manyRules, 'p, editor, /api/:, GET'] })

    const refusal = preparePolicies(bad)

    await expect(refusal).rejects.toBeInstanceOf(Invalid)
    await expect(refusal).rejects.toMatchObject({
      problems: [{ file: 'policy.csv', line: 20_001 }],
    })
  })
})

describe('work with rests', () => {
  test('comes to the same, and rests after every slice', () => {
    const rests: number[] = []
    const rest = (ms: number) => void rests.push(ms)

    const set = finishWithRests(parseInSteps(files), { rest, sliceMs: 0 })

    expect(set).toEqual(parsePolicySet(files))
    expect(rests.length).toBeGreaterThan((20_000 / 128) * 4)
    expect(rests.every((ms) => ms >= 0)).toBe(true)
  })
})

describe('sorting in steps', () => {
  test('has the order of sorting at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 5_000, size: 'max' }),
        (texts) => {
          expect(finish(sortInSteps(texts))).toEqual(texts.toSorted())
        },
      ),
      { numRuns: 20 },
    )
  })

  test.each([0, 1, 1_023, 1_024, 1_025, 4_096, 10_001])('keeps all of %d texts', (count) => {
    const texts = Array.from({ length: count }, (_, at) => `t${(at * 7_919) % 10_007}`)

    expect(finish(sortInSteps(texts))).toEqual(texts.toSorted())
  })
})

import { expect, test, vi } from 'vitest'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { findGain } from '../../src/policy/diff/gain.ts'
import { treeOf } from '../../src/policy/review/grants.ts'
import { createCsvParser } from '../../src/policy/set/csv.ts'
import { parsePolicyPair } from '../../src/policy/set/policy-pair.ts'
import { policyFiles, widestModel } from '../policy/policy-text.ts'

vi.mock(import('../../src/policy/diff/gain.ts'), { spy: true })
vi.mock(import('../../src/policy/review/grants.ts'), { spy: true })
vi.mock(import('../../src/policy/set/csv.ts'), { spy: true })

/** 200 roles in chains of ten, each with 100 rules. */
const rules = Array.from({ length: 20_000 }, (_, at) => {
  return `p, r${at % 200}, /api/v1/resource-${Math.floor(at / 200)}/:id, GET`
})
const links = Array.from({ length: 200 }, (_, at) => `g, r${at}, r${at - 1}`).filter(
  (_, at) => at % 10 !== 0,
)

test('the work of a diff depends on the lines that changed, not on those that did not', () => {
  const edited = rules.with(0, 'p, r0, /api/v1/resource-0/:id, DELETE').toSpliced(10_000, 1)
  const files = (lines: readonly string[]) => {
    return policyFiles({ model: widestModel, lines: [...lines, ...links] })
  }

  const { from, to } = parsePolicyPair(files(rules), files([...edited, 'p, r5, /new/*, PUT']))
  // One for each policy: the second one reads only the lines that differ.
  expect(createCsvParser).toHaveBeenCalledTimes(2)

  const { changes } = diffPolicies(from, to)

  expect(changes.map(({ roleKey, direction, shares }) => [roleKey, direction, shares])).toEqual([
    ['r5', 'gain', [expect.objectContaining({ roles: ['r5', 'r6', 'r7', 'r8', 'r9'] })]],
    ['r0', 'gain', [expect.objectContaining({ roles: expect.arrayContaining(['r0', 'r9']) })]],
    ['r0', 'loss', [expect.objectContaining({ roles: ['r0'] })]],
    ['r0', 'loss', [expect.objectContaining({ roles: ['r0'] })]],
  ])
  expect(vi.mocked(findGain).mock.calls.length).toBeLessThan(50)
  const placed = vi.mocked(treeOf).mock.calls.map(([each]) => each.length)
  expect(placed.reduce((sum, each) => sum + each, 0)).toBeLessThan(100)
})

test('a rule of a role that thousands inherit is evaluated once for all of them', () => {
  const heirs = Array.from({ length: 2000 }, (_, at) => `g, h${at}, base`)
  const own = Array.from({ length: 2000 }, (_, at) => `p, h${at}, /own/${at}, GET`)
  const more = Array.from({ length: 50 }, (_, at) => `p, base, /new/${at}, PUT`)
  const lines = ['p, base, /x, GET', ...heirs, ...own]
  vi.mocked(findGain).mockClear()

  const { from, to } = parsePolicyPair(
    policyFiles({ model: widestModel, lines }),
    policyFiles({ model: widestModel, lines: [...lines, ...more] }),
  )
  const { changes } = diffPolicies(from, to)

  expect(changes).toHaveLength(50)
  expect(changes.every(({ shares }) => shares[0]?.roles.length === 2001)).toBe(true)
  expect(vi.mocked(findGain).mock.calls.length).toBeLessThan(60)
})

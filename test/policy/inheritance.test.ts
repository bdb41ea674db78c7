import { describe, expect, test } from 'vitest'
import { ancestorsByRole } from '../../src/policy/set/inheritance.ts'
import { policyFiles, policySet, problemsOf, widestModel } from './policy-text.ts'

const rule = 'p, a, /x, GET'
const linesOf = (lines: readonly string[]) =>
  problemsOf(policyFiles({ model: widestModel, lines: [rule, ...lines] })).map(({ line }) => line)
const chain = (length: number) => Array.from({ length }, (_, at) => `g, r${at}, r${at + 1}`)

describe('role inheritance', () => {
  test.each([
    ['by itself', ['g, a, a'], [2]],
    ['in a pair', ['g, a, b', 'g, b, a'], [3]],
    ['around three', ['g, a, b', 'g, b, c', 'g, c, a'], [4]],
    ['twice', ['g, a, b', 'g, b, a', 'g, x, y', 'g, y, x'], [3, 5]],
  ])('that goes in a circle %s is refused', (_, lines, places) => {
    expect(linesOf(lines)).toHaveLength(places.length)
  })

  test('may meet again in a common ancestor', () => {
    expect(linesOf(['g, a, b', 'g, a, c', 'g, b, d', 'g, c, d'])).toEqual([])
  })

  test('goes over ten generations, as far as casbin follows it, and no further', () => {
    expect(linesOf(chain(10))).toEqual([])
    expect(linesOf(chain(11))).toEqual([2])
    expect(linesOf(chain(11).reverse())).toEqual([12])
  })

  test('in a chain or circle as long as a file is refused, not a stack overflow', () => {
    expect(linesOf(chain(50_000))).not.toEqual([])
    expect(linesOf([...chain(50_000), 'g, r50000, r0'])).not.toEqual([])
  })

  test('names all ancestors, the nearest first', () => {
    const lines = [rule, 'g, a, b', 'g, b, c', 'g, a, d', 'g, a, b', 'g, c, e']

    const { inheritances } = policySet({ model: widestModel, lines })

    expect(ancestorsByRole(inheritances).get('a')).toEqual(['b', 'd', 'c', 'e'])
  })
})

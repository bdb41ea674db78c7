import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/policy/rule/rule.ts'
import { distinct } from '../../src/policy/set/distinct.ts'
import { ruleKey } from '../../src/policy/set/revision.ts'
import { finish } from '../../src/policy/steps.ts'

/** Texts that begin with one another, and some beyond the plane that sorting by code units splits. */
const text = fc.constantFrom('a', 'a!', 'a b', 'ab', 'b', 'B', 'é', '\uFF5E', '\u{1F600}', 'a/')
const rule: fc.Arbitrary<Rule> = fc.record({
  roleKey: text,
  path: text.map((segment) => `/${segment}`),
  method: fc.constantFrom('GET', 'PUT', '*'),
  effect: fc.constantFrom('allow', 'deny'),
  origin: fc.record({ file: fc.constantFrom('a.csv', 'b.csv'), line: fc.nat(9) }),
})
const lists = fc.array(fc.array(rule, { maxLength: 300 }), { maxLength: 3 })

describe('distinct rules', () => {
  test('are the first of those that say the same, with their keys sorted', () => {
    fc.assert(
      fc.property(lists, (given) => {
        const { list, keys } = finish(distinct(given, ruleKey))
        const all = given.flat()

        expect(list).toEqual(
          all.filter(
            (each, at) => all.findIndex((other) => ruleKey(other) === ruleKey(each)) === at,
          ),
        )
        expect([...keys]).toEqual([...new Set(all.map(ruleKey))].sort())
      }),
    )
  })
})

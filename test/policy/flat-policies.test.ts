import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { type CompiledPolicies, compile, compileFlat } from '../../src/policy/engine/compile.ts'
import { flattenPolicies, memoryOf } from '../../src/policy/engine/flat-policies.ts'
import { numberOf, tableOf, textAt } from '../../src/policy/engine/tables/text-table.ts'
import { explain } from '../../src/policy/explain.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import type { PolicySet } from '../../src/policy/set/policy-set.ts'
import { finish } from '../../src/policy/steps.ts'
import { casbinModels } from './casbin-models.ts'
import { policySet, widestModel } from './policy-text.ts'

const exclusions = '- { method: GET, path: /api/v1/me/:part, reason: everybody has one }'

/** What another thread would make of the set. */
function throughThread(set: PolicySet): CompiledPolicies {
  const flat = finish(flattenPolicies(set))
  if (flat === undefined) throw new Error('casbin answers for this one')
  return compileFlat(structuredClone(flat, { transfer: memoryOf(flat) }))
}

const roles = ['clerk', 'writer', 'Größe', '書記', '𝒳', 'r'.repeat(300)]
const paths = ['/a', '/a/:id', '/a/b', '/a/*', '/*', '/a/b/c', '/a/:id/c', '/ab*', '/x/y/z', '/x']
const rule = fc
  .tuple(
    fc.constantFrom(...roles),
    fc.constantFrom(...paths),
    fc.constantFrom('GET', 'PUT', 'TRACE', '*'),
    fc.constantFrom('allow', 'deny'),
  )
  .map((fields) => `p, ${fields.join(', ')}`)
// From later to earlier ones only: no circles.
const link = fc
  .tuple(fc.nat({ max: roles.length - 2 }), fc.nat({ max: roles.length - 2 }))
  .map(([one, other]) => `g, ${roles[Math.max(one, other) + 1]}, ${roles[Math.min(one, other)]}`)

const indexed = formatModel(widestModel)
const models = [
  indexed,
  indexed.replace(/^m = (.*)$/m, 'm = $1 || g(r.sub, "writer") || r.sub == "root"'),
  indexed.replace('(r.act == p.act || p.act == "*")', '(p.act == "*" || regexMatch(r.act, p.act))'),
]

describe('policies in flat memory', () => {
  test('answer and explain as those do that never left their thread, rule by rule', () => {
    const asked = ['/a', '/a/7', '/a/b', '/a/b/c', '/abc', '/x/y/z', '/api/v1/me/name', '/q/1']
    const questions = [...roles, 'nobody', '', 'admin', 'root'].flatMap((roleKey) =>
      asked.flatMap((path) => ['GET', 'PUT', 'PURGE'].map((method) => ({ roleKey, method, path }))),
    )
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 30 }),
        fc.array(link, { maxLength: 6 }),
        fc.constantFrom(...models),
        (rules, links, modelText) => {
          const isList = modelText.includes('regexMatch')
          const lines = rules.map((line) => (isList ? line.replace('TRACE', '(GET)|(PUT)') : line))
          const set = policySet({ modelText, lines: [...lines, ...links], exclusions })
          const compiled = compile(set)

          const flat = throughThread(set)

          expect(flat.ruleCount).toBe(set.rules.length)
          for (const question of questions) {
            expect(explain(question, flat)).toEqual(explain(question, compiled))
          }
        },
      ),
      { numRuns: 120 },
    )
  })

  test('name each of many thousand rules with its file and line', () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => `p, role-${at}, /things-${at}/:id, GET`)
    const set = policySet({ model: widestModel, lines })

    const flat = throughThread(set)

    for (const expected of set.rules) {
      const path = expected.path.replace(':id', '7')
      const { rule } = decide({ roleKey: expected.roleKey, method: 'GET', path }, flat)
      expect(rule).toEqual(expected)
      expect(Object.isFrozen(rule)).toBe(true)
    }
  })

  test('hand out one decision for one rule', () => {
    const flat = throughThread(policySet({ lines: ['p, clerk, /a, GET'] }))
    const question = { roleKey: 'clerk', method: 'GET', path: '/a' }

    expect(decide(question, flat)).toBe(decide(question, flat))
  })

  test('leave models to casbin that only casbin can answer for', () => {
    const set = policySet({ modelText: casbinModels.superuser, lines: ['p, clerk, /a, GET'] })

    expect(finish(flattenPolicies(set))).toBe(undefined)
  })

  test('can be made with a pause for every 128 of 20,000 rules that are indexed', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `p, role-${at}, /things-${at}, GET`)
    const steps = flattenPolicies(policySet({ lines }))
    let pauses = 0

    while (steps.next().done !== true) pauses++

    expect(pauses).toBeGreaterThan(20_000 / 128)
  })
})

describe('a table of texts', () => {
  test('has every text under its number, and no other', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 6 }), { maxLength: 200 }),
        fc.string({ unit: 'binary', maxLength: 6 }),
        (texts, other) => {
          const table = tableOf(texts)

          expect(texts.map((text) => numberOf(table, text))).toEqual(texts.map((_, at) => at))
          expect(texts.map((_, at) => textAt(table, at))).toEqual(texts)
          expect(numberOf(table, other)).toBe(texts.indexOf(other))
        },
      ),
    )
  })

  test('keeps halves of pairs and texts without end as they are', () => {
    const texts = ['\ud800', '\udc00', 'x'.repeat(300_000), '']
    const table = tableOf(texts)

    expect(texts.map((_, at) => textAt(table, at))).toEqual(texts)
  })
})

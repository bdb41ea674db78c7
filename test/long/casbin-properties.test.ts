import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { type PolicySet, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { casbinModels } from '../policy/casbin-models.ts'
import { formatPolicyFiles } from '../policy/format-policy.ts'
import { policyFiles } from '../policy/policy-text.ts'

function tryToParse(modelText: string, lines: readonly string[]): PolicySet | undefined {
  try {
    return parsePolicySet(policyFiles({ modelText, lines }))
  } catch (error) {
    expect(error).toBeInstanceOf(Invalid)
    return undefined
  }
}

const models = Object.values(casbinModels)
const pieces = [
  ...['!', '(', ')', '&&', '||', '==', '!=', '"', ' ', ',', '.', 'in', '#'],
  ...['"*"', '"/a/:id"', '"GET"', 'r.sub', 'r.obj', 'r.act', 'p.sub', 'p.obj', 'p.act', 'p.eft'],
  ...['g(r.sub, p.sub)', 'keyMatch(', 'keyMatch2(r.obj, p.obj)', 'keyMatch3(r.obj, p.obj)'],
  ...['regexMatch(r.act, p.act)', 'r.act == p.act'],
]

/** A model with a piece of its matcher cut out and another put in its place. */
const spoiledModel = fc
  .tuple(fc.constantFrom(...models), fc.nat(120), fc.nat(25), fc.constantFrom(...pieces))
  .map(([text, from, length, piece]) => {
    const at = text.indexOf('m = ') + 4 + from
    return text.slice(0, at) + piece + text.slice(at + length)
  })
const model = fc.oneof(fc.constantFrom(...models), spoiledModel)

const word = fc.constantFrom(
  ...['editor', 'team-*', '*', '/a', '/a/:id', '/a/{id}', '/a/*', '/a*', '/a.b', '/a/:', '/{'],
  ...['/a[', '/a/*/b', 'GET', '(GET)|(POST)', '.*', '^(PATCH)$', 'PATCH', '(G+)+'],
  ...['allow', 'deny', '1', 'north'],
)
const line = fc
  .tuple(fc.constantFrom('p', 'p', 'p', 'g', 'g2'), fc.array(word, { minLength: 2, maxLength: 5 }))
  .map(([type, words]) => [type, ...words].join(', '))
const goodLine = fc
  .tuple(
    fc.constantFrom('editor', 'team-a'),
    fc.constantFrom('/a', '/a/b', '/a/*'),
    fc.constantFrom('GET', 'POST'),
  )
  .map((words) => ['p', ...words].join(', '))
const lines = fc.oneof(
  fc.array(goodLine, { minLength: 1, maxLength: 4 }),
  fc.array(fc.oneof(goodLine, line), { minLength: 1, maxLength: 3 }),
)

const question = fc.record({
  roleKey: fc.oneof(fc.constantFrom('editor', 'team-a', 'root', ''), fc.string({ unit: 'binary' })),
  method: fc.oneof(fc.constantFrom('GET', 'PATCH', 'PROPPATCH'), fc.string()),
  path: fc.oneof(
    fc.constantFrom('/a', '/a/7', '/a/7/b', `/${'a/'.repeat(2_000)}!`),
    fc.string({ unit: 'binary' }).map((text) => `/${text}`),
  ),
})

describe('any model and any lines for casbin', () => {
  test('are refused, or answer every question without an error and come back the same', () => {
    let answered = 0

    fc.assert(
      fc.property(model, lines, fc.array(question, { maxLength: 5 }), (text, given, questions) => {
        const set = tryToParse(text, given)
        if (set?.model.casbin === undefined) return
        const compiled = compile(set)
        for (const each of questions) {
          expect(decide(each, compiled).revision).toBe(set.revision)
          answered++
        }
        expect(parsePolicySet(formatPolicyFiles(set)).revision).toBe(set.revision)
      }),
      { numRuns: 4_000 },
    )

    expect(answered).toBeGreaterThan(500)
  })
})

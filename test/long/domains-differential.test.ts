import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { domainModels } from '../policy/domain-models.ts'
import { policyFiles, policySet, problemsOf } from '../policy/policy-text.ts'

const role = fc.constantFrom('ann', 'bob', 'lead', 'staff', 'root')
const domain = fc.constantFrom('north', 'south', 'north-1')
const ruleLine = fc
  .tuple(
    ...[
      role,
      fc.constantFrom('north', 'south', '*', 'north*'),
      fc.constantFrom('/a', '/a/:id', '/*'),
    ],
    ...[fc.constantFrom('GET', 'POST'), fc.constantFrom('allow', 'allow', 'deny')],
  )
  .map((fields) => ['p', ...fields])
const link = fc
  .tuple(fc.constantFrom('ann', 'bob'), fc.constantFrom('lead', 'staff'), domain)
  .map((fields) => ['g', ...fields])
const question = fc.record({
  roleKey: role,
  domain,
  method: fc.constantFrom('GET', 'POST'),
  path: fc.constantFrom('/a', '/a/7', '/b'),
})

/** The lines with as many columns as the model has. */
function fitted(modelText: string, rules: readonly string[][], links: readonly string[][]) {
  const columns = modelText.includes('act, eft') ? 6 : 5
  const places = modelText.includes('g = _, _, _') ? 4 : modelText.includes('g = _, _') ? 3 : 0
  const all = [
    ...rules.map((each) => each.slice(0, columns)),
    ...(places === 0 ? [] : links.map((each) => each.slice(0, places))),
  ]
  return [...new Set(all.map((each) => each.join(', ')))]
}

describe.each(Object.entries(domainModels))('with %s', (_, modelText) => {
  test('any rules give the answers of Casbin to any request', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ruleLine, { minLength: 1, maxLength: 6 }),
        fc.array(link, { maxLength: 4 }),
        fc.array(question, { minLength: 12, maxLength: 12 }),
        async (rules, links, questions) => {
          const given = fitted(modelText, rules, links)
          fc.pre(problemsOf(policyFiles({ modelText, lines: given })).length === 0)
          const compiled = compile(policySet({ modelText, lines: given }))
          const model = newModelFromString(modelText)
          const enforcer = await newEnforcer(model, new StringAdapter(given.join('\n')))
          for (const each of questions) {
            const { roleKey, path, method } = each
            const expected = enforcer.enforceSync(roleKey, each.domain, path, method)
            expect([given, each, decide(each, compiled).allowed]).toEqual([given, each, expected])
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})

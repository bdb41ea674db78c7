import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { compile, compileFlat } from '../../src/policy/engine/compile.ts'
import { flattenPolicies } from '../../src/policy/engine/flat-policies.ts'
import { finish } from '../../src/policy/steps.ts'
import { linesFor, link, question, ruleLine } from '../policy/domain-lines.ts'
import { domainModels, indexedDomainModels } from '../policy/domain-models.ts'
import { policyFiles, policySet, problemsOf } from '../policy/policy-text.ts'

describe.each(Object.entries(domainModels))('with %s', (name, modelText) => {
  test('any rules give the answers of Casbin to any request', async () => {
    let asked = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(ruleLine, { minLength: 1, maxLength: 8 }),
        fc.array(link, { maxLength: 5 }),
        fc.array(question, { minLength: 12, maxLength: 12 }),
        async (rules, links, questions) => {
          const given = linesFor(modelText, rules, links)
          fc.pre(problemsOf(policyFiles({ modelText, lines: given })).length === 0)
          const set = policySet({ modelText, lines: given })
          const compiled = compile(set)
          expect(compiled.engine.name).toBe(indexedDomainModels.includes(name) ? 'index' : 'casbin')
          const flat = finish(flattenPolicies(set))
          const fromFlat = flat === undefined ? compiled : compileFlat(structuredClone(flat))
          const model = newModelFromString(modelText)
          const enforcer = await newEnforcer(model, new StringAdapter(given.join('\n')))
          for (const each of questions) {
            const { roleKey, path, method } = each
            const expected = enforcer.enforceSync(roleKey, each.domain, path, method)
            const answer = decide(each, compiled)
            expect([given, each, answer.allowed]).toEqual([given, each, expected])
            expect(decide(each, fromFlat)).toEqual(answer)
            asked++
          }
        },
      ),
      { numRuns: 200 },
    )
    expect(asked).toBeGreaterThan(1000)
  })
})

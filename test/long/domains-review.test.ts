import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPolicySet } from '../../src/policy/checks/check.ts'
import { decide } from '../../src/policy/decide.ts'
import type { AccessChange } from '../../src/policy/diff/access-change.ts'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { linesFor, link, question, ruleLine } from '../policy/domain-lines.ts'
import { domainModels, indexedDomainModels } from '../policy/domain-models.ts'
import { policyFiles, policySet, problemsOf } from '../policy/policy-text.ts'

const rules = fc.array(ruleLine, { minLength: 1, maxLength: 7 })
const links = fc.array(link, { maxLength: 4 })
const questions = fc.array(question, { minLength: 40, maxLength: 40 })
const models = Object.entries(domainModels).filter(([name]) => indexedDomainModels.includes(name))

function isAbout({ domains = [] }: AccessChange, asked: string): boolean {
  return domains.some(
    (domain) => domain === asked || (domain.endsWith('*') && asked.startsWith(domain.slice(0, -1))),
  )
}

describe.each(models)('with %s', (_, modelText) => {
  const isValid = (lines: readonly string[]) =>
    problemsOf(policyFiles({ modelText, lines })).length === 0
  const setOf = (lines: readonly string[]) => policySet({ modelText, lines })

  test('the diff has a gain for whatever only the second policy allows, and for nothing else', () => {
    let widened = 0
    fc.assert(
      fc.property(rules, links, rules, links, questions, (...given) => {
        const [oldRules, oldLinks, newRules, newLinks, asked] = given
        // Half of the old lines stay, as in an edit.
        const old = linesFor(modelText, oldRules, oldLinks)
        const kept = linesFor(modelText, oldRules.slice(1), oldLinks.slice(1))
        const edit = linesFor(modelText, newRules.slice(0, 2), newLinks.slice(0, 1))
        const next = [...new Set([...kept, ...edit])]
        fc.pre(isValid(old) && isValid(next))
        const [before, after] = [compile(setOf(old)), compile(setOf(next))]
        const { changes } = diffPolicies(before.set, after.set)
        for (const each of asked) {
          if (decide(each, before).allowed || !decide(each, after).allowed) continue
          widened++
          const reported = changes.some(
            (change) =>
              change.direction === 'gain' &&
              isAbout(change, each.domain) &&
              change.shares.some(
                ({ roles, grants }) =>
                  roles.includes(each.roleKey) &&
                  grants.some(({ methods }) => methods.includes(each.method)),
              ),
          )
          expect({ old, next, each, changes, reported }).toMatchObject({ reported: true })
        }
        for (const change of changes) {
          // A literal domain may end in a star as well.
          const named = change.domains ?? []
          const domains = [...named, ...named.map((domain) => domain.replace(/\*$/, 'zz'))]
          const isGain = change.direction === 'gain'
          for (const { roles, grants } of change.shares) {
            const { method = '', path = '' } = grants[0]?.example ?? {}
            for (const roleKey of roles) {
              const isReal = domains.some((domain) => {
                const asked = { roleKey, domain, method, path }
                const [was, is] = [decide(asked, before).allowed, decide(asked, after).allowed]
                return was !== is && is === isGain
              })
              expect({ old, next, change, isReal }).toMatchObject({ isReal: true })
            }
          }
        }
      }),
      { numRuns: 80 },
    )
    expect(widened).toBeGreaterThan(10)
  })

  test('taking all useless rules out changes no access', () => {
    let useless = 0
    fc.assert(
      fc.property(fc.array(ruleLine, { minLength: 6, maxLength: 14 }), links, (some, heirs) => {
        const lines = linesFor(modelText, some, heirs)
        fc.pre(isValid(lines))
        const found = checkPolicySet(setOf(lines), policyFiles({ modelText, lines }))
        const dropped = new Set(
          found.flatMap(({ code, line = 0, related = [] }) => [
            ...(code === 'useless-rule' ? [line] : []),
            ...(code === 'wide-rule' ? related.map((each) => each.line) : []),
          ]),
        )
        useless += dropped.size
        const kept = lines.filter((__, index) => !dropped.has(index + 1))
        fc.pre(kept.some((line) => line.startsWith('p')))

        expect({ lines, kept, ...diffPolicies(setOf(lines), setOf(kept)) }).toMatchObject({
          changes: [],
        })
      }),
      { numRuns: 80 },
    )
    expect(useless).toBeGreaterThan(0)
  })
})

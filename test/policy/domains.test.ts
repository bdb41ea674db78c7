import { describe, expect, test } from 'vitest'
import { domainsIn, inDomain } from '../../src/answers/in-domain.ts'
import { decide } from '../../src/policy/decide.ts'
import { domainProblem } from '../../src/policy/domain.ts'
import { compile, compileFlat } from '../../src/policy/engine/compile.ts'
import { flattenPolicies } from '../../src/policy/engine/flat-policies.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { finish } from '../../src/policy/steps.ts'
import { domainModel, tenants } from './domain-models.ts'
import { formatPolicyFiles } from './format-policy.ts'
import { policies, policyFiles, policySet, problemsOf } from './policy-text.ts'

const lines = [
  'p, lead, north, /orders/:id, GET',
  'p, lead, south, /orders/:id, GET',
  'g, ann, lead, north',
]
const exclusions = '- method: GET\n  path: /menu\n  reason: everyone\n'
const answer = (roleKey: string, domain: string | undefined, path = '/orders/7') => {
  const compiled = policies({ modelText: tenants, lines, exclusions })
  const { allowed, step } = decide({ roleKey, domain, method: 'GET', path }, compiled)
  return `${allowed} ${step}`
}

describe('a model with a domain', () => {
  test('allows in the domain of the rule only, and inherits in the domain of the line only', () => {
    expect(answer('ann', 'north')).toBe('true rule')
    expect(answer('ann', 'south')).toBe('false none')
    expect(answer('lead', 'south')).toBe('true rule')
    expect(answer('lead', 'west')).toBe('false none')
  })

  test('lets no rule match without a domain, or with an empty one, whatever the matcher says', () => {
    const modelText = domainModel({ subject: 'r.sub == p.sub && keyMatch(r.dom, p.dom)' })
    const compiled = policies({ modelText, lines: ['p, lead, *, /orders/:id, GET'] })
    const ask = (domain: string | undefined) =>
      decide({ roleKey: 'lead', domain, method: 'GET', path: '/orders/7' }, compiled).allowed

    expect([ask('anything'), ask(undefined), ask('')]).toEqual([true, false, false])
  })

  test('lets admin and exclusions pass in every domain, and without one', () => {
    expect(answer('admin', 'west')).toBe('true admin')
    expect(answer('admin', undefined)).toBe('true admin')
    expect(answer('guest', undefined, '/menu')).toBe('true exclusion')
    expect(answer('guest', 'west', '/menu')).toBe('true exclusion')
  })

  test('refuses a domain that is not a text', () => {
    const compiled = policies({ modelText: tenants, lines })
    const question = { roleKey: 'lead', method: 'GET', path: '/orders/7' }

    // Casbin's == takes the array ["north"] for the text "north".
    expect(() => decide({ ...question, domain: ['north'] as never }, compiled)).toThrow(/engine/)
  })

  test('loses what is inherited in a domain when its line expires there, by the index as well', () => {
    const dated = [...lines, '# postern: until 2026-12-01', 'g, ann, lead, south']
    const set = policySet({ modelText: tenants, lines: dated })
    const [before, after] = [Date.UTC(2026, 10, 30), Date.UTC(2026, 11, 1)]
    const may = (domain: string, at: number) => {
      const question = { roleKey: 'ann', domain, method: 'GET', path: '/orders/7' }
      const flat = finish(flattenPolicies(set))
      const compiled = [compile(set, () => at), ...(flat ? [compileFlat(flat, () => at)] : [])]
      return compiled.map((each) => decide(question, each).allowed)
    }

    expect(compile(set).engine.name).toBe('index')
    expect([may('north', before), may('south', before)]).toEqual([
      [true, true],
      [true, true],
    ])
    expect([may('north', after), may('south', after)]).toEqual([
      [true, true],
      [false, false],
    ])
  })

  test('keeps the revision that it had when Casbin evaluated it', () => {
    expect(policySet({ modelText: tenants, lines }).revision).toBe(
      'r-3416bd645f8d477cbb23bb561c987383',
    )
  })

  test('is another revision than the same rules with another request, and is written as it was', () => {
    const set = policySet({ modelText: tenants, lines })

    expect(formatPolicyFiles(set)[0]?.text).toContain('r = sub, dom, obj, act\n')
    expect(parsePolicySet(formatPolicyFiles(set)).revision).toBe(set.revision)
    expect(domainsIn(set)).toEqual(['north', 'south'])
  })

  test.each([
    ['r = sub, dom, obj, act, time', 'with a domain'],
    ['r = sub, sub, obj, act', 'with a domain'],
    ['r = sub, eft, obj, act', 'with a domain'],
    ['r = sub, org, obj, act', '"r.dom" is neither'],
  ])('refuses %s', (request, message) => {
    const modelText = tenants.replace('r = sub, dom, obj, act', request)

    expect(problemsOf(policyFiles({ modelText, lines })).map((each) => each.message)).toEqual(
      expect.arrayContaining([expect.stringContaining(message)]),
    )
  })

  test('has to compare the domain', () => {
    const modelText = domainModel({ subject: 'r.sub == p.sub' })

    expect(problemsOf(policyFiles({ modelText }))[0]?.message).toBe(
      'the matcher does not compare the domain',
    )
  })

  test('answers questions about one domain', () => {
    const north = inDomain(policies({ modelText: tenants, lines }), 'north')
    const may = (roleKey: string) => {
      return decide({ roleKey, method: 'GET', path: '/orders/7' }, north).allowed
    }

    expect([may('ann'), may('lead'), may('bob')]).toEqual([true, true, false])
  })
})

describe('model and configuration', () => {
  test('agree, or a message says what to set', () => {
    expect(domainProblem(true, { from: 'host' })).toBeUndefined()
    expect(domainProblem(false, undefined)).toBeUndefined()
    expect(domainProblem(true, undefined)).toContain('set policy.domain.from')
    expect(domainProblem(false, { from: 'host' })).toContain('remove policy.domain')
  })
})

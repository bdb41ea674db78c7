import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission, evaluate } from '../../src/admission/verdict.ts'
import { guardrailViolations } from '../../src/answers/guard.ts'
import { rolesIn } from '../../src/answers/query-scope.ts'
import { decide } from '../../src/policy/decide.ts'
import { parseTestFile } from '../../src/policy/expectations/test-file.ts'
import type { Guardrail } from '../../src/policy/set/guardrails.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { type PolicyText, policyFiles, widestModel } from '../policy/policy-text.ts'
import { matches, paths, randomScope } from './random-scopes.ts'

const now = Date.parse('2026-11-18T00:00:00Z')
const endpoints = {
  ...{ logout: 'gateway', profile: 'gateway', password: 'gateway' },
  captchaAlias: false,
} as const

/** What is wrong with a policy, one line for each violation. */
function violationsOf(policy: PolicyText, routes?: readonly AccessRoute[], tests = '') {
  const expectations =
    tests === ''
      ? []
      : parseTestFile({ name: 'a_test.yaml', text: tests }, ({ message }) =>
          expect.unreachable(message),
        )
  const set = parsePolicySet(policyFiles({ model: widestModel, ...policy }))
  const admission = createAdmission({ routes, endpoints })
  return guardrailViolations({ set, admission, expectations, now }).map(
    ({ guardrail, message }) => `${guardrail.text}: ${message}`,
  )
}

const lines = [
  'p, payroll, /payroll/:id, PUT, allow',
  'p, clerk, /orders/:id, GET, allow',
  'g, boss, payroll',
]

describe('only some roles', () => {
  const guardrails = '- { only: payroll, may: "write /payroll/*", reason: Salaries. }'

  test('a role that inherits from a named one is not a named one', () => {
    expect(violationsOf({ lines, guardrails })).toEqual([
      'only payroll may write /payroll/*: boss may PUT /payroll/x by policy.csv:1, which it inherits from payroll',
    ])
    expect(violationsOf({ lines: lines.slice(0, 2), guardrails })).toEqual([])
  })

  test('a wider rule of another role is found, and a deny rule that covers all of it counts', () => {
    const wide = [...lines.slice(0, 2), 'p, clerk, /*, *, allow']
    expect(violationsOf({ lines: wide, guardrails })).toEqual([
      'only payroll may write /payroll/*: clerk may POST /payroll/x by policy.csv:3',
    ])
    const denied = [...wide, 'p, clerk, /payroll/*, *, deny']
    expect(violationsOf({ lines: denied, guardrails })).toEqual([])
    const nearly = [...wide, 'p, clerk, /payroll/:id, *, deny']
    expect(violationsOf({ lines: nearly, guardrails })[0]).toMatch(
      /clerk may POST \/payroll\/(?:\S+\/\S*|) by policy.csv:3$/,
    )
  })

  test('an exclusion and a public route of any host let everyone make the call', () => {
    const exclusions = '- { method: PUT, path: /payroll/mine, reason: Test. }'
    expect(violationsOf({ lines: lines.slice(0, 2), guardrails, exclusions })).toEqual([
      'only payroll may write /payroll/*: every caller with a token may PUT /payroll/mine by exclusions.yaml:1',
    ])
    const routes: readonly AccessRoute[] = [
      { path: '/', access: 'permitted', upstream: 'app' },
      { path: '/payroll/open', access: 'public', upstream: 'app', hosts: ['*.example.com'] },
    ]
    expect(violationsOf({ lines: lines.slice(0, 2), guardrails }, routes)).toEqual([
      'only payroll may write /payroll/*: everyone may POST /payroll/open by the route /payroll/open',
    ])
  })

  test('a route for all names below a domain counts, although one of them has a route of its own', () => {
    const route = { path: '/payroll', upstream: 'app' }
    const routes: readonly AccessRoute[] = [
      { ...route, access: 'public', hosts: ['*.example.com'] },
      { ...route, access: 'permitted', hosts: ['x.example.com'] },
    ]
    expect(violationsOf({ lines: lines.slice(0, 2), guardrails }, routes)).toEqual([
      'only payroll may write /payroll/*: everyone may POST /payroll/x by the route /payroll',
    ])
  })

  test('methods that no rule can name write too, unless they are safe', () => {
    const routes: readonly AccessRoute[] = [
      { path: '/payroll', access: 'public', upstream: 'app', methods: ['MKCOL'] },
    ]
    expect(violationsOf({ lines: lines.slice(0, 2), guardrails }, routes)).toEqual([
      'only payroll may write /payroll/*: everyone may MKCOL /payroll/x by the route /payroll',
    ])
    const named = ['POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT']
    const others = [
      'p, clerk, /payroll/*, *, allow',
      ...named.map((method) => `p, clerk, /payroll/*, ${method}, deny`),
    ]
    expect(violationsOf({ lines: others, guardrails })).toEqual([
      'only payroll may write /payroll/*: clerk may other /payroll/x by policy.csv:1',
    ])
  })

  test('exclusions that are too many to decide are a violation', () => {
    const exclude = (path: string) => `- { method: GET, path: ${path}, reason: Test. }`
    const many = Array.from({ length: 150 }, (_, at) => [
      exclude(`/payroll/a${at}/c`),
      exclude(`/payroll/:x/d${at}`),
    ])
    const found = violationsOf({
      ...{ lines: lines.slice(0, 2), guardrails },
      exclusions: many.flat().join('\n'),
    })
    expect(found).toContain(
      'only payroll may write /payroll/*: every caller may be allowed write /payroll/*: too many exclusions and routes to decide',
    )
  })

  test('access that an expiring inheritance gives back is reported with its day', () => {
    const later = [
      ...['p, clerk, /payroll/*, *, allow', 'p, careful, /payroll/*, *, deny'],
      ...['# postern: until 2026-12-01', 'g, clerk, careful'],
    ]
    expect(violationsOf({ lines: later, guardrails })).toEqual([
      'only payroll may write /payroll/*: clerk may POST /payroll/x by policy.csv:1 from 2026-12-01',
    ])
  })
})

test('duties are separated for a role with all that it inherits', () => {
  const guardrails = '- never both: [POST /payments, "POST /payments/:id/approval"]'
  const duties = [
    'p, payer, /payments, POST, allow',
    'p, approver, /payments/*, *, allow',
    'g, lead, payer',
    'g, lead, approver',
  ]
  expect(violationsOf({ lines: duties, guardrails })).toEqual([
    'never both: POST /payments, POST /payments/:id/approval: lead may POST /payments by policy.csv:1, which it inherits from payer, and lead may POST /payments/x/approval by policy.csv:2, which it inherits from approver',
  ])
})

test('public routes are those of a list, with their methods and everything below', () => {
  const guardrails = '- public at most: ["GET /assets/*", "* /health"]'
  const route = (path: string, rest: Partial<AccessRoute> = {}): AccessRoute => {
    return { path, access: 'public', upstream: 'app', ...rest }
  }
  const routes = [
    route('/assets/css', { methods: ['GET'] }),
    route('/assets', { methods: ['GET'] }),
    route('/assets/js'),
    route('/health', { match: 'exact' }),
  ]
  expect(violationsOf({ lines, guardrails }, routes)).toEqual([
    'public at most: GET /assets/*, * /health: the route /assets/js is public: * /assets/js',
  ])
})

test('a route without a test is named', () => {
  const guardrails = '- every route: has a test'
  const routes = ['/orders', '/payroll'].map((path): AccessRoute => {
    return { path, access: 'permitted', upstream: 'app' }
  })
  const tests = '- { role: clerk, method: GET, path: /orders/7, expect: allow }'
  expect(violationsOf({ lines, guardrails }, routes, tests)).toEqual([
    'every route has a test: no test is about the route /payroll',
  ])
})

test('grants of some roles expire in time', () => {
  const guardrails = '- { no grant longer than: 90d without until, for: [contractor] }'
  const grants = [
    ...['# postern: until 2026-12-01', 'p, contractor, /a, GET, allow'],
    ...['# postern: until 2027-12-01', 'p, contractor, /b, GET, allow'],
    ...['g, contractor, clerk', 'p, clerk, /c, GET, allow', 'p, contractor, /d, GET, deny'],
  ]
  expect(violationsOf({ lines: grants, guardrails })).toEqual([
    'no grant longer than 90d for contractor: policy.csv:4: the line of contractor expires on 2027-12-01',
    'no grant longer than 90d for contractor: policy.csv:5: the line of contractor never expires',
  ])
})

test('a model that Casbin evaluates leaves questions about roles undecided, which is a violation', () => {
  const modelText = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && keyMatch3(r.obj, p.obj) && r.act == p.act
`
  const guardrails = '- nobody but admin: DELETE /users/*\n- no grant longer than: 90d'
  expect(violationsOf({ modelText, lines: ['p, a, /b, GET'], guardrails })).toEqual([
    expect.stringContaining('cannot be decided: Casbin evaluates the model'),
    'no grant longer than 90d: policy.csv:1: the line of a never expires',
  ])
})

describe('the guardrails of a policy', () => {
  const base = policyFiles({})
  const revision = (guardrails?: string) =>
    parsePolicySet(policyFiles(guardrails === undefined ? {} : { guardrails })).revision

  test('are part of its revision, and a policy without any keeps its name', () => {
    const one = '- nobody but admin: DELETE /users/*'
    expect(revision('')).toBe(parsePolicySet(base).revision)
    expect(revision(one)).not.toBe(revision(''))
    expect(revision(`# comment\n${one}`)).toBe(revision(one))
    expect(revision(`${one}\n  reason: Because.`)).not.toBe(revision(one))
  })

  test.each([
    ['only: a', /invalid guardrails: write a YAML list/],
    ['- only: a', /may is required/],
    ['- may: GET /x', /incomplete guardrail/],
    ['- { nobody but admin: GET /x, for: a }', /for cannot be combined/],
    ['- { nobody: GET /x }', /unknown key: use only, may/],
    ['- nobody but admin: FETCH /x', /"FETCH \/x" is not a call/],
    ['- nobody but admin: GET x', /must start with "\/"/],
    ['- never both: [GET /x]', /needs two entries/],
    ['- every route: has tests', /must be "has a test"/],
    ['- no grant longer than: soon', /must be days, such as 90d/],
    ['- only: [""]\n  may: GET /x', /role key must not be empty/],
  ])('are rejected when they say nothing: %s', (guardrails, message) => {
    expect(() => parsePolicySet(policyFiles({ guardrails }))).toThrow(message)
  })
})

const guarded = fc.record({
  methods: fc.constantFrom<readonly string[]>(['GET'], ['PUT', 'DELETE'], ['*']),
  path: fc.constantFrom('/a', '/a/*', '/:x', '/*', '/a/:x', '/ab*', '/:x/b', '/api/v1/*'),
  roles: fc.constantFrom<readonly string[]>([], ['clerk'], ['viewer', 'lead']),
})

test('for random policies and configurations, nothing is hidden and every proof is true', () => {
  let [broken, kept] = [0, 0]
  fc.assert(
    fc.property(randomScope, guarded, ({ admission, policies }, { methods, path, roles }) => {
      const calls = { text: '', methods, path }
      const origin = { file: 'guardrails.yaml', line: 1 }
      const guardrail: Guardrail = { kind: 'only', roles, calls, text: '', origin }
      const set = { ...policies.set, guardrails: [guardrail] }
      const violations = guardrailViolations({ set, admission, expectations: [], now })
      const asked = methods.includes('*') ? ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] : methods
      const all = paths
        .filter((each) => matches(path, each))
        .flatMap((each) => asked.map((method) => ({ method, path: each })))

      const proven = new Set(violations.map(({ proof }) => proof?.roleKey))
      const others = rolesIn(policies.set).filter((roleKey) => !roles.includes(roleKey))
      for (const roleKey of others) {
        const may = all.some((call) => {
          const { allowed, step } = decide({ ...call, roleKey }, policies)
          return allowed && step !== 'exclusion'
        })
        // A path outside the list may be the only proof.
        if (may) expect(proven).toContain(roleKey)
      }
      const isOpen = all.some((call) => {
        const verdict = evaluate({ ...call, roleKey: '\0' }, admission, policies)
        const { allowed, step, decision, endpoint } = verdict
        if (endpoint !== undefined) return false
        return allowed && (step === 'route' || (decision?.exclusion?.origin.line ?? 0) > 0)
      })
      if (isOpen) expect(proven).toContain(undefined)
      for (const { proof, message } of violations) {
        expect(proof, message).toBeDefined()
        const { roleKey, ...call } = proof ?? { method: '', path: '' }
        expect(matches(path, call.path), message).toBe(true)
        if (roleKey === undefined) continue
        expect(others).toContain(roleKey)
        expect(decide({ ...call, roleKey }, policies).allowed, message).toBe(true)
      }
      if (violations.length > 0) broken++
      else kept++
    }),
    { numRuns: 300 },
  )
  expect(Math.min(broken, kept)).toBeGreaterThan(20)
})

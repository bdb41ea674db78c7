import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkPolicySet, type Finding } from '../../src/policy/checks/check.ts'
import type { MentionedRole } from '../../src/policy/checks/roles.ts'
import { diffPolicies } from '../../src/policy/diff/diff.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { type PolicyText, policyFiles, policySet, widestModel } from './policy-text.ts'

function check(text: PolicyText, mentioned: readonly MentionedRole[] = []): readonly Finding[] {
  const files = policyFiles({ model: widestModel, ...text })
  return checkPolicySet(parsePolicySet(files), files, { mentioned })
}

function inShort({ file, line, column, code }: Finding): string {
  return `${file}:${line}:${column} ${code}`
}

const modelForCasbin = formatModel(widestModel).replace(
  'r.act == p.act',
  'r.act == p.act && r.obj != "/none"',
)

describe('checking a policy', () => {
  test('finds nothing in one where every line counts', () => {
    const findings = check({
      lines: [
        'p, clerk, /orders, GET',
        'p, clerk, /orders/:id, GET',
        'p, lead, /orders/:id, DELETE',
        'p, lead, /orders/7, DELETE, deny',
        'g, lead, clerk',
      ],
      exclusions: '- { method: GET, path: /api/v1/user/profile, reason: ones own }',
    })

    expect(findings).toEqual([])
  })

  test.each<[string, string[], string]>([
    ['a parameter', ['p, c, /o/:id, GET', 'p, c, /o/7, GET'], 'policy.csv:2:1 useless-rule'],
    ['a twin', ['p, c, /o/:id, GET', 'p, c, /o/:key, GET'], 'policy.csv:2:1 useless-rule'],
    [
      'a rule of the grandparent',
      ['p, a, /x, GET', 'g, c, b', 'g, b, a', 'p, c, /x, GET', 'p, b, /y, GET'],
      'policy.csv:4:1 useless-rule',
    ],
    [
      'a deny, which stays',
      ['p, c, /o/:id, GET', 'p, c, /o/*, *, deny', 'p, c, /x, GET'],
      'policy.csv:1:1 useless-rule',
    ],
    [
      'a wider deny',
      ['p, c, /:o, *', 'p, c, /o, GET, deny', 'p, c, /o*, GET, deny'],
      'policy.csv:2:1 useless-rule',
    ],
  ])('finds a rule that is useless because of %s', (_, lines, expected) => {
    expect(check({ lines }).map(inShort)).toEqual([expected])
  })

  test.each<[string, string[], string]>([
    ['pattern', ['p, c, /o/:id, GET', 'p, c, /o/*, GET'], 'policy.csv:2:7 wide-rule'],
    ['method', ['p, c, /o, *', 'p, c, /o, GET'], 'policy.csv:1:11 wide-rule'],
    ['prefix', ['p, c, /o*, GET', 'p, c, /order, GET'], 'policy.csv:1:7 wide-rule'],
    [
      'pattern of an inherited role',
      ['p, c, /o/7, GET', 'p, b, /o/*, GET', 'g, c, b'],
      'policy.csv:2:7 wide-rule',
    ],
  ])('names a rule with a wide %s, not the rule that it makes redundant', (_, lines, expected) => {
    const [first, ...rest] = check({ lines })

    expect([first].map((each) => inShort(each as Finding))).toEqual([expected])
    expect(first?.message).toContain('makes 1 rule redundant, for example policy.csv:')
    expect(rest).toEqual([])
  })

  test('reports a very wide rule once, however many rules it makes redundant', () => {
    const narrow = Array.from({ length: 1200 }, (_, index) => `p, c, /o/${index}, GET`)

    const findings = check({ lines: [...narrow, 'p, c, /*, *'] })

    expect(findings.map(inShort)).toEqual(['policy.csv:1201:7 wide-rule'])
    expect(findings[0]?.message).toBe(
      'very wide: allows role "c" every method on every path, also on endpoints that are added later; makes 1,200 rules redundant, for example policy.csv:1: name the resources and methods that the role needs',
    )
    expect(findings[0]?.related).toHaveLength(1200)
  })

  test.each(['/*', '/api/*', '/api*', '/api/v1/*', '/v2/*', '/:tenant/*', '/api/:version/*'])(
    'calls a rule on %s very wide',
    (path) => {
      expect(check({ lines: [`p, c, ${path}, GET`] }).map(inShort)).toEqual([
        'policy.csv:1:7 wide-rule',
      ])
    },
  )

  test.each(['/orders/*, GET', '/api/v1/orders*, GET', '/api/v1/orders/:id, *', '/*, *, deny'])(
    'does not call a rule on %s very wide',
    (rule) => {
      const lines = [`p, c, ${rule}`, 'p, c, /x, GET']

      expect(check({ lines }).map(({ code }) => code)).not.toContain('wide-rule')
    },
  )

  test('finds a rule that is useless because of an exclusion', () => {
    const exclusions = '- { method: GET, path: /api/v1/health, reason: says nothing }'

    const [first, ...rest] = check({ lines: ['p, c, /api/v1/health, GET'], exclusions }).filter(
      ({ file }) => file === 'policy.csv',
    )

    expect(first).toMatchObject({ code: 'useless-rule', file: 'policy.csv', line: 1 })
    expect(first?.message).toContain('exclusions.yaml:1')
    expect(rest).toEqual([])
  })

  test.each([
    ['of admin', 'p, admin, /x, GET', 4],
    ['for the removed endpoint', 'p, c, /api/v1/Refresh_Token/, GET', 7],
    ['for what the gateway answers itself', 'p, c, /api/v1/login, POST', 7],
    ['for what every logged-in caller may do', 'p, c, /api/v1/logout, POST', 7],
    ['for a method that the gateway refuses', 'p, c, /x, TRACE', 11],
  ])('finds a rule that never applies %s', (_, line, column) => {
    expect(check({ lines: [line] })).toMatchObject([{ code: 'never-applies', line: 1, column }])
  })

  test('knows that a rule of admin counts for a role that inherits from it', () => {
    expect(check({ lines: ['p, admin, /x, GET', 'g, deputy, admin'] })).toEqual([])
  })

  test('does not look into rules and roles when casbin answers', () => {
    const model = modelForCasbin
    const lines = ['p, c, /x/*, GET, allow', 'p, c, /x/:id, GET, allow', 'g, a, b']
    const exclusions = '- { method: PUT, path: /x/y, reason: why }'

    const findings = check({ modelText: model, lines: [...lines, 'p, c, /x/*, GET'], exclusions })

    expect(findings.map(({ code }) => code)).toEqual([
      'exclusion-business',
      'exclusion-changes',
      'duplicate',
    ])
  })

  test('finds lines and exclusions that are repeated', () => {
    const entry = '- { method: GET, path: /api/v1/user/profile, reason: ones own }'
    const other = entry.replace('ones own', 'again')

    const findings = check({
      lines: ['p, c, /x, GET', 'p, c, /y, GET', '  p,c,"/x",GET , allow'],
      exclusions: `${entry}\n${other}`,
    })

    expect(findings.map(inShort)).toEqual([
      'exclusions.yaml:2:1 duplicate',
      'policy.csv:3:3 duplicate',
    ])
    expect(findings.at(-1)?.message).toContain('policy.csv:1')
  })

  test('finds roles that nothing is granted to', () => {
    const lines = ['p, clerk, /x, GET', 'g, lead, clerk', 'g, ghost, phantom', 'g, clerk, ghost']
    const at = { file: 'x_test.yaml', line: 3, column: 9 }

    const findings = check({ lines }, [
      { roleKey: 'lead', at, withoutRules: false },
      { roleKey: 'clrek', at, withoutRules: false },
      { roleKey: 'nobody', at, withoutRules: true },
      { roleKey: 'clerk', at: { ...at, line: 9 }, withoutRules: true },
      { roleKey: 'admin', at, withoutRules: false },
    ])

    expect(findings.map(inShort)).toEqual([
      'policy.csv:3:4 role-without-rules',
      'policy.csv:3:11 role-without-rules',
      'x_test.yaml:3:9 role-without-rules',
      'x_test.yaml:9:9 role-without-rules',
    ])
    expect(findings[2]?.message).toContain('"clrek"')
  })

  test.each<[string, string[], string]>([
    ['no other line names', ['p, viewr, /orders/*, *, deny'], 'policy.csv:3:4'],
    [
      'only other deny rules name',
      ['p, viewr, /orders/7, GET, deny', 'p, viewr, /orders/8, GET, deny'],
      'policy.csv:3:4',
    ],
    [
      'inherits only from roles without allow rules',
      ['p, viewr, /orders/7, GET, deny', 'p, viewers, /x, GET, deny', 'g, viewr, viewers'],
      'policy.csv:3:4',
    ],
  ])('finds a deny rule for a role that %s', (_, lines, place) => {
    const findings = check({
      lines: ['p, viewer, /orders, GET', 'p, clerk, /orders, POST', ...lines],
    }).filter(({ code }) => code === 'deny-without-effect')

    expect(findings[0]?.message).toContain('did you mean "viewer"?')
    expect(inShort(findings[0] as Finding)).toBe(`${place} deny-without-effect`)
    expect(new Set(findings.map(({ message }) => message)).size).toBe(findings.length)
  })

  test.each<[string, string[]]>([
    ['has an allow rule', ['p, viewer, /orders/7, GET, deny']],
    ['inherits one', ['p, trainee, /orders/7, GET, deny', 'g, trainee, viewer']],
    ['is inherited by a role that has one', ['p, base, /orders/7, GET, deny', 'g, viewer, base']],
  ])('has nothing against a deny rule for a role that %s', (_, lines) => {
    const codes = check({ lines: ['p, viewer, /orders/:id, GET', ...lines] }).map(
      ({ code }) => code,
    )

    expect(codes).not.toContain('deny-without-effect')
  })

  test('finds a mistyped role of a deny rule when casbin answers too', () => {
    const modelText = modelForCasbin
    const lines = [
      'p, viewer, /x/*, GET, allow',
      'p, viewr, /x/7, GET, deny',
      'p, *, /x/8, GET, deny',
    ]

    const findings = check({ modelText, lines })

    expect(findings.map(inShort)).toEqual(['policy.csv:2:1 deny-without-effect'])
  })

  test.each([
    ['allows', 'p, *, /x, GET', 'exclusions.yaml'],
    ['denies', 'p, *, /x, GET, deny', 'denies nothing'],
    ['looks like a pattern and allows', 'p, clerk*, /x, GET', 'compared literally'],
  ])('finds a rule for the role * that %s', (_, line, words) => {
    const findings = check({ lines: ['p, clerk, /x, GET', line] })

    expect(findings.map(inShort)).toEqual(['policy.csv:2:4 role-wildcard'])
    expect(findings[0]?.message).toContain(words)
  })

  test.each([
    ['are composed otherwise', 'caf\u00e9', 'cafe\u0301'],
    ['have another kind of blank', 'order clerk', 'order\u00a0clerk'],
    ['have wide letters', 'clerk', '\uff43lerk'],
  ])('finds role keys that look the same and %s', (_, one, other) => {
    const findings = check({ lines: [`p, ${one}, /x, GET`, `p, ${other}, /y, GET`] })

    expect(findings.map(inShort)).toEqual(['policy.csv:2:4 role-spelling'])
  })

  test.each([
    ['a Cyrillic letter among Latin ones', 'cl\u0435rk'],
    ['a Greek letter among Latin ones', 'cl\u03b5rk'],
    ['another spelling of admin', 'Admin'],
    ['an imitation of admin', '\u0430dmin'],
  ])('finds %s in a role key', (_, role) => {
    expect(check({ lines: [`p, ${role}, /x, GET`] }).map(inShort)).toEqual([
      'policy.csv:1:4 role-spelling',
    ])
  })

  test.each([
    ['a letter too few', 'viewer', 'viewr'],
    ['a letter too many', 'viewer', 'vieweer'],
    ['a wrong letter', 'viewer', 'viewet'],
    ['swapped letters', 'viewer', 'veiwer'],
    ['a plural', 'lead', 'leads'],
    ['a forgotten separator', 'order-clerk', 'orderclerk'],
    ['an error in one of several words', 'order-clerk-2', 'order-clrek-2'],
    ['another case besides', 'viewer', 'Viewr'],
    ['nearly the name of admin', 'clerk', 'admins'],
  ])('finds a role key with %s', (_, right, wrong) => {
    const lines = [`p, ${right}, /x, GET`, `p, ${right}, /y, GET`, `p, ${wrong}, /x, GET`]

    expect(check({ lines }).map(inShort)).toEqual(['policy.csv:3:4 role-similar'])
  })

  test.each([
    ['two errors', 'editor', 'auditor'],
    ['numbers', 'clerk1', 'clerk2'],
    ['a number more', 'clerk', 'clerk2'],
    ['letters as numbers', 'team-a', 'team-b'],
    ['short words', 'lead', 'read'],
    ['codes of countries', 'sales-de', 'sales-dk'],
    ['generated parts', 'role-a7f2c', 'role-a7f3c'],
  ])('has nothing against role keys that differ in %s', (_, one, other) => {
    const lines = [`p, ${one}, /x, GET`, `p, ${one}, /y, GET`, `p, ${other}, /x, GET`]

    expect(check({ lines })).toEqual([])
  })

  test('doubts the role key that fewer lines name, wherever it comes', () => {
    const lines = ['p, viewr, /x, GET', 'p, viewer, /x, GET', 'p, viewer, /y, GET']

    expect(check({ lines }).map(inShort)).toEqual(['policy.csv:1:4 role-similar'])
  })

  test('has nothing against a role key of one alphabet', () => {
    const lines = ['\u043a\u043b\u0435\u0440\u043a', '\u5e97\u5458 a', 'caf\u00e9'].map(
      (role) => `p, ${role}, /x, GET`,
    )

    expect(check({ lines })).toEqual([])
  })

  test('finds role keys that differ only in case', () => {
    const findings = check({ lines: ['p, clerk, /x, GET', 'p, Clerk, /y, GET'] })

    expect(findings.map(inShort)).toEqual(['policy.csv:2:4 role-spelling'])
  })

  test.each([
    ['beside rules', 'GET', '/api/v1/orders/export', ['exclusion-business']],
    ['with a parameter', 'GET', '/api/v1/config/:key', ['exclusion-wide']],
    ['that changes something', 'PUT', '/api/v1/sys-user', ['exclusion-changes']],
    [
      'that does all of it',
      'DELETE',
      '/api/v1/orders/:id',
      ['exclusion-business', 'exclusion-wide', 'exclusion-changes'],
    ],
    ['of the specification', 'POST', '/api/v1/logout', []],
    ['that is only read', 'GET', '/api/v1/health', []],
  ])('looks at an exclusion %s', (_, method, path, codes) => {
    const exclusions = `- { method: ${method}, path: '${path}', reason: because }`

    const findings = check({ lines: ['p, c, /api/v1/orders, GET'], exclusions })

    expect(findings.map(({ code }) => code)).toEqual(codes)
  })
})

const pattern = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'ab', ':id', ':k'), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/*', '*'),
  )
  .map(([segments, tail]) => {
    const path = `/${segments.join('/')}`
    return tail === '*' && path.includes(':') ? path : path + tail
  })
const ruleLine = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c'),
    pattern,
    fc.constantFrom('GET', 'PUT', '*'),
    fc.constantFrom('allow', 'allow', 'deny'),
  )
  .map(([role, path, method, effect]) => `p, ${role}, ${path}, ${method}, ${effect}`)

const letter = fc.constantFrom(...'abcde')
const word = fc.array(letter, { minLength: 6, maxLength: 12 }).map((letters) => letters.join(''))

describe('whatever a policy says', () => {
  test('every typing error in a role key is found', () => {
    fc.assert(
      fc.property(
        fc.tuple(word, letter, fc.nat({ max: 5 }), fc.nat({ max: 3 })),
        fc.array(word, { maxLength: 5 }),
        ([right, more, at, kind], others) => {
          const [before, after] = [right.slice(0, at), right.slice(at)]
          const swapped = `${after[1] ?? ''}${after[0]}${after.slice(2)}`
          const changes = [more + after, after.slice(1), more + after.slice(1), swapped]
          const wrong = before + changes[kind]
          fc.pre(wrong !== right)

          const findings = check({
            lines: [right, wrong, ...others].map((role, index) => `p, ${role}, /x/${index}, GET`),
          })

          expect(findings.map(({ code }) => code)).toContain('role-similar')
        },
      ),
    )
  })

  test('taking all useless rules out changes no access', () => {
    let useless = 0

    fc.assert(
      fc.property(
        fc.array(ruleLine, { minLength: 1, maxLength: 14 }),
        fc.subarray(['g, a, b', 'g, b, c', 'g, a, c']),
        fc.constantFrom('', '- { method: GET, path: /a/:id, reason: why }'),
        (rules, heirs, exclusions) => {
          const lines = [...new Set(rules)]
          const found = check({ lines: [...lines, ...heirs], exclusions })
          const dropped = new Set(
            found.flatMap(({ code, line, related = [] }) => [
              ...(code === 'useless-rule' ? [line] : []),
              ...(code === 'wide-rule' ? related.map((each) => each.line) : []),
            ]),
          )
          useless += dropped.size
          const kept = lines.filter((_, index) => !dropped.has(index + 1))
          const spare = kept.length === 0 ? ['p, spare, /spare, GET'] : []

          const { changes } = diffPolicies(
            policySet({ model: widestModel, lines: [...lines, ...heirs, ...spare], exclusions }),
            policySet({ model: widestModel, lines: [...kept, ...heirs, ...spare], exclusions }),
          )

          expect(changes).toEqual([])
        },
      ),
      { numRuns: 1000 },
    )

    expect(useless).toBeGreaterThan(500)
  })
})

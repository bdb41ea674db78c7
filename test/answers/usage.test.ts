import { describe, expect, test } from 'vitest'
import { createAdmission } from '../../src/admission/verdict.ts'
import { candidateWithout } from '../../src/answers/usage/candidate.ts'
import { denialsOf } from '../../src/answers/usage/denials.ts'
import { observationOf } from '../../src/answers/usage/observation.ts'
import { unusedOf } from '../../src/answers/usage/unused.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicyFile, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import type { Usage } from '../../src/policy/usage/usage.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../src/policy/usage/usage-key.ts'
import { widestModel } from '../policy/policy-text.ts'

const at = Date.parse('2026-11-16T14:30:00Z')
const counted = { count: 1, last: at }

function policy(lines: readonly string[], exclusions = ''): readonly PolicyFile[] {
  return [
    { name: 'model.conf', text: formatModel(widestModel) },
    { name: 'policy.csv', text: `${lines.join('\n')}\n` },
    { name: 'exclusions.yaml', text: exclusions },
  ]
}

/** Counts for the rules with these paths, the exclusions with these paths, and these roles. */
function usageOf(
  files: readonly PolicyFile[],
  { paths = [], roles = [] }: { paths?: readonly string[]; roles?: readonly string[] },
): Usage {
  const set = parsePolicySet(files)
  const keys = [
    ...set.rules.filter(({ path }) => paths.includes(path)).map(ruleUsageKey),
    ...set.exclusions.filter(({ path }) => paths.includes(path)).map(exclusionUsageKey),
  ]
  return {
    decisions: new Map(keys.map((key) => [key, counted])),
    roles: new Map(roles.map((role) => [role, counted])),
    refusals: [],
    others: { decision: 0, role: 0, refusal: 0 },
    observed: [],
  }
}

function unused(files: readonly PolicyFile[], usage: Usage, before = [files]) {
  const { grants, exclusions, roles, unmentioned } = unusedOf(parsePolicySet(files), usage, {
    before: before.map(parsePolicySet),
    now: at,
  })
  const paths = (list: readonly { what: { path: string }; isNew: boolean }[]) =>
    list.map(({ what, isNew }) => `${what.path}${isNew ? ' new' : ''}`)
  return {
    grants: paths(grants),
    exclusions: paths(exclusions),
    roles: roles.map(({ what, isNew }) => `${what}${isNew ? ' new' : ''}`),
    unmentioned: unmentioned.map(({ roleKey }) => roleKey),
  }
}

describe('what is unused', () => {
  test('are grants that never decided, not rules that deny', () => {
    const files = policy(['p, a, /used, GET', 'p, a, /unused, GET', 'p, a, /no, GET, deny'])

    expect(unused(files, usageOf(files, { paths: ['/used'], roles: ['a'] })).grants).toEqual([
      '/unused',
    ])
  })

  test('are exclusions that let no request through, except those that gateways answer first', () => {
    const entries = ['/api/v1/news', '/api/v1/used', '/api/v1/getCaptcha']
    const files = policy(
      ['p, a, /x, GET'],
      entries.map((path) => `- { method: GET, path: ${path}, reason: public }\n`).join(''),
    )

    const answer = unused(files, usageOf(files, { paths: ['/api/v1/used'] }))
    expect(answer.exclusions).toEqual(['/api/v1/news'])
  })

  test('are roles that no token carried, nor a role that inherits from them', () => {
    const files = policy([
      'p, staff, /a, GET',
      'p, ghost, /b, GET',
      'g, clerk, staff',
      'g, ghost, staff',
    ])

    const answer = unused(files, usageOf(files, { roles: ['clerk', 'admin', 'stranger'] }))
    expect(answer.roles).toEqual(['ghost'])
    expect(answer.unmentioned).toEqual(['stranger'])
  })

  test('is too new to tell about what was not in the policy when the observation began', () => {
    const before = policy(['p, a, /old, GET', 'p, b, /heirloom, GET'])
    const files = policy([
      'p, a, /old, GET',
      'p, a, /young, GET',
      'p, b, /heirloom, GET',
      'g, newcomer, b',
    ])

    const answer = unused(files, usageOf(files, {}), [before, files])
    // A role that inherits the rule only since then may not have had the time to use it.
    expect(answer.grants).toEqual(['/old', '/young new', '/heirloom new'])
    expect(answer.roles).toEqual(['a', 'b new', 'newcomer new'])
    const unknown = unusedOf(parsePolicySet(files), usageOf(files, {}), {
      before: undefined,
      now: at,
    })
    expect(unknown.grants.every(({ isNew }) => isNew)).toBe(true)
  })

  test('is not what takes over from a line that decided and does not last', () => {
    const files = policy(
      [
        '# postern: until 2999-01-01',
        'p, a, /orders/*, GET',
        'p, a, /orders/:id, GET',
        'p, a, /orders/:id, PUT',
        'p, b, /orders/:id, GET',
        'p, c, /opened/now, GET',
        'p, d, /shared, GET',
        'p, e, /shared, GET',
        '# postern: until 2999-01-01',
        'g, e, d',
      ],
      '# postern: until 2999-01-01\n- { method: GET, path: /opened/now, reason: a while }\n',
    )
    const set = parsePolicySet(files)
    const used = new Set(['a /orders/*', 'd /shared'])
    const decisions = new Map([
      ...set.rules
        .filter(({ roleKey, path }) => used.has(`${roleKey} ${path}`))
        .map((rule) => [ruleUsageKey(rule), counted] as const),
      ...set.exclusions.map((each) => [exclusionUsageKey(each), counted] as const),
    ])
    const { grants } = unusedOf(set, { decisions, roles: new Map() }, { before: [set], now: at })

    expect(grants.map(({ what }) => `${what.roleKey} ${what.path} ${what.method}`)).toEqual([
      'a /orders/:id PUT',
      'b /orders/:id GET',
    ])
  })

  test('is not what takes over from a line that has gone since', () => {
    const before = policy(['p, a, /orders/*, GET', 'p, a, /orders/:id, GET', 'p, a, /x, GET'])
    const files = policy(['p, a, /orders/:id, GET', 'p, a, /x, GET'])

    const answer = unused(files, usageOf(before, { paths: ['/orders/*'] }), [before])
    expect(answer.grants).toEqual(['/x'])
  })

  test('is too new to tell about what had expired and was prolonged, and about a new g line', () => {
    const before = policy([
      '# postern: until 2026-11-01',
      'p, a, /prolonged, GET',
      '# postern: until 2026-12-01',
      'p, a, /lasting, GET',
      'p, b, /b, GET',
      'p, c, /c, GET',
    ])
    const files = policy([
      '# postern: until 2027-01-01',
      'p, a, /prolonged, GET',
      '# postern: until 2027-01-01',
      'p, a, /lasting, GET',
      'p, b, /b, GET',
      'p, c, /c, GET',
      'g, b, c',
    ])

    const answer = unused(files, usageOf(files, {}), [before])
    expect(answer.grants).toEqual(['/prolonged new', '/lasting', '/b', '/c new'])
    expect(answer.roles).toEqual(['a', 'b new', 'c new'])
  })

  test('is certain only if the time was observed from its begin, without a gap of a day', () => {
    const hours = (from: number, to: number, revision = 'r-000000000001') =>
      Array.from({ length: to - from + 1 }, (_, index) => {
        const moment = new Date(at - (to - index) * 3_600_000).toISOString()
        const [day, hour] = [moment.slice(0, 10), Number(moment.slice(11, 13))]
        return { day, hour, revision, decisions: 10 }
      })
    const others = { decision: 0, role: 0, refusal: 0 }
    const about = (observed: Usage['observed'], days: number, uncounted = 0) =>
      observationOf(
        {
          ...usageOf(policy(['p, a, /x, GET']), {}),
          observed,
          others: { ...others, decision: uncounted },
        },
        { begin: at - days * 86_400_000, now: at },
      )

    const two = [...hours(48, 60), ...hours(48, 48, 'r-000000000002'), ...hours(0, 20)]
    expect(about(two, 2)).toEqual({
      days: 2,
      observedDays: 2,
      hours: 22,
      from: Date.parse('2026-11-14T14:00:00Z'),
      decisions: 230,
      uncounted: 0,
      firstRevisions: ['r-000000000001', 'r-000000000002'],
      laterRevisions: [],
      isComplete: true,
    })
    expect(about(two, 2, 1).isComplete).toBe(false)
    expect(about(two, 3)).toMatchObject({ observedDays: 1, days: 3, isComplete: false })
    expect(about(hours(0, 20), 1)).toMatchObject({ observedDays: 0, days: 1, isComplete: false })
    expect(about(hours(0, 23), 1).isComplete).toBe(true)
    expect(about([...hours(71, 72), ...hours(0, 20)], 3).isComplete).toBe(false)
    expect(about([], 1)).toMatchObject({ observedDays: 0, hours: 0, isComplete: false })
  })
})

describe('a candidate', () => {
  function candidate(
    files: readonly PolicyFile[],
    usage: Usage,
    { before = files, areRolesCounted = true } = {},
  ) {
    const set = parsePolicySet(files)
    const answer = unusedOf(set, usage, { before: [parsePolicySet(before)], now: at })
    return candidateWithout(files, set, answer, areRolesCounted)
  }
  const textOf = (files: readonly PolicyFile[], name: string) =>
    files.find((file) => file.name === name)?.text

  test('keeps comments and order, and drops every repetition of an unused line', () => {
    const files = policy([
      '# what a may do',
      'p, a, /1, GET',
      '',
      '# postern: ignore duplicate',
      '# about 2',
      '# postern: until 2999-01-01',
      '  p,a,"/2",GET',
      '# the end',
      'p, a, /3, GET',
      'p, a, /2, GET, allow',
    ])

    const { files: left, dropped } = candidate(files, usageOf(files, { paths: ['/1', '/3'] }))
    expect(textOf(left, 'policy.csv')).toBe(
      ['# what a may do', 'p, a, /1, GET', '', '# about 2', '# the end', 'p, a, /3, GET', ''].join(
        '\n',
      ),
    )
    expect(dropped).toEqual({ rules: 1, inheritances: 0, exclusions: 0 })
  })

  test('keeps what is too new to tell, and rules that deny', () => {
    const before = policy(['p, a, /1, GET', 'p, a, /2, GET', 'p, a, /no, GET, deny'])
    const files = policy([
      'p, a, /1, GET',
      'p, a, /2, GET',
      'p, a, /no, GET, deny',
      'p, a, /4, GET',
    ])

    const { set } = candidate(files, usageOf(files, { paths: ['/1'], roles: ['a'] }), { before })
    expect(set.rules.map(({ path }) => path)).toEqual(['/1', '/no', '/4'])
  })

  test('drops the inheritances of roles never seen, and those that grant nothing any more', () => {
    const files = policy([
      'p, staff, /used, GET',
      'p, idle, /unused, GET',
      'g, clerk, staff',
      'g, clerk, idle',
      'g, ghost, staff',
    ])

    const usage = usageOf(files, { paths: ['/used'], roles: ['clerk'] })
    const { set } = candidate(files, usage)
    expect(set.inheritances.map(({ roleKey, parentKey }) => `${roleKey} ${parentKey}`)).toEqual([
      'clerk staff',
    ])
    // Else a role whose tokens came after the limit would lose what it uses through its parent.
    const uncounted = candidate(files, usage, { areRolesCounted: false })
    expect(uncounted.dropped).toMatchObject({ rules: 1, inheritances: 0 })
  })

  test.each([
    [
      'with an entry on lines of its own',
      '# all\n- method: GET\n  path: /a/b\n  reason: x\n\n# postern: until 2999-01-01\n- method: GET\n  path: /c/d\n  reason: >\n    two\n    lines\n# end\n- { method: GET, path: /e/f, reason: y }\n',
      '# all\n- method: GET\n  path: /a/b\n  reason: x\n\n# end\n- { method: GET, path: /e/f, reason: y }\n',
    ],
    [
      'with the dash on a line of its own',
      '-\n  method: GET\n  path: /a/b\n  reason: x\n# postern: until 2999-01-01\n-\n  method: GET\n  path: /c/d\n  reason: y\n# postern: until 2999-01-01\n-\n  method: GET\n  path: /e/f\n  reason: z\n',
      '-\n  method: GET\n  path: /a/b\n  reason: x\n# postern: until 2999-01-01\n-\n  method: GET\n  path: /e/f\n  reason: z\n',
    ],
    [
      'in one line',
      '[{ method: GET, path: /a/b, reason: x }, { method: GET, path: /c/d, reason: y }, { method: GET, path: /e/f, reason: z }]\n',
      undefined,
    ],
  ])('drops an unused exclusion from a list %s', (_, text, expected) => {
    const files = policy(['p, a, /1, GET'], text)

    const { files: left, set } = candidate(files, usageOf(files, { paths: ['/1', '/a/b', '/e/f'] }))
    expect(set.exclusions.map(({ path }) => path)).toEqual(['/a/b', '/e/f'])
    if (expected !== undefined) expect(textOf(left, 'exclusions.yaml')).toBe(expected)
  })
})

describe('denials', () => {
  const files = policy([
    'p, clerk, /orders/:order, GET',
    'p, boss, /orders/:order, PUT',
    'p, clerk, /all/*, GET',
    'p, clerk, /orders/:order/void, POST, deny',
    'p, boss, /orders/:order/*, PUT',
  ])
  const set = parsePolicySet(files)
  const endpoints = {
    logout: 'gateway',
    profile: 'gateway',
    password: 'gateway',
    captchaAlias: false,
  }
  const asked = {
    policies: compile(set),
    admission: createAdmission({
      routes: [
        { path: '/orders', access: 'permitted' },
        { path: '/all', access: 'permitted' },
      ],
      endpoints,
    }),
  }
  const refused = (roleKey: string, method: string, path: string, count = 1) => ({
    roleKey,
    method,
    path,
    count,
    last: at,
  })

  test('come most frequent first, with near misses and a line that would allow each', () => {
    const [first, second] = denialsOf(
      [refused('clerk', 'PUT', '/orders/:id'), refused('guest', 'GET', '/orders/:id', 5)],
      asked,
    )

    expect(first).toMatchObject({ roleKey: 'guest', line: 'p, guest, /orders/:order, GET' })
    expect(second?.line).toBe('p, clerk, /orders/:order, PUT')
    expect(second?.nearMisses.map(({ differs }) => differs)).toEqual(['method', 'role'])
    for (const { line = '', roleKey, method } of [first, second].flatMap((each) => each ?? [])) {
      const more = policy([...(files[1]?.text.split('\n') ?? []), line])
      const { engine } = compile(parsePolicySet(more))
      expect(engine.decide({ roleKey, method, path: '/orders/7' })?.allowed).toBe(true)
    }
  })

  test('show the path that was refused, and not the pattern of a rule that covers more', () => {
    const lines = [
      ...['p, clerk, /orders/:order, GET', 'p, boss, /orders/:order, PUT'],
      ...['p, clerk, /orders/secret, GET, deny', 'p, boss, /orders/secret/:part, GET'],
    ]
    const shown = denialsOf(
      [
        refused('clerk', 'GET', '/orders/secret', 4),
        refused('clerk', 'PUT', '/orders/secret', 3),
        refused('clerk', 'PUT', '/orders/:id', 2),
        refused('clerk', 'GET', '/orders/secret/:id', 1),
      ],
      { ...asked, policies: compile(parsePolicySet(policy(lines))) },
    )

    expect(shown.map(({ path, line }) => [path, line])).toEqual([
      ['/orders/secret', undefined],
      ['/orders/secret', 'p, clerk, /orders/secret, PUT'],
      ['/orders/:id', 'p, clerk, /orders/:order, PUT'],
      ['/orders/secret/:id', 'p, clerk, /orders/secret/:part, GET'],
    ])
  })

  test.each([
    ['what the policy allows now', refused('clerk', 'GET', '/orders/:id')],
    ['what a rule denies', refused('clerk', 'POST', '/orders/:id/void')],
    ['what no route serves', refused('clerk', 'GET', '/wp-login.php')],
    ['a method that no rule can name', refused('clerk', 'PROPFIND', '/orders/:id')],
    ['a role that no rule can name', refused('a\u0007b', 'GET', '/orders/:id')],
    ['a path that no pattern can name', refused('clerk', 'GET', '/orders/x/a(b')],
    ['a client that called a star', refused('clerk', 'PUT', '/orders/x/*')],
    ['a client that called a star below an order', refused('clerk', 'PUT', '/orders/:id/*')],
    ['a client that called a parameter', refused('clerk', 'PUT', '/orders/x/:all')],
    ['a path without any name', refused('clerk', 'PUT', '/:id/:id')],
  ])('suggest no line for %s', (_, call) => {
    const [denial] = denialsOf([call], asked)

    expect(denial).not.toHaveProperty('line')
  })

  test('quotes a role with a comma, and has only a count where the path was not kept', () => {
    const [quoted, coarse] = denialsOf(
      [
        refused('a,b', 'GET', '/orders/:id', 9),
        { roleKey: 'clerk', method: 'GET', route: '/orders', count: 2, last: at },
      ],
      asked,
    )

    expect(quoted?.line).toBe('p, "a,b", /orders/:order, GET')
    expect(coarse).toEqual({
      roleKey: 'clerk',
      method: 'GET',
      route: '/orders',
      count: 2,
      last: at,
      nearMisses: [],
    })
  })
})

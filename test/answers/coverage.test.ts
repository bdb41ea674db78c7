import { describe, expect, test } from 'vitest'
import type { AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission } from '../../src/admission/verdict.ts'
import { coverOperations } from '../../src/answers/coverage/coverage.ts'
import { findingOf } from '../../src/answers/coverage/findings.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicyText, policies, widestModel } from '../policy/policy-text.ts'

interface Case extends PolicyText {
  readonly routes?: readonly AccessRoute[]
}

/** Compares `METHOD PATH` operations, all of which declare security unless they begin with `open`. */
function cover(calls: readonly string[], { routes, ...text }: Case) {
  const operations = calls.map((call) => {
    const [method = '', path = ''] = call.replace(/^open /, '').split(' ')
    return { method, path, declaresSecurity: !call.startsWith('open ') }
  })
  const admission = createAdmission({
    routes: routes ?? [{ path: '/', access: 'permitted' }],
    endpoints: { logout: 'gateway', profile: 'gateway', password: 'gateway', captchaAlias: false },
  })
  return coverOperations(operations, { admission, policies: policies(text) })
}

/** `kind` or `kind example` of each operation; nothing for those without findings. */
function findings(calls: readonly string[], about: Case): readonly (string | undefined)[] {
  return cover(calls, about).operations.map((access) => {
    const finding = findingOf(access)
    if (finding === undefined) return undefined
    const { kind, isForAll, isComplete, shown } = finding
    return [kind, ...(isForAll ? [] : [shown?.example]), ...(isComplete ? [] : ['sampled'])].join(
      ' ',
    )
  })
}

function withSuperusers(...roleKeys: readonly string[]): string {
  const clauses = roleKeys.map((roleKey) => ` || r.sub == "${roleKey}"`)
  return formatModel(widestModel).replace(/^m = .*$/m, `$&${clauses.join('')}`)
}

describe('operations', () => {
  test('for roles have no finding, and those for admin only have one', () => {
    const lines = ['p, clerk, /orders, GET', 'p, clerk, /orders/:id, PUT']

    expect(findings(['GET /orders', 'PUT /orders/{id}', 'DELETE /orders/{id}'], { lines })).toEqual(
      [undefined, undefined, 'admin'],
    )
  })

  test('that declare security and need no token or no permission are found', () => {
    const about: Case = {
      lines: ['p, clerk, /orders, GET'],
      exclusions: '[{ method: GET, path: /news, reason: for a test }]',
      routes: [
        { path: '/', access: 'permitted' },
        { path: '/files', access: 'authenticated' },
        { path: '/assets', access: 'public' },
      ],
    }
    const calls = ['GET /assets/{name}', 'GET /files/{name}', 'GET /news', 'GET /orders']

    expect(findings(calls, about)).toEqual(['public', 'authenticated', 'authenticated', undefined])
    expect(
      findings(
        calls.map((call) => `open ${call}`),
        about,
      ),
    ).toEqual([undefined, undefined, undefined, undefined])
  })

  test('of the gateway itself need no permission by specification', () => {
    const calls = [
      'POST /api/v1/login',
      'open POST /api/v1/login',
      'POST /api/v1/logout',
      'GET /api/v1/user/profile',
      'PUT /api/v1/user/profile',
      'POST /api/v1/refresh_token',
      'TRACE /orders',
      'GET /a//b',
      'GET /a/../b',
    ]
    const expected = ['public', undefined, undefined, undefined, ...Array(5).fill('refused')]

    expect(findings(calls, { lines: ['p, clerk, /orders, GET'] })).toEqual(expected)
  })

  test('without a route are found, also when a rule allows them', () => {
    const about = {
      lines: ['p, clerk, /*, *'],
      routes: [{ path: '/a', access: 'permitted' }],
    } as const

    expect(findings(['GET /a/b', 'GET /b'], about)).toEqual([undefined, 'unserved'])
    expect(findings(['GET /{x}/b'], about)).toEqual(['some /x/b'])
  })

  test('are judged by all values of their parameters', () => {
    const about: Case = {
      lines: ['p, clerk, /orders/export, GET'],
      exclusions: '[{ method: GET, path: /orders/help, reason: for a test }]',
    }

    expect(findings(['GET /orders/{id}'], about)).toEqual(['authenticated /orders/help'])
    expect(findings(['open GET /orders/{id}'], about)).toEqual(['some /orders/x'])
    // These values belong to the other operations.
    const calls = ['GET /orders/{id}', 'GET /orders/help', 'GET /orders/export']
    expect(findings(calls, about)).toEqual(['admin', 'authenticated', undefined])
  })

  test('leave the endpoints of the gateway to the gateway', () => {
    expect(findings(['GET /api/v1/{name}'], { lines: ['p, clerk, /api/v1/:name, GET'] })).toEqual([
      undefined,
    ])
  })

  test('with parts of segments are sampled', () => {
    const lines = ['p, clerk, /a/7.json, GET', 'p, clerk, /b/*, GET']

    expect(
      findings(['GET /a/{id}.json', 'GET /b/{from}-{to}', 'GET /c/{id}:cancel'], { lines }),
    ).toEqual(['some /a/x.json sampled', undefined, 'admin sampled'])
  })

  test('with the longest texts own the paths that several templates fit', () => {
    const calls = ['GET /image({w})', 'GET /image({w},{h})', 'GET /{id}']

    expect(cover(calls, {}).operations.map(({ kinds }) => kinds[0]?.example)).toEqual([
      '/image(x)',
      '/image(x,x)',
      '/x',
    ])
  })

  test('are written as clients send them', () => {
    const lines = ['p, clerk, /caf%C3%A9/%3Cx%3E, GET']

    expect(findings(['GET /café/<x>'], { lines })).toEqual([undefined])
  })

  test('are for admin only when deny rules leave no role, and for the heirs of admin', () => {
    const calls = ['GET /a', 'GET /b', 'GET /c', 'GET /d']
    const lines = [
      'p, clerk, /a, GET, allow',
      'p, clerk, /*, GET, deny',
      'p, viewer, /b, GET, allow',
      'p, admin, /c, GET, allow',
      'p, clerk, /d, GET, allow',
      'p, viewer, /d, GET, allow',
      'g, boss, admin',
    ]

    expect(findings(calls, { model: widestModel, lines })).toEqual([
      'admin',
      undefined,
      undefined,
      undefined,
    ])
  })

  test('are for admin only when superusers alone may call them', () => {
    const about = {
      modelText: withSuperusers('root'),
      lines: [
        'p, clerk, /a, GET, allow',
        'p, root, /b, GET, allow',
        'p, root, /c, GET, allow',
        'g, boss, root',
      ],
    }

    expect(findings(['GET /a', 'GET /b', 'GET /d'], about)).toEqual([undefined, undefined, 'admin'])
  })

  test('are for the heirs of superusers that inherit from others, but not for admin as an heir', () => {
    const modelText = withSuperusers('root', 'boss')
    const lines = ['p, root, /a, GET, allow', 'g, boss, root', 'g, clerk, boss']
    const about = { modelText, lines }
    const onlyAdmin = { ...about, lines: ['p, root, /a, GET, allow', 'g, admin, root'] }

    expect(findings(['GET /a'], about)).toEqual([undefined])
    expect(findings(['GET /a'], onlyAdmin)).toEqual(['admin'])
  })

  test('are sampled when a policy distinguishes thousands of values', () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `p, clerk, /orders/${at}, GET`)

    expect(findings(['GET /orders/{id}', 'GET /orders/7'], { lines })).toEqual([
      'some /orders/x sampled',
      undefined,
    ])
  })

  test('are answered by Casbin for a model that only Casbin evaluates', () => {
    const modelText = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && keyMatch3(r.obj, p.obj) && r.act == p.act
`
    const about = { modelText, lines: ['p, clerk, /orders/{id}, GET'] }

    expect(findings(['GET /orders/{id}', 'GET /orders'], about)).toEqual([undefined, 'admin'])
    expect(cover(['GET /orders/{id}'], about)).toMatchObject({
      areRulesCompared: false,
      unmatched: [],
      operations: [{ isComplete: false }],
    })
  })
})

describe('rules and exclusions', () => {
  const lines = [
    'p, clerk, /api/orders, GET',
    'p, clerk, /api/ordres/:id, GET',
    'p, viewer, /api/ordres/:id, GET',
    'p, clerk, /api/orders/:id, PUT',
    'p, clerk, /api/orders/:id/lines, GET',
    'p, clerk, /api/articles, GET',
    'p, auditor, /api/*, GET',
    'p, auditor, /api/ord*, *',
    'p, auditor, /files/*, GET',
    'p, auditor, /api/orders/, GET',
  ]
  const exclusions = `
- { method: GET, path: /api/help, reason: for a test }
- { method: POST, path: /api/v1/logout, reason: for a test }
`
  const { unmatched, prefixRules } = cover(['GET /api/orders', 'GET /api/orders/{id}'], {
    lines,
    exclusions,
  })

  test('that match no operation are listed once for each path, with the nearest operation', () => {
    expect(
      unmatched.map(({ by, method, path, roles, origins, nearest }) => {
        const near = nearest === undefined ? '-' : `${nearest.method} ${nearest.path}`
        return `${by} ${roles} ${method} ${path} ${origins.map(({ line }) => line)} ${near}`
      }),
    ).toEqual([
      'rule clerk,viewer GET /api/ordres/:id 2,3 GET /api/orders/{id}',
      'rule clerk PUT /api/orders/:id 4 GET /api/orders/{id}',
      'rule clerk GET /api/orders/:id/lines 5 GET /api/orders/{id}',
      'rule clerk GET /api/articles 6 -',
      'rule auditor GET /files/* 9 -',
      'rule auditor GET /api/orders/ 10 GET /api/orders/{id}',
      'exclusion  GET /api/help 2 -',
    ])
  })

  test('that end in a star have a number of operations', () => {
    expect(prefixRules.map(({ path, operations }) => [path, operations])).toEqual([
      ['/api/*', 2],
      ['/api/ord*', 2],
    ])
  })
})

import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const config = `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
  - { path: /orders, upstream: app }
  - { path: /status, upstream: app, access: public, reason: Probes have no token. }
  - { path: /news, upstream: app, access: authenticated, reason: All staff read it. }
  - { path: /news/drafts, upstream: app }
`
const rules = `p, clerk, /orders/:id, GET, allow
p, lead, /orders/*, *, allow
p, lead, /orders/7, DELETE, deny
g, chief, lead
g, lead, clerk
p, clerk, /status/x, GET, allow
p, clerk, /missing, GET, allow
`
const exclusions = `
- { method: GET, path: /orders/help, reason: 'A page for <all>' }
- { method: GET, path: /status/y, reason: Needless. }
- { method: GET, path: /news/:id, reason: In part. }
- { method: GET, path: /nowhere, reason: Not served. }
- { method: POST, path: /api/v1/logout, reason: Ours. }
`
const files = {
  'config/postern.yaml': config,
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': rules,
  'policies/exclusions.yaml': exclusions,
}

async function ask(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return policy(args, { cwd: await folder({ ...files, ...more }) })
}

describe('postern policy who', () => {
  test('names each role with its line and the roles that it inherits from', async () => {
    const { code, out, err } = await ask(['who', 'GET', '/orders/7'])

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replace(/r-\w+/, 'r-')).toBe(`GET /orders/7: admin and 3 roles may
  route   /orders (access permitted, upstream app)
  policy  policies, r-
  ROLE   RULE                                                                 INHERITED FROM
  admin  needs no rule
  chief  policies/policy.csv:1: p, clerk, /orders/:id, GET (and 1 more rule)  lead < clerk
  clerk  policies/policy.csv:1: p, clerk, /orders/:id, GET
  lead   policies/policy.csv:1: p, clerk, /orders/:id, GET (and 1 more rule)  clerk
`)
  })

  test.each([
    ['a deny rule', ['DELETE', '/orders/7'], 1, 'only admin may', 'A deny rule takes it from:'],
    [
      'a public route',
      ['PUT', '/status/z'],
      0,
      'every caller may, without',
      'Probes have no token',
    ],
    ['an authenticated route', ['PUT', '/news'], 0, 'every authenticated caller may', 'All staff'],
    ['an exclusion', ['GET', '/orders/help'], 0, 'every authenticated caller may', '<all>'],
    [
      'an own endpoint',
      ['POST', '/api/v1/login'],
      0,
      'every caller may, without',
      'by the gateway',
    ],
    ['a refused path', ['GET', '/orders/../x'], 1, 'refuses it to every caller', 'answers 400'],
    ['a removed endpoint', ['GET', '/api/v1/refresh_token'], 1, 'refuses it', 'answers 404'],
    ['a method of an own endpoint', ['PUT', '/api/v1/login'], 1, 'refuses it', 'allows POST only'],
    ['a path without a route', ['GET', '/missing'], 0, 'no route serves it', 'the answer is 404'],
    ['other methods', ['PUT', '/missing'], 1, 'only admin may', '1 rule allows other methods'],
    ['a query', ['PUT', '/status/z?x=1'], 0, 'PUT /status/z: every caller', ''],
    ['a refused query', ['PUT', '/status/z?x#y'], 1, 'refuses it to every caller', 'answers 400'],
  ])('says what it means for %s', async (_, call, code, title, detail) => {
    const ran = await ask(['who', ...call])

    expect(ran.code).toBe(code)
    expect(ran.out.split('\n')[0]).toContain(title)
    expect(ran.out).toContain(detail)
  })

  test('gives the same as JSON', async () => {
    const { out } = await ask(['who', 'DELETE', '/orders/7', '--output', 'json'])
    const answer = JSON.parse(out)

    expect(answer).toMatchObject({
      allows: 'roles',
      admin: { allowed: true },
      roles: [],
      route: '/orders',
      policy: 'policies',
      isUnserved: false,
    })
    expect(answer.deniedRoles).toMatchObject([
      { roleKey: 'chief', via: ['lead'], rule: { effect: 'deny', origin: { line: 3 } } },
      { roleKey: 'lead', via: [], alsoAllowedBy: [{ rule: { path: '/orders/*' } }] },
    ])
  })

  test('counts no accounts where that would create a database, and says so', async () => {
    const cwd = await folder(files)

    const { code, err } = await policy(['who', 'GET', '/orders/7', '--accounts'], { cwd })

    expect(code).toBe(0)
    expect(err).toMatch(/^note: accounts are not counted: .*\/data has no embedded database/)
  })

  test('says that routes are ignored without a configuration', async () => {
    const { code, out, err } = await ask(['who', 'GET', '/missing'], {
      'config/postern.yaml': 'nope: 1',
    })

    expect(code).toBe(0)
    expect(out).not.toContain('route')
    expect(err).toContain('note: routes are ignored')
  })
})

describe('postern policy can', () => {
  test('groups the rules of a role and of those it inherits from by route', async () => {
    const { code, out, err } = await ask(['can', 'chief'])

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replace(/r-\w+/, 'r-').split('every caller may')[0]).toBe(
      `chief: 2 rules allow calls on 1 route
  policy    policies, r-
  inherits  lead, clerk
/orders (access permitted, upstream app)
  +  GET     /orders/:id  policies/policy.csv:1  inherited from lead < clerk
  +  *       /orders/*    policies/policy.csv:2  inherited from lead; partly, for example GET /orders/x; a deny rule takes the rest
  -  DELETE  /orders/7    policies/policy.csv:3  inherited from lead; deny, for example DELETE /orders/7
no route serves these paths: the answer is 404
  +  GET  /missing  policies/policy.csv:7  inherited from lead < clerk
without effect
  +  GET  /status/x  policies/policy.csv:6  inherited from lead < clerk
`,
    )
    expect(out).toContain('every caller may, without a token\n')
    expect(out).toContain('\nevery authenticated caller may, whatever the role\n')
  })

  test('compares two roles by access', async () => {
    const more = await ask(['can', 'lead', '--compare', 'clerk'])
    const less = await ask(['can', 'clerk', '--compare', 'lead'])
    const same = await ask(['can', 'chief', '--compare', 'lead'])

    expect([more.code, less.code, same.code]).toEqual([0, 1, 1])
    expect(more.out).toContain(
      'lead may and clerk may not\n  *  /orders/*  policies/policy.csv:2  partly, for example ',
    )
    expect(less.out).toMatch(/^clerk compared with lead: 0 rules more, 1 less\n/)
    expect(same.out).toMatch(/^chief compared with lead: 0 rules more, 0 less\n/)
  })

  test('suggests the nearest role', async () => {
    const { code, out, err } = await ask(['can', 'clrek'])

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^postern: .*does not name the role "clrek".*; did you mean clerk\?\n$/)
  })

  test('says that admin needs no rule', async () => {
    const { code, out } = await ask(['can', 'admin'])

    expect(code).toBe(0)
    expect(out).toMatch(/^admin: may make every call that the gateway does not refuse\n/)
  })
})

describe('postern policy open', () => {
  test('lists what needs no permission with its reason, and exclusions without effect', async () => {
    const { code, out } = await ask(['open'])

    expect(code).toBe(0)
    expect(out.replace(/r-\w+/, 'r-')).toBe(
      `no permission needed: 6 endpoints of the gateway, 2 routes, 2 exclusions
  policy  policies, r-
every caller may, without a token
  OPTIONS  *                   endpoint, answered by the gateway  Applies to the whole server, not to one path.
  POST     /api/v1/login       endpoint, answered by the gateway  A caller who logs in has no role yet.
  GET      /api/v1/getCaptcha  endpoint, answered by the gateway  The captcha is shown before the login.
  *        /status and below   route, upstream app                Probes have no token.
every authenticated caller may, whatever the role
  POST  /api/v1/logout         endpoint, answered by the gateway      Every caller may end their own session.
  GET   /api/v1/user/profile   endpoint, answered by the gateway      Every caller may see their own profile, and no other.
  POST  /api/v1/user/password  endpoint, answered by the gateway      Every user may change their own password.
  *     /news and below        route, upstream app                    All staff read it. (except: /news/drafts is permitted)
  GET   /orders/help           exclusion, policies/exclusions.yaml:2  A page for <all>
  GET   /news/:id              exclusion, policies/exclusions.yaml:4  In part. (partly: route /news is authenticated already)
exclusions without effect
  GET   /status/y       policies/exclusions.yaml:3  route /status is public already
  GET   /nowhere        policies/exclusions.yaml:5  no route serves it: the answer is 404
  POST  /api/v1/logout  policies/exclusions.yaml:6  built in: every authenticated caller may
`,
    )
  })

  test('gives the same as JSON', async () => {
    const answer = JSON.parse((await ask(['open', '--output', 'json'])).out)

    expect(answer.routes).toMatchObject([
      { path: '/status', need: 'nothing', reason: 'Probes have no token.', except: [] },
      { path: '/news', need: 'identity', except: [{ path: '/news/drafts', access: 'permitted' }] },
    ])
    expect(answer.exclusions.map((each: { effect: string }) => each.effect)).toEqual([
      'whole',
      'none',
      'partly',
      'none',
      'none',
    ])
  })
})

describe('a fixed response', () => {
  const routes = `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
  - { path: /, upstream: app }
  - { path: /orders, respond: { status: 503 } }
  - { path: /robots.txt, match: exact, access: public, reason: For crawlers., respond: { body: x } }
`
  const shown = (args: readonly string[]) => ask(args, { 'config/postern.yaml': routes })
  const read = async (args: readonly string[]) =>
    JSON.parse((await shown([...args, '--output', 'json'])).out)

  test.each([
    [['can', 'clerk'], '/orders (access permitted, fixed response)\n'],
    [['who', 'GET', '/orders/7'], '/orders (access permitted, fixed response)\n'],
    [['explain', 'clerk', 'GET', '/orders/7'], '/orders (access permitted, fixed response)\n'],
    [['open'], '/robots.txt         route, fixed response '],
    [['matrix'], 'DELETE  /orders/7              permitted, fixed response  '],
    [['matrix', '--output', 'csv'], 'DELETE,/orders/7,permitted fixed-response,/orders,'],
    [['matrix', '--output', 'markdown'], '| `DELETE /orders/7` | permitted, fixed response |'],
    [['matrix', '--output', 'html'], '</b> /orders/7<td>permitted, fixed response<td'],
  ])('is named by policy %j', async (args, words) => {
    expect((await shown(args)).out).toContain(words)
  })

  test('has a field in every answer', async () => {
    const [can, who, open, explain, matrix] = [
      await read(['can', 'clerk']),
      await read(['who', 'GET', '/orders/7']),
      await read(['open']),
      await read(['explain', 'clerk', 'GET', '/orders/7']),
      await read(['matrix']),
    ]
    const field = ({ path, route, isFixedResponse }: Readonly<Record<string, unknown>>) => [
      path ?? Object(route).path,
      isFixedResponse,
    ]

    expect([can.routes.map(field), open.routes.map(field)]).toEqual([
      [
        ['/', false],
        ['/orders', true],
      ],
      [['=/robots.txt', true]],
    ])
    expect([who.isFixedResponse, explain.isFixedResponse]).toEqual([true, true])
    expect(matrix.operations.map(field)).toEqual(
      expect.arrayContaining([
        ['/orders/:id', true],
        ['/missing', false],
      ]),
    )
    const other = await read(['who', 'GET', '/missing'])
    expect(other.isFixedResponse).toBe(false)
  })
})

test('policy open shows what a route covers, and the routes that take some of it', async () => {
  const open = (more: string) => `upstream: app, access: public, reason: A test.${more} }`
  const routes = [
    '{ path: /shop, upstream: app, methods: [POST, PUT] }',
    `{ path: /shop, ${open('')}`,
    '{ path: /shop, match: exact, hosts: [b.test], upstream: app }',
    `{ path: /one, match: exact, methods: [GET], ${open('')}`,
    '{ path: /one/below, upstream: app }',
    `{ path: /, hosts: ['*.test'], ${open('')}`,
    '{ path: /admin, hosts: [a.test], upstream: app }',
    // The host decides first, so this one takes nothing from the route of *.test.
    '{ path: /other, upstream: app }',
  ]
  const text = `application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
${routes.map((route) => `  - ${route}\n`).join('')}`

  const { out } = await ask(['open'], { 'config/postern.yaml': text })

  expect(out).toContain(`
  *        /shop and below     route, upstream app                A test. (except: POST,PUT /shop is permitted, b.test=/shop is permitted)
  GET      /one                route, upstream app                A test.
  *        *.test/*            route, upstream app                A test. (except: b.test=/shop is permitted, a.test/admin is permitted)
`)
})

describe('postern policy open, with tokens that no login issues', () => {
  const more = `${config}tokens: { service: { enabled: true, maxLifetime: 7776000 } }\nissuers: [{ issuer: https://id.test, audience: a, jwksUri: https://id.test/keys, claims: { roleKey: r }, roles: [{ value: clerk }, { value: x, role: chief }] }]\n`

  test('shows service tokens and other issuers', async () => {
    const { out } = await ask(['open'], { 'config/postern.yaml': more })

    expect(out).toMatch(
      /\nalso let in, without a login\n {2}service tokens +tokens\.service, at most 90 d +issued by "postern token issue"\n {2}tokens of https:\/\/id\.test +issuers +roles: clerk, chief\n$/,
    )
    const plain = await ask(['open', '--output', 'json'])
    const answer = await ask(['open', '--output', 'json'], { 'config/postern.yaml': more })
    expect(JSON.parse(plain.out).otherTokens).toEqual([])
    expect(JSON.parse(answer.out).otherTokens).toEqual([
      { kind: 'service', maxLifetimeSeconds: 7_776_000 },
      { kind: 'issuer', issuer: 'https://id.test', roles: ['clerk', 'chief'] },
    ])
  })
})

describe('a question about a policy', () => {
  const unreachable = { 'config/postern.yaml': `${config}redis: { url: 'redis://127.0.0.1:1' }\n` }

  test.each([[['who', 'GET', '/x']], [['can', 'clerk']], [['open']]])(
    '%j asks the live revision if that is what the gateway loads',
    async (args) => {
      const published = {
        'config/postern.yaml': `${unreachable['config/postern.yaml']}policy: { source: redis }\n`,
      }

      const live = await ask(args, published)
      const directory = await ask([...args, '--policies', 'policies'], published)

      expect({ code: live.code, out: live.out }).toEqual({ code: 5, out: '' })
      expect(live.err).toMatch(/^postern: Redis: connect ECONNREFUSED/)
      expect(directory.err).toBe('')
    },
  )

  test.each([
    [['--revision', 'live'], 5, /ECONNREFUSED/],
    [['--revision', 'nonsense'], 2, /"nonsense" is not a revision/],
    [['--revision', 'live', '--policies', 'policies'], 2, /give one of them/],
  ])('with %j exits with %i', async (args, code, message) => {
    const ran = await ask(['open', ...args], unreachable)

    expect(ran.code).toBe(code)
    expect(ran.err).toMatch(message)
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const sound = {
  'policies/model.conf': model,
  'policies/policy.csv': 'p, clerk, /orders/:id, GET\n',
}
const expectation = (path: string, expect: string) =>
  `- { role: clerk, method: GET, path: ${path}, expect: ${expect} }\n`

describe('postern policy check', () => {
  test('says in two lines that a directory can be used, and by which engine', async () => {
    const cwd = await folder(sound)

    const { code, out, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(
      /^policies: valid, r-[0-9a-f]{32} \(1 rule, 1 role, 0 exclusions, 0 warnings\)\nengine: index, because .+\n$/,
    )
  })

  test('puts errors on stderr with file, line and column, and exits with 3', async () => {
    const cwd = await folder({
      ...sound,
      'policies/policy.csv': 'p, clerk, /a/../b, GET\np, clerk, /x, get\np, clerk, /y\n',
      'policies/exclusions.yaml': '- { method: GET, path: "/api/*", reason: all }\n',
      'policies/tests/x_test.yaml': expectation('/a//b', 'deny'),
    })

    const { code, out, err } = await policy(['check'], { cwd })

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err.split('\n').map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'policies/exclusions.yaml:1:3: error',
      'policies/policy.csv:1:11: error',
      'policies/policy.csv:2:15: error',
      'policies/policy.csv:3:1: error',
      'policies/tests/x_test.yaml:1:37: error',
      '',
    ])
  })

  test('names one bad row among ten thousand, and refuses the whole', async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => `p, clerk, /orders/${at}, GET`)
    rows[6_789] = 'p, clerk, /orders/6789'
    const cwd = await folder({ ...sound, 'policies/policy.csv': rows.join('\n') })

    const { code, out, err } = await policy(['check'], { cwd })

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^policies\/policy\.csv:6790:\d+: error: 3 columns: .+\n$/)
  })

  const doubtful = { ...sound, 'policies/more.csv': 'p, clerk, /orders/*, GET\n' }
  test('puts warnings on stderr, and fails for them only with --strict', async () => {
    const cwd = await folder(doubtful)

    const lax = await policy(['check'], { cwd })
    const strict = await policy(['check', '--strict'], { cwd })

    expect(lax).toMatchObject({ code: 0, out: expect.stringContaining('1 warning)') })
    expect(lax.err).toMatch(
      /^policies\/more\.csv:1:11: warning: makes 1 rule redundant, .+policy\.csv:1.+\n$/,
    )
    expect(strict.code).toBe(3)
  })

  test('answers in JSON, errors and warnings apart', async () => {
    const cwd = await folder(doubtful)

    const { code, out, err } = await policy(['check', '--output', 'json', 'policies'], { cwd })

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      directory: 'policies',
      engine: { name: 'index' },
      rules: 2,
      errors: [],
      warnings: [{ code: 'wide-rule', file: 'policies/more.csv', line: 1, column: 11 }],
    })
  })

  test('shows a hundred warnings, how many more there are, and how many of each kind', async () => {
    const rows = Array.from({ length: 150 }, (_, at) => `p, clerk, /orders/${at}, GET`)
    const cwd = await folder({
      ...sound,
      'policies/policy.csv': rows.join('\n'),
      'policies/more.csv': 'p, clerk, /orders/:id, GET\np, clerk, /orders/:id, GET\n',
    })

    const { err } = await policy(['check'], { cwd })

    const lines = err.trimEnd().split('\n')
    expect(lines).toHaveLength(104)
    expect(lines.slice(100)).toEqual([
      '… and 51 more warnings: --output json lists all',
      '151 warnings by code:',
      '  150  useless-rule  Another line already decides this.',
      '  1    duplicate     The same rule is written twice.',
    ])
  })

  test('refuses a directory that is not there', async () => {
    const { code, out, err } = await policy(['check', 'nowhere'], { cwd: await folder() })

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toContain('nowhere')
  })

  test('takes the directory from the configuration', async () => {
    const config = 'application: { mode: dev }\npolicy: { directory: elsewhere }\n'
    const cwd = await folder({
      'x.yaml': config,
      'elsewhere/model.conf': model,
      'elsewhere/a.csv': 'p, a, /x, GET',
    })

    const named = await policy(['check', '--config', 'x.yaml'], { cwd })
    const broken = await policy(['check', '--config', 'y.yaml'], { cwd })

    expect(named).toMatchObject({ code: 0, out: expect.stringMatching(/^elsewhere: valid/) })
    expect(broken.code).toBe(3)
  })
})

describe('postern policy test', () => {
  const tested = {
    ...sound,
    'policies/tests/a_test.yaml':
      expectation('/orders/7', 'allow') + expectation('/orders', 'deny'),
  }

  test('says what passed and how much of the policy that covers', async () => {
    expect(await policy(['test'], { cwd: await folder(tested) })).toEqual({
      code: 0,
      out: 'policies: 2 tests, 2 passed, 0 failed\ncoverage: 100 % (1/1 rules, 0/0 exclusions)\n',
      err: routesUnknown,
    })
  })

  test('answers as the gateway does, with the routes of the configuration', async () => {
    const line = (method: string, path: string, expected: string, step: string) =>
      `- { role: x, method: ${method}, path: ${path}, expect: ${expected}, step: ${step}, withoutRules: true }\n`
    const cwd = await folder({
      ...sound,
      'x.yaml': `application: { mode: dev }
upstreams: { a: { targets: [http://127.0.0.1:1] } }
routes:
  - { path: /open, upstream: a, access: public, reason: open }
  - { path: /menu, upstream: a, access: authenticated }
`,
      'policies/tests/a_test.yaml': [
        line('PUT', '/open/x', 'allow', 'route'),
        line('GET', '/menu', 'allow', 'route'),
        line('GET', '/other', 'deny', 'none'),
        line('POST', '/api/v1/logout', 'allow', 'exclusion'),
        line('GET', '/api/v1/refresh_token', 'deny', 'refused'),
        line('GET', '/api/v1/login', 'deny', 'refused'),
      ].join(''),
    })

    const { code, out } = await policy(['test', '--config', 'x.yaml'], { cwd })

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('6 passed, 0 failed') })
  })

  test('answers for callers without a token too', async () => {
    const line = (path: string, expected: string, step: string) =>
      `- { anonymous: true, method: GET, path: ${path}, expect: ${expected}, step: ${step} }\n`
    const lines = [
      line('/open/x', 'allow', 'route'),
      line('/api/v1/getCaptcha', 'allow', 'endpoint'),
      line('/menu', 'deny', 'refused'),
      line('/orders/7', 'deny', 'refused'),
    ]
    const cwd = await folder({
      ...sound,
      'x.yaml': `application: { mode: dev }
upstreams: { a: { targets: [http://127.0.0.1:1] } }
routes:
  - { path: /open, upstream: a, access: public, reason: open }
  - { path: /menu, upstream: a, access: authenticated }
`,
      'policies/tests/a_test.yaml': lines.join(''),
      'wrong/model.conf': model,
      'wrong/policy.csv': 'p, clerk, /orders/:id, GET\n',
      'wrong/tests/a_test.yaml': line('/menu', 'allow', 'route'),
    })

    const { code, out, err } = await policy(['test', '--config', 'x.yaml'], { cwd })
    const wrong = await policy(['test', 'wrong', '--config', 'x.yaml'], { cwd })

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('4 passed, 0 failed') })
    expect(err).not.toContain('role')
    expect(wrong.code).toBe(4)
    expect(wrong.out).toContain(
      'failed: (no token) GET /menu: expected allow by route, got deny by refused\n',
    )
  })

  test('says which tested paths no route serves', async () => {
    const again = { 'policies/tests/again_test.yaml': expectation('/orders/7', 'allow') }
    const cwd = await folder({ ...tested, ...again, 'x.yaml': 'application: { mode: dev }\n' })

    const { code, err } = await policy(['test', '--config', 'x.yaml'], { cwd })

    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('no route matches 1 tested path, for example /orders/7'),
    })
  })

  test('names a failure with its place and what decided, and exits with 4', async () => {
    const cwd = await folder({
      ...tested,
      'policies/tests/b_test.yaml': expectation('/orders/7', 'deny'),
    })

    const { code, out } = await policy(['test'], { cwd })

    expect(code).toBe(4)
    expect(out).toContain(
      'policies/tests/b_test.yaml:1:3: failed: clerk GET /orders/7: expected deny, got allow by rule (policies/policy.csv:1: GET /orders/:id)\n',
    )
    expect(out).toContain('policies: 3 tests, 2 passed, 1 failed\n')
  })

  test.each([
    ['there is no test', [], {}],
    [
      'less is covered than was asked for',
      ['--min-coverage', '100'],
      { 'policies/a.csv': 'p, b, /x, GET' },
    ],
  ])('exits with 4 when %s', async (_, options, more) => {
    const tests = options.length === 0 ? { ...sound } : tested

    const { code } = await policy(['test', ...options], {
      cwd: await folder({ ...tests, ...more }),
    })

    expect(code).toBe(4)
  })

  test('lists rules that no test covers', async () => {
    const cwd = await folder({ ...tested, 'policies/a.csv': 'p, b, /x, GET' })

    const { code, out } = await policy(['test'], { cwd })

    expect(code).toBe(0)
    expect(out).toContain(
      'coverage: 50 % (1/2 rules, 0/0 exclusions)\n  not covered: policies/a.csv:1: b GET /x\n',
    )
  })

  test('exits with 3 when policy or tests cannot be used', async () => {
    const cwd = await folder({
      ...tested,
      'policies/tests/b_test.yaml': expectation('/a//b', 'deny'),
    })

    const text = await policy(['test'], { cwd })
    const json = await policy(['test', '--output', 'json'], { cwd })

    expect(text).toMatchObject({ code: 3, out: '' })
    expect(text.err).toMatch(/^policies\/tests\/b_test\.yaml:1:37: error: /)
    expect(json.code).toBe(3)
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, errors: [{ line: 1, column: 37 }] })
  })

  test('warns of tests that are not read, and of roles that only tests know', async () => {
    const cwd = await folder({
      ...tested,
      'policies/tests/b.yaml': '',
      'policies/tests/c_test.yaml': expectation('/x', 'deny').replace('clerk', 'clrek'),
    })

    const { code, err } = await policy(['test'], { cwd })

    expect(code).toBe(0)
    expect(err).toMatch(/c_test\.yaml:1:3: warning: role "clrek" has no rules/)
    expect(err).toMatch(/policies\/tests\/b\.yaml: warning: ignored/)
  })

  test('answers in JSON and in JUnit', async () => {
    const cwd = await folder({
      ...tested,
      'policies/tests/b_test.yaml': expectation('/x', 'allow'),
    })

    const json = await policy(['test', '--output', 'json'], { cwd })
    const junit = await policy(['test', '--output=junit'], { cwd })

    expect([json.code, junit.code]).toEqual([4, 4])
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      tests: 3,
      failures: [{ file: 'policies/tests/b_test.yaml', line: 1, decision: { step: 'none' } }],
      coverage: { percent: 100 },
    })
    expect(junit.out).toContain('<testsuites name="postern policy test" tests="3" failures="1"')
  })
})

const routesUnknown =
  'note: routes are ignored: postern.yaml: configuration file does not exist; give a configuration with --config\n'

describe('postern policy explain', () => {
  test('allows with step, rule, place and revision, and exits with 0', async () => {
    const { code, out, err } = await policy(['explain', 'clerk', 'GET', '/orders/%37?x=1'], {
      cwd: await folder(sound),
    })

    expect({ code, err }).toEqual({ code: 0, err: routesUnknown })
    expect(out).toMatch(
      /^allowed: clerk may GET \/orders\/7\n {2}path {4}\/orders\/7 \(given: \/orders\/%37\)\n {2}step {4}rule\n {2}rule {4}policies\/policy\.csv:1: p, clerk, \/orders\/:id, GET\n {2}policy {2}policies, r-[0-9a-f]{32}\n$/,
    )
  })

  test('denies with the rules that nearly match, and exits with 1', async () => {
    const lines = 'p, clerk, /orders/:id, GET\np, lead, /orders/:id, DELETE\n'
    const cwd = await folder({ ...sound, 'policies/policy.csv': lines })

    const { code, out } = await policy(['explain', 'clerk', 'DELETE', '/orders/7'], { cwd })

    expect(code).toBe(1)
    expect(out).toContain('denied: clerk may not DELETE /orders/7\n  step    none: ')
    expect(out).toMatch(/policy\.csv:1: p, clerk, .+ differs in method\n/)
    expect(out).toMatch(/policy\.csv:2: p, lead, .+ differs in role\n/)
  })

  test('names the exclusion and its reason', async () => {
    const exclusions = '- { method: GET, path: /me, reason: ones own }'
    const cwd = await folder({ ...sound, 'policies/exclusions.yaml': exclusions })

    const { code, out } = await policy(['explain', 'anybody', 'GET', '/me'], { cwd })

    expect(code).toBe(0)
    expect(out).toMatch(/entry +policies\/exclusions\.yaml:1: GET \/me\n +reason +ones own\n/)
  })

  test('says that the gateway refuses a path that two parsers read differently', async () => {
    const { code, out } = await policy(['explain', 'clerk', 'GET', '/orders/../x'], {
      cwd: await folder(sound),
    })

    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining('answers 400: two parsers could read this path differently'),
    })
  })

  test('answers in JSON', async () => {
    const args = ['explain', 'clerk', 'PUT', '/orders/7', '--output', 'json']

    const { code, out } = await policy(args, { cwd: await folder(sound) })

    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      ...{ allowed: false, step: 'none', roleKey: 'clerk', path: '/orders/7' },
      nearMisses: [
        { differs: 'method', rule: { origin: { file: 'policies/policy.csv', line: 1 } } },
      ],
    })
  })

  test('reads an odd path as the route of the configuration does', async () => {
    const config = `application: { mode: dev }
upstreams: { a: { targets: [http://127.0.0.1:1] } }
routes: [{ path: /, upstream: a }, { path: /files, upstream: a, allow: { encodedSlash: true } }]
`
    const rules = { 'policies/odd.csv': 'p, clerk, /files/a%2F*, GET\n' }
    const cwd = await folder({ ...sound, ...rules, 'x.yaml': config })
    const explain = (path: string) =>
      policy(['explain', 'clerk', 'GET', path, '--config', 'x.yaml'], { cwd })

    expect((await explain('/files/a%2fb')).out).toContain('allowed: clerk may GET /files/a%2Fb')
    expect((await explain('/other/a%2fb')).out).toContain(
      'answers 400: two parsers could read this path differently',
    )
    expect((await explain('/files/a%2f..')).out).toContain(
      'answers 400: two parsers could read this path differently',
    )
  })

  const withRoutes = {
    ...sound,
    'x.yaml': `application: { mode: dev }
upstreams: { a: { targets: [http://127.0.0.1:1] } }
routes:
  - { path: /orders, upstream: a }
  - { path: /open, upstream: a, access: public, reason: open }
  - { path: /menu, upstream: a, access: authenticated }
  - { path: /old, upstream: a, replacePrefix: /api/v1 }
`,
  }
  const explainHere = async (method: string, path: string, ...more: readonly string[]) =>
    policy(['explain', 'clerk', method, path, '--config', 'x.yaml', ...more], {
      cwd: await folder(withRoutes),
    })

  test.each([
    [
      'a public route',
      'GET',
      '/open/x',
      'route +/open \\(access public, upstream a\\)',
      'every caller',
    ],
    [
      'a route for callers',
      'PUT',
      '/menu',
      'route +/menu \\(access auth',
      'every authenticated caller',
    ],
    ['login', 'POST', '/api/v1/login', 'endpoint login, answered by the gateway', 'built in'],
    ['logout, without an exclusion', 'POST', '/api/v1/logout', 'endpoint logout', 'built in'],
    ['the own profile', 'GET', '/api/v1/user/profile', 'endpoint profile', 'built in'],
    [
      'a call about the server',
      'OPTIONS',
      '*',
      'endpoint server',
      'before the policy is evaluated',
    ],
    [
      'a path with a rule',
      'GET',
      '/orders/7',
      'route +/orders \\(access permitted',
      'policy.csv:1',
    ],
  ])('allows what the gateway allows: %s', async (_, method, path, route, words) => {
    const { code, out, err } = await explainHere(method, path)

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(new RegExp(route))
    expect(out).toContain(words)
  })

  test.each([
    ['the removed endpoint', 'GET', '/api/v1/Refresh_Token', '404 to every caller'],
    ['a rewritten way to it', 'GET', '/old/refresh_token', '404 to every caller'],
    ['a refused method', 'TRACE', '/orders/7', 'answers 405'],
    [
      'a method that its parser does not know',
      'FOO',
      '/open/x',
      '400: its parser does not know this method',
    ],
    ['a method in small letters', 'get', '/open/x', '400: its parser does not know this method'],
    ['login with another method', 'GET', '/api/v1/login', 'answers 405'],
    ['the same, and says which method it has', 'GET', '/api/v1/login', 'allows POST only'],
    ['an ambiguous path', 'GET', '/orders//7', 'answers 400'],
  ])('refuses what the gateway refuses: %s', async (_, method, path, words) => {
    const { code, out } = await explainHere(method, path)

    expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/^refused: /) })
    expect(out).toContain(words)
  })

  test('says that no route matches a path, with permission and without', async () => {
    const denied = await explainHere('GET', '/nowhere')
    const cwd = await folder({ ...withRoutes, 'policies/policy.csv': 'p, clerk, /nowhere, GET\n' })
    const args = ['explain', 'clerk', 'GET', '/nowhere', '--config', 'x.yaml']
    const allowed = await policy(args, { cwd })
    const inJson = await explainHere('GET', '/nowhere', '--output', 'json')

    expect(denied).toMatchObject({ code: 1, out: expect.stringMatching(/^denied: /) })
    expect(allowed).toMatchObject({ code: 0, out: expect.stringMatching(/^allowed: /) })
    const unserved = 'none: no route matches this path'
    expect(denied.out).toContain(`${unserved}; with permission, the answer is 404`)
    expect(allowed.out).toContain(`${unserved}; the answer is 404`)
    expect(JSON.parse(inJson.out)).toMatchObject({ isUnserved: true, route: null })
  })

  test('says which method an own endpoint has to a role that may not use another', async () => {
    const { code, out } = await explainHere('GET', '/api/v1/logout')

    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(/^denied: /) })
    expect(out).toContain('which allows POST only; with permission, the answer is 405')
  })

  test('says when routes are ignored, and refuses a configuration that was named', async () => {
    const cwd = await folder({ ...sound, 'bad.yaml': 'nonsense: true\n' })

    const unknown = await policy(['explain', 'clerk', 'GET', '/orders/7'], { cwd })
    const bad = await policy(['explain', 'clerk', 'GET', '/orders/7', '--config', 'bad.yaml'], {
      cwd,
    })

    expect(unknown).toMatchObject({ code: 0, err: routesUnknown })
    expect(bad).toMatchObject({ code: 3, err: expect.stringContaining('bad.yaml:1') })
  })

  test('needs no signing secret to read the routes', async () => {
    const config = withRoutes['x.yaml'].replace('mode: dev', 'mode: prod')
    const cwd = await folder({ ...sound, 'x.yaml': config })

    const args = ['explain', 'clerk', 'GET', '/open/x', '--config', 'x.yaml']
    const env = { POSTERN_JWT__SECRET_FILE: '/run/secrets/of-the-gateway' }
    const ran = await policy(args, { cwd })
    const unreadable = await policy(args, { cwd, env })

    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(unreadable).toMatchObject({ code: 0, err: '' })
  })

  test('says what is wrong with a default configuration, but not that the secret is missing', async () => {
    const config = 'application: { mode: prod }\nnonsense: true\nroute: []\n'
    const cwd = await folder({ ...sound, 'config/postern.yaml': config })

    const { code, err } = await policy(['explain', 'clerk', 'GET', '/orders/7'], { cwd })
    const named = await policy(
      ['explain', 'clerk', 'GET', '/orders/7', '--config', 'config/postern.yaml'],
      { cwd },
    )

    expect(code).toBe(0)
    expect(err).toContain('config/postern.yaml:2:1: unknown setting nonsense')
    expect(err).toContain('(and 1 more problem); give a configuration with --config')
    expect(named.code).toBe(3)
    expect(named.err).not.toContain('jwt.secret')
  })

  test('notes a method in small letters', async () => {
    const { err } = await explainHere('get', '/orders/7')

    expect(err).toContain('case-sensitive')
  })

  test('does not obey an escape sequence in what it was asked', async () => {
    const { out } = await policy(['explain', 'a\u001b[2J', 'GET', '/x'], {
      cwd: await folder(sound),
    })

    expect(out).not.toContain('\u001b')
  })
})

describe('a policy command', () => {
  test.each([
    ['check', 'a', 'b'],
    ['check', '--yes'],
    ['check', '--output', 'xml'],
    ['test', '--min-coverage', 'all'],
    ['test', '--min-coverage', '101'],
    ['explain', 'a', 'GET'],
    ['diff', 'a', 'b', 'c'],
    ['push'],
    ['push', '-m', '  '],
    ['push', '-m', 'x', '--wait', 'long'],
    ['pull', 'a', 'b'],
    ['history', '--limit', '0'],
    ['rollback'],
    ['rollback', 'live'],
    ['import', 'elsewhere', 'x'],
    ['import', 'redis', 'x', '--table', 'y'],
  ])('%s %s %s %s does not understand that, and exits with 2', async (...args) => {
    const { code, out, err } = await policy(args.filter((arg) => arg !== undefined))

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^postern: .+\nUsage: postern policy /)
  })
})

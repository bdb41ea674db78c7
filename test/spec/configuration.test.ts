import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig, readConfig } from '../../src/config/load.ts'
import { modeFacts } from '../../src/config/mode.ts'
import { applySchema } from '../../src/config/reading/apply-schema.ts'
import { createReport } from '../../src/config/reading/report.ts'
import { parseYaml } from '../../src/config/reading/yaml-tree.ts'
import { configJsonSchema } from '../../src/config/schema/json-schema.ts'
import { formOf } from '../../src/config/schema/patterns.ts'
import { type Config, configSchema } from '../../src/config/schema/schema.ts'
import { rootSetting, type Setting, settingPaths } from '../../src/config/schema/setting.ts'
import { formatProblem, Invalid } from '../../src/kernel/errors.ts'

const cwd = mkdtempSync(join(tmpdir(), 'postern-config-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const reserved = 'is a reserved header'
const secret = 'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGuE1aWi'
const good = { POSTERN_JWT__SECRET: secret }
type Env = Record<string, string>

function write(name: string, text: string | Uint8Array): string {
  writeFileSync(join(cwd, name), text)
  return name
}

function load(yaml: string, env: Env = good): Config {
  return loadConfig({ file: write('x.yaml', yaml), env, cwd })
}

function problems(yaml: string, env: Env = good): string[] {
  return readConfig({ file: write('x.yaml', yaml), env, cwd }).problems.map(formatProblem)
}

describe('a configuration', () => {
  test('has a default for everything but the secret', () => {
    const config = load('')

    expect(config.application).toEqual({
      mode: 'prod',
      host: '0.0.0.0',
      port: 8000,
      dataDirectory: 'data',
      workers: 1,
      plainRequests: true,
      http2: true,
      h2c: false,
      trustedProxies: [],
    })
    expect(config.jwt).toEqual({
      secret,
      timeout: 3600,
      maxTokenBytes: 4096,
      clockSkewSeconds: 60,
    })
    expect(config.refusals.notPermittedCode).toBe(401)
    expect(config.routes).toEqual([])
    expect(Check(configSchema, config)).toBe(true)
  })

  test('fills in the defaults of each upstream and route', () => {
    const config = load(
      'upstreams: { a: { targets: [http://a:1] } }\nroutes: [{ path: /, upstream: a }]',
    )

    expect(config.upstreams['a']).toMatchObject({ connections: 512, connectTimeoutMs: 3000 })
    expect(config.routes).toEqual([
      {
        path: '/',
        upstream: 'a',
        access: 'permitted',
        forwardCredentials: false,
        rewriteLocation: 'off',
        unexpectedBody: 'forward',
      },
    ])
  })

  test('takes a breaker with some of its settings, with none, and off', () => {
    const breaker = (text: string) =>
      load(`upstreams: { a: { targets: [http://a:1]${text} } }`).upstreams['a']?.breaker
    const defaults = { failures: 5, openMs: 1000, maxOpenMs: 30_000 }
    expect(breaker('')).toEqual(defaults)
    expect(breaker(', breaker: ')).toEqual(defaults)
    expect(breaker(', breaker: { failures: 2, openMs: 10 }')).toEqual({
      ...defaults,
      ...{ failures: 2, openMs: 10 },
    })
    expect([breaker(', breaker: off'), breaker(', breaker: false')]).toEqual(['off', false])
    const env = { ...good, POSTERN_UPSTREAMS__A__BREAKER__FAILURES: '7' }
    const overridden = load('upstreams: { a: { targets: [http://a:1] } }', env)
    expect(overridden.upstreams['a']?.breaker).toMatchObject({ failures: 7 })
    expect(problems('upstreams: { a: { targets: [http://a:1], breaker: on } }')).toEqual([
      expect.stringContaining('upstreams.a.breaker: must be a mapping, or off, or false, not "on"'),
    ])
  })

  test.each([
    [
      '[X-User-Id]',
      'true',
      'carriers: "X-User-Id" is a reserved header; use one such as X-API-Key',
    ],
    ['[X-Forwarded-User]', 'true', 'is a reserved header'],
    ['[Authorization]', 'true', 'a header that begins with X-'],
    ['[cookies]', 'true', 'a header that begins with X-'],
    ['[basic]', 'false', '"basic" carries service tokens only; set tokens.service.enabled'],
    ['[X-API-Key]', 'false', '"X-API-Key" carries service tokens only'],
    ['[header, basic, X-API-Key, query, cookie]', 'true', undefined],
  ])('routes[].carriers: %s', (carriers, enabled, problem) => {
    const text = `tokens: { service: { enabled: ${enabled} } }\nupstreams: { a: { targets: [http://a:1] } }\nroutes: [{ path: /, upstream: a, carriers: ${carriers} }]`

    expect(problems(text)).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)])
  })

  test('passes no header that changes path or method, nor one that passes anyway', () => {
    const passing = (name: string) =>
      problems(
        `upstreams: { a: { targets: [http://a:1] } }\nroutes: [{ path: /, upstream: a, passHeaders: [${name}] }]`,
      )

    for (const name of ['X-Original-URL', 'X-HTTP-Method-Override', 'X-User-Id', 'Accept']) {
      expect(passing(name)).toEqual([
        expect.stringContaining(`routes[0].passHeaders: "${name}" is not one of`),
      ])
    }
    expect(passing('x-envoy-max-retries')).toEqual([])
  })

  test('is frozen all the way down', () => {
    const config = load('upstreams: { a: { targets: [http://a:1] } }')
    const unfrozen: unknown[] = []
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return
      if (!Object.isFrozen(value)) unfrozen.push(value)
      Object.values(value).forEach(visit)
    }

    visit(config)

    expect(unfrozen).toEqual([])
  })

  test('takes a section without content for one that is left out', () => {
    expect(load('jwt:\nroutes:\nupstreams:\n# nothing').jwt.timeout).toBe(3600)
  })

  test('is thrown out with every problem at once', () => {
    const yaml = 'application: { port: x }\nops: { prt: 1 }\nroutes: [{ path: a, upstream: b }]'

    const attempt = () => load(yaml, {})

    expect(attempt).toThrow(Invalid)
    expect(problems(yaml, {}).map((it) => it.replace(/: .*/s, ''))).toEqual([
      'x.yaml:1:1',
      'x.yaml:1:22',
      'x.yaml:2:8',
      'x.yaml:3:18',
      'x.yaml:3:31',
    ])
  })

  test('has no pattern that Helm cannot read (RE2)', () => {
    const patterns = configJsonSchema().match(/"pattern": ".*"/g) ?? []

    expect(patterns.length).toBeGreaterThan(10)
    // Other escapes of ECMAScript, look-around, back references.
    expect(patterns.filter((each) => /\\[uck1-9]|\(\?[=!<]/.test(each))).toEqual([])
  })

  describe('describes each setting', () => {
    const settings: [path: string, setting: Setting][] = []
    const visit = (setting: Setting, path: string) => {
      settings.push([path, setting])
      const below = { ...setting.properties, ...setting.patternProperties }
      for (const [key, child] of Object.entries(below)) visit(child, `${path}.${key}`)
      if (setting.items) visit(setting.items, `${path}[]`)
    }
    visit(rootSetting, 'root')
    const without = (isFine: (path: string, setting: Setting) => boolean) =>
      settings.filter(([path, setting]) => !isFine(path, setting)).map(([path]) => path)

    test('in sentences', () => {
      expect(without((_, { description = '' }) => /^\w.*\.$/.test(description))).toEqual([])
    })

    test.each([
      ['Ms', 'milliseconds'],
      ['Seconds', 'seconds'],
      ['Bytes', 'bytes'],
    ])('whose name ends in %s with its unit', (end, unit) => {
      const isFine = (path: string, { description = '' }: Setting) =>
        !path.endsWith(end) || description.includes(unit)

      expect(without(isFine)).toEqual([])
    })

    test('without a default with what "unset" means, or that it is required', () => {
      const optional = ({ properties = {}, required = [] }: Setting) =>
        Object.entries(properties).filter(
          ([key, { default: value }]) => value === undefined && !required.includes(key),
        )
      const mute = settings.flatMap(([path, setting]) =>
        optional(setting).flatMap(([key, { description = '' }]) =>
          description.includes('Unset: ') ? [] : [`${path}.${key}`],
        ),
      )

      expect(mute).toEqual([])
    })

    test('that has a pattern with words for it', () => {
      expect(without((_, { pattern }) => pattern === undefined || !!formOf(pattern))).toEqual([])
    })
  })
})

describe('a file that cannot be used', () => {
  const upstreams = 'upstreams: { orders: { targets: [http://o:1] } }\n'
  const route = (fields: string) => `${upstreams}routes: [{ ${fields} }]`
  const target = (text: string) => `upstreams: { a: { targets: [${text}] } }`

  test.each([
    [
      'a directory named as a provider',
      'login:\n  ldap: { name: corp, urls: ["ldaps://d"], userDn: "uid={username},dc=d" }\n  oidc: [{ name: corp, issuer: "https://i", clientId: c, clientAuth: none, redirectUri: "https://g/api/v1/login/oidc/corp/callback" }]',
      '2:17',
      'already the name of login.oidc[0]',
    ],
    ['no way to log in', 'login: { local: false }', '1:17', 'set login.oidc, login.ldap or'],
    ['a required login log that is off', 'logger: { required: true }', '1:21', 'logger.enableddb'],
    ['a collector with a password', 'tracing: { otlp: "http://a:b@c" }', '1:18', 'without user'],
    ['a collector on no port', 'tracing: { otlp: "http://c:99999" }', '1:18', 'tracing.otlp: '],
    ['a share above all', 'tracing: { samplePercent: 101 }', '1:27', '0 to 100'],
    ['an unknown section', 'aplication: {}', '1:1', 'did you mean application?'],
    ['an unknown key', 'jwt:\n  timout: 5', '2:3', 'did you mean jwt.timeout?'],
    ['a key in the wrong case', 'logger: { enabledDB: true }', '1:11', 'mean logger.enableddb?'],
    ['a key of a section at the top', 'port: 1', '1:1', 'mean application.port or ops.port or'],
    ['a key like nothing we know', 'ops:\n  banana: 5', '2:3', 'ops.banana; ops has host, port'],
    ['a key from the prototype', 'ops: { constructor: 1 }', '1:8', 'unknown setting'],
    ['__proto__ as a key', '__proto__: { x: 1 }', '1:1', 'unknown setting'],
    ['text for a number', 'ops:\n  port: "9"', '2:9', 'a whole number from 0 to 65535, not "9"'],
    ['a fraction', 'ops: { port: 1.5 }', '1:14', 'a whole number'],
    ['infinity', 'jwt: { timeout: .inf }', '1:17', 'a whole number from 1 to 315360000'],
    ['a lifetime of zero', 'jwt: { timeout: 0 }', '1:17', 'a whole number from 1'],
    [
      'a longest lifetime below our own',
      'jwt: { timeout: 60, maxLifetimeSeconds: 59 }',
      '1:41',
      'every issued token would be rejected',
    ],
    ['a duration with a unit', 'jwt: { timeout: 1h }', '1:17', 'jwt.timeout: must be a whole'],
    ['a port beyond ports', 'ops: { port: 65536 }', '1:14', 'from 0 to 65535'],
    ['yes for true', 'logger: { enableddb: yes }', '1:22', 'must be true or false, not "yes"'],
    ['a number for text', 'application: { mode: 1 }', '1:22', 'put it in quotes'],
    ['nothing for a value', 'application:\n  port:\n', '2:3', 'has no value; set a whole number'],
    ['a name off the list', 'logger: { level: wran }', '1:18', 'did you mean warn?'],
    ['a number off the list', 'refusals: { notPermittedCode: 404 }', '1:31', 'one of 401, 403'],
    ['a list for a section', 'jwt: [1]', '1:1', 'jwt: must be a mapping'],
    ['a mapping for a list', 'routes: { a: 1 }', '1:1', 'routes: must be a list'],
    ['a list for a value', 'ops: { port: [1] }', '1:8', 'not a list'],
    ['a list at the top', '- a', '1:1', 'must be a mapping'],
    ['a key given twice', 'ops:\n  port: 1\n  port: 2', '3:3', 'first on line 2'],
    ['an upstream given twice', 'upstreams:\n  a: {}\n  a: {}', '3:3', 'duplicate key'],
    [
      'a proxy by name',
      'application: { trustedProxies: [lb] }',
      '1:33',
      '"lb" is not an IP address or a range',
    ],
    ['a range too wide', 'application: { trustedProxies: [10.0.0.0/33] }', '1:33', 'use /1 to /32'],
    ['everyone for a proxy', 'application: { trustedProxies: [0.0.0.0/0] }', '1:33', 'list your'],
    ['a second document', 'ops: {}\n---\nops: {}', '2:1', 'a second document'],
    ['a tab', 'ops:\n\tport: 1', '2:1', 'use spaces'],
    ['an open bracket', 'ops: { port: 1', '1:15', 'bracket'],
    ['an alias', 'ops: &a { port: 1 }\nlimits: *a', '2:9', 'aliases'],
    ['a tag', 'ops: { port: !x 1 }', '1:14', 'tags'],
    ['an upstream without targets', 'upstreams:\n  a: {}', '2:3', 'targets is required'],
    ['an upstream with no target', target(''), '1:19', 'must have at least one entry'],
    ['an upstream in capitals', 'upstreams: { My_App: {} }', '1:14', 'did you mean my-app?'],
    [
      'an upstream named gateway',
      'upstreams: { gateway: { targets: [http://a] } }',
      '1:14',
      'name',
    ],
    ['a target twice', target('http://a, http://a'), '1:39', 'duplicate of upstreams.a.targets[0]'],
    ['a target without a scheme', target('"a:80"'), '1:29', 'scheme, host and port'],
    ['a target of another scheme', target('ftp://a'), '1:29', 'scheme, host and port'],
    ['a target with a path', target('http://a/x'), '1:29', 'write http://a'],
    ['a target with a slash', target('http://a/'), '1:29', 'write http://a'],
    ['a target with a query', target('http://a?x'), '1:29', 'write http://a'],
    ['a target with credentials', target('http://u:p@a'), '1:29', 'a user name or a password'],
    ['a route without a path', route('upstream: orders'), '2:10', 'routes[0].path is required'],
    ['a route to nowhere', route('path: /a, upstream: ordes'), '2:32', 'did you mean orders?'],
    ['a route to a prototype', route('path: /a, upstream: constructor'), '2:32', 'is not defined'],
    [
      'a public route',
      route('path: /a, upstream: orders, access: public'),
      '2:10',
      'routes[0].reason is required',
    ],
    [
      'a public route with a blank reason',
      route('path: /a, upstream: orders, access: public, reason: " "'),
      '2:64',
      'at least one visible character',
    ],
    [
      'trust in files on disk',
      'policy:\n  trust: { keys: [signers] }',
      '2:3',
      'policy.trust is only used with policy.source "redis"',
    ],
    [
      'trust without keys',
      'redis: { url: redis://r:1 }\npolicy: { source: redis, trust: { keys: [] } }',
      '2:35',
      'at least one entry',
    ],
    [
      'trust without signatures',
      'redis: { url: redis://r:1 }\npolicy: { source: redis, trust: { keys: [a], signatures: 0 } }',
      '2:58',
      'from 1 to 32',
    ],
    ['equal ports', 'ops:\n  port: 8000', '2:9', '8000 is already used by application.port'],
    ['a header name with a space', 'headers: { userId: X Y }', '1:20', 'such as X-User-Id'],
    ['two equal header names', 'headers: { roleId: x_user_id }', '1:20', 'headers.userId'],
    [
      'a header with a meaning',
      'headers: { roleId: Content-Length }',
      '1:20',
      'is a reserved header',
    ],
    ...(
      [
        ['two claims in one header', 'claims: { a: X-A, b: x_a }', 'x_a', 'headers.claims.a'],
        ['a claim as the user ID', 'claims: { a: X-User-Id }', 'X-', 'headers.userId'],
        ['a claim as metadata of it', 'claims: { a: X-User-Id-Bin }', 'X-', 'headers.userId'],
        ['a claim as metadata', 'claims: { a: Grpc-Metadata-X-Role-Key }', 'G', 'headers.roleKey'],
        ['a claim that makes servers act', 'claims: { a: X-Accel-Redirect }', 'X-', reserved],
        ['a claim like the assertion', 'claims: { a: X-Postern-A }', 'X-', reserved],
        ['a claim as an address', 'claims: { a: X-Real-IP }', 'X-', reserved],
        ['a claim as a header of a preset', 'claims: { a: X-Forwarded-User }', 'X-', reserved],
        ['a claim as credentials', 'claims: { a: Authorization }', 'A', reserved],
        [
          'a claim in a header of the preset',
          'preset: authelia, claims: { email: remote_email }',
          'authelia',
          'headers.preset: "Remote-Email" is the same header as headers.claims.email',
        ],
        [
          'a name in a header of the preset',
          'preset: authelia, userName: Remote-User',
          'authelia',
          'headers.preset: "Remote-User" is the same header as headers.userName',
        ],
        ['another preset', 'preset: pomerium', 'pomerium', 'headers.preset'],
        [
          'claims longer than a token',
          'claims: { a: X-A }, claimBytes: 2049',
          '2049',
          '2049 bytes can make a token longer than jwt.maxTokenBytes; use at most 2048',
        ],
      ] as const
    ).map(([what, settings, at, problem]): [string, string, string, string] => {
      const text = `headers: { ${settings} }`
      return [what, text, `1:${text.indexOf(at) + 1}`, problem]
    }),
    [
      'claims longer than a cookie',
      'cookie: { set: true }\njwt: { maxTokenBytes: 9000 }\nheaders: { preset: authelia, claimBytes: 3000 }',
      '3:42',
      '3000 bytes can make a token longer than a cookie may be; use at most 2048',
    ],
    ['an alphabet that repeats', 'captcha: { alphabet: "00123456789" }', '1:22', 'appears twice'],
    ['an alphabet as a number', 'captcha: { alphabet: 0123456789 }', '1:22', 'in quotes'],
    [
      'headers later than requests',
      'limits: { headersTimeoutMs: 300001 }',
      '1:29',
      'use at most 300000',
    ],
    ['a grace beyond the deadline', 'shutdown: { graceMs: 30001 }', '1:22', 'shutdown.deadlineMs'],
    [
      'an endpoint to nowhere',
      'endpoints: { logout: nowhere }',
      '1:22',
      '"nowhere" is not defined',
    ],
    [
      'another database',
      'database: { url: sqlite://x }',
      '1:18',
      'use a database URL: postgres://',
    ],
    ['a broken database address', 'database: { url: "postgres://u:p#w@h" }', '1:18', 'encode'],
  ])('with %s is refused, with its place and the cure', (_, yaml, place, fragment) => {
    const [first, ...rest] = problems(yaml)

    expect(first).toMatch(`x.yaml:${place}: `)
    expect(first).toContain(fragment)
    expect(rest).toEqual([])
  })

  test('does not exist, is a directory or is not text', () => {
    const reasons = ['none.yaml', '.', write('bytes.yaml', new Uint8Array([0xff, 0xfe, 0]))].map(
      (file) => readConfig({ file, env: good, cwd }).problems.map(formatProblem).join(),
    )

    expect(reasons).toEqual([
      'none.yaml: configuration file does not exist',
      '.: configuration file is a directory; give the path of a file',
      'bytes.yaml: configuration file is not UTF-8 text; save it as UTF-8',
    ])
  })
})

describe('the path of a route', () => {
  const withPath = (path: string, extra = '') =>
    `{ "upstreams": { "a": { "targets": ["http://a"] } }, ${extra}
      "routes": [{ "path": ${JSON.stringify(path)}, "upstream": "a" }] }`

  test.each([
    'a',
    '',
    '/a/',
    '//a',
    '/a//b',
    '/a/../b',
    '/./a',
    '/a%2fb',
    '/a;b',
    '/a/*',
    '/a?b',
    '/a#b',
    '/a\\b',
    '/a b',
    '/ä',
    '/a/:id',
    '/a/{id}',
    '/a\n',
    'http://a/b',
    '/api/v1/login',
    '/api/v1/login/x',
    '/api/v1/getCaptcha',
    '/api/v1/logout',
    '/api/v1/user/profile',
    '/api/v1/refresh_token',
    '/api/v1/Refresh_Token/x',
  ])('is refused as %j', (path) => {
    const found = problems(withPath(path))

    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^x\.yaml:2:28: routes\[0\]/)
  })

  test.each(['/', '/a', '/api/v1', '/api/v1/login-log', '/api/v1/captcha', '/a.b/~c/@d:e/(f)'])(
    'may be %s',
    (path) => {
      expect(problems(withPath(path))).toEqual([])
    },
  )

  test('may not be that of the captcha alias once there is one', () => {
    const yaml = withPath('/api/v1/captcha', '"captcha": { "alias": true },')

    expect(problems(yaml)).toHaveLength(1)
  })

  test('belongs to one route', () => {
    const yaml = `upstreams: { a: { targets: [http://a] } }
routes:
  - { path: /x, upstream: a }
  - { path: /x, upstream: a, access: authenticated }`

    expect(problems(yaml)).toEqual([
      'x.yaml:4:13: routes[1].path: "/x" is already the path of routes[0]; keep one',
    ])
  })
})

describe('the environment', () => {
  test('wins over the file, whatever the case of its names', () => {
    const env = {
      ...good,
      POSTERN_APPLICATION__PORT: '1234',
      postern_logger__EnableDdb: 'true',
      POSTERN_JWT__MAXTOKENBYTES: '0x200',
    }

    const config = load('application: { port: 1 }', env)

    expect(config.application.port).toBe(1234)
    expect(config.logger.enableddb).toBe(true)
    expect(config.jwt.maxTokenBytes).toBe(512)
  })

  test('gives lists and sections as YAML or JSON, single settings last', () => {
    const config = load('upstreams: { old: { targets: [http://old] } }\nroutes: []', {
      ...good,
      POSTERN_UPSTREAMS__ORDERS__CONNECTIONS: '7',
      POSTERN_UPSTREAMS: '{ orders: { targets: [http://o:1], connections: 3 } }',
      POSTERN_ROUTES: '[{"path":"/o","upstream":"orders"}]',
    })

    expect(Object.keys(config.upstreams)).toEqual(['orders'])
    expect(config.upstreams['orders']?.connections).toBe(7)
    expect(config.routes[0]?.path).toBe('/o')
  })

  test('is taken as it stands where a setting is text', () => {
    const digits = '31415926535897932384626433832795028841'

    expect(load('', { POSTERN_JWT__SECRET: digits }).jwt.secret).toBe(digits)
    expect(load('', { ...good, POSTERN_APPLICATION__MODE: ' dev' }).application.mode).toBe(' dev')
  })

  test('gives a secret as a file, less the newline at its end', () => {
    const file = write('secret', `${secret}\n`)

    expect(load('', { POSTERN_JWT__SECRET_FILE: file }).jwt.secret).toBe(secret)
  })

  test.each([
    ['POSTERN_JWT_SECRET', 'x', 'did you mean POSTERN_JWT__SECRET?'],
    ['POSTERN_BANANA', 'x', 'unknown setting'],
    ['POSTERN_ROUTES__0__PATH', '/a', 'unknown setting'],
    ['POSTERN_LOGGER__LEVEL_FILE', 'x', 'unknown setting'],
    ['POSTERN_OPS_PORT', '9100', 'did you mean POSTERN_OPS__PORT?'],
    ['POSTERN_', 'x', 'unknown setting'],
    ['POSTERN_OPS__PORT', 'x', 'ops.port: must be a whole number from 0 to 65535'],
    ['POSTERN_OPS__PORT', '', 'ops.port: has no value'],
    ['POSTERN_ROUTES', '[{', 'routes: invalid YAML'],
    ['POSTERN_ROUTES', '/a', 'routes: must be a list'],
    [
      'POSTERN_DATABASE__URL_FILE',
      'no-such-file',
      'database.url: file no-such-file does not exist',
    ],
    ['postern_jwt__secret', secret, 'jwt.secret is already set by POSTERN_JWT__SECRET'],
    [
      'POSTERN_JWT__SECRET_FILE',
      'no-such-file',
      'jwt.secret is already set by POSTERN_JWT__SECRET',
    ],
  ])('is refused with %s=%s', (name, value, fragment) => {
    const found = problems('', { ...good, [name]: value })

    expect(found[0]).toContain(`${name}: `)
    expect(found[0]).toContain(fragment)
  })

  test('names setting and path, once, when the file of a secret cannot be read', () => {
    const found = problems('', { POSTERN_JWT__SECRET_FILE: 'no-such-file' })

    expect(found).toEqual([
      'POSTERN_JWT__SECRET_FILE: jwt.secret: file no-such-file does not exist',
    ])
  })

  test('may hold what Kubernetes adds beside a Service named postern', () => {
    const env = {
      ...good,
      POSTERN_SERVICE_HOST: '10.0.0.7',
      POSTERN_SERVICE_PORT_HTTP: '8000',
      POSTERN_PORT: 'tcp://10.0.0.7:8000',
      POSTERN_PORT_8000_TCP_ADDR: '10.0.0.7',
      POSTERN_OPS_PORT: 'tcp://10.0.0.8:9100',
    }

    expect(problems('', env)).toEqual([])
  })

  test('names the file to read where nobody else does', () => {
    const env = { ...good, POSTERN_CONFIG: write('named.yaml', 'ops: { port: 77 }') }

    expect(loadConfig({ env, cwd }).ops.port).toBe(77)
  })
})

// Specification, Authentication 4.
describe('the mode', () => {
  test('dev asks for no captcha and makes tokens last about 100 years', () => {
    expect(modeFacts('dev', 3600)).toEqual({
      name: 'dev',
      captchaRequired: false,
      lifetimeLimited: false,
      tokenLifetimeSeconds: 876_010 * 3600,
      longestLifetimeSeconds: 876_010 * 3600,
      weakSecretAllowed: true,
      secureCookie: false,
      passwordsPrinted: true,
    })
  })

  test.each([
    'prod',
    'test',
    'DEV',
    'Dev',
    ' dev',
    'dev ',
    'dev\n',
    'ｄｅｖ',
    '',
    'demo',
    undefined,
  ])('%j does neither', (mode) => {
    expect(modeFacts(mode, 3600)).toMatchObject({
      captchaRequired: true,
      tokenLifetimeSeconds: 3600,
      weakSecretAllowed: false,
      secureCookie: true,
      passwordsPrinted: false,
    })
  })

  test('comes with a warning when nobody is likely to have meant it', () => {
    expect(modeFacts('Dev', 1).warning).toBe(
      'application.mode: unknown mode "Dev" is treated as prod',
    )
    expect(modeFacts('prod', 1).warning).toBeUndefined()
  })
})

describe('the number of workers', () => {
  const stores = 'database: { url: postgres://h/d }\nredis: { url: redis://h }\n'

  test.each([
    ['1', 1],
    ['2', 2],
    ['256', 256],
    ['auto', 'auto'],
  ])('may be %s, in a file and in the environment', (text, value) => {
    const env = { ...good, POSTERN_APPLICATION__WORKERS: text }

    expect(load(`${stores}application: { workers: ${text} }`).application.workers).toBe(value)
    expect(load(stores, env).application.workers).toBe(value)
  })

  test.each(['0', '257', '1.5', '-1', 'many', "'2'", 'true', 'AUTO', '[2]'])(
    'may not be %s',
    (text) => {
      expect(problems(`${stores}application: { workers: ${text} }`)).toEqual([
        expect.stringContaining(
          'application.workers: must be a whole number from 1 to 256, or auto',
        ),
      ])
    },
  )

  test.each([
    ['', 'database.url and redis.url'],
    ['database: { url: postgres://h/d }', 'redis.url'],
    ['redis: { url: redis://h }', 'database.url'],
  ])('above 1 needs what workers share, beside %j', (beside, missing) => {
    expect(problems(`application: { workers: 2 }\n${beside}`)).toEqual([
      expect.stringContaining(`application.workers is 2, so ${missing} `),
    ])
    expect(problems(`application: { workers: auto }\n${beside}`)).toEqual([])
    expect(problems(`application: { workers: 1 }\n${beside}`)).toEqual([])
  })
})

describe('the cookie', () => {
  test('cannot be SameSite none where it is not Secure', () => {
    const cookie = 'cookie: { set: true, sameSite: none }'

    expect(problems(cookie)).toEqual([])
    expect(problems(`application: { mode: dev }\n${cookie}`).join()).toContain('cookie.sameSite')
  })

  test.each([
    ['https://app.example.com', 0],
    ['http://localhost:3000', 0],
    ['https://[::1]:8443', 0],
    ['https://app.example.com:443', 1],
    ['https://app.example.com/', 1],
    ['https://App.example.com', 1],
    ['app.example.com', 1],
    ['https://*.example.com', 1],
    ['https://a:99999', 1],
    ['null', 1],
  ])('trusts an origin as browsers write it: %s has %d problems', (origin, count) => {
    const list = `cookie: { trustedOrigins: [${JSON.stringify(origin)}] }`

    expect(problems(list)).toHaveLength(count)
  })
})

describe('cors', () => {
  test('is off by default', () => {
    expect(load('').cors).toEqual({
      origins: [],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      headers: ['Authorization', 'Content-Type'],
      exposeHeaders: ['Retry-After'],
      credentials: false,
      maxAgeSeconds: 600,
    })
  })

  test.each([
    'origins: [https://app.example.com, http://localhost:5173], credentials: true',
    "origins: ['*']",
    "origins: ['http://[::1]:8080'], methods: [GET], headers: [], exposeHeaders: [X-Total]",
  ])('may be %s', (cors) => {
    expect(problems(`cors: { ${cors} }`)).toEqual([])
  })

  test.each([
    // Any page could act for whoever is logged in.
    [
      "origins: ['*'], credentials: true",
      'cors.credentials: true cannot be combined with origin "*"',
    ],
    ["origins: ['*', 'https://a.test']", 'cors.origins: "*" cannot be combined with other origins'],
    ['origins: [https://a.test:443]', 'cors.origins[0]: browsers send "https://a.test"'],
    ['origins: [https://a.test/]', 'cors.origins[0]'],
    ["origins: ['https://*.a.test']", 'cors.origins[0]'],
    ["origins: ['null']", 'cors.origins[0]'],
    ['origins: [a.test]', 'cors.origins[0]'],
    ['origins: [https://a.test, https://a.test]', 'cors.origins[1]: duplicate of cors.origins[0]'],
    ['methods: [get]', 'cors.methods[0]'],
    ['methods: [TRACE]', 'cors.methods[0]'],
    ["headers: ['*']", 'cors.headers[0]: "*" is not supported'],
    ["exposeHeaders: ['*']", 'cors.exposeHeaders[0]: "*" is not supported'],
    ["headers: ['a b']", 'cors.headers[0]'],
    ['maxAgeSeconds: 86401', 'cors.maxAgeSeconds'],
  ])('is refused with %s', (cors, fragment) => {
    expect(problems(`cors: { ${cors} }`).join()).toContain(fragment)
  })
})

describe('tls', () => {
  const upstream = (settings: string, target = 'https://a:1') =>
    `upstreams: { a: { targets: ['${target}'], ${settings} } }`

  test('of the public port is off, and TLS 1.2 at least once it is on', () => {
    expect(load('').tls).toBeUndefined()
    expect(load('tls: { certFile: a, keyFile: b }').tls).toEqual({
      certFile: 'a',
      keyFile: 'b',
      minVersion: 'TLSv1.2',
    })
  })

  test.each([
    ['tls: { certFile: a }', 'tls.keyFile is required'],
    ['tls: { keyFile: a }', 'tls.certFile is required'],
    ['tls: { certFile: a, keyFile: b, minVersion: TLSv1.1 }', 'tls.minVersion: must be one of'],
    [
      upstream('tls: { certFile: a }'),
      'upstreams.a.tls: certFile and keyFile must be set together',
    ],
    [upstream('tls: { keyFile: a }'), 'upstreams.a.tls: certFile and keyFile must be set together'],
    [upstream('tls: { caFile: a }', 'http://a:1'), 'upstreams.a.tls has no effect on http://'],
    [
      upstream('protocol: h2', 'http://a:1'),
      'upstreams.a.targets[0]: protocol "h2" cannot be used with http:// targets; set upstreams.a.protocol to "h2c"',
    ],
    [
      upstream('protocol: h2c'),
      'upstreams.a.targets[0]: protocol "h2c" cannot be used with https:// targets; set upstreams.a.protocol to "h2"',
    ],
    [upstream('protocol: http2'), 'upstreams.a.protocol: must be one of'],
    [
      upstream('protocol: auto, keepAlive: false'),
      'upstreams.a.keepAlive: false is for HTTP/1.1 only, and protocol is "auto"; remove one',
    ],
    [upstream('http2: { streams: 0 }'), 'upstreams.a.http2.streams'],
    [upstream('tls: { serverName: a/b }'), 'upstreams.a.tls.serverName'],
    [upstream('tls: { rejectUnauthorized: false }'), 'unknown setting'],
  ])('is refused with %s', (yaml, fragment) => {
    expect(problems(yaml).join()).toContain(fragment)
  })

  test('to an upstream is HTTP/1.1, unless it is to be another protocol', () => {
    const { protocol, http2 } = load(upstream('')).upstreams['a'] ?? {}

    expect({ protocol, http2 }).toEqual({
      protocol: 'http1',
      http2: { streams: 100, pingMs: 300_000, maxAgeMs: 1_800_000 },
    })
    expect(problems(upstream('protocol: h2'))).toEqual([])
    expect(problems(upstream('protocol: h2c', 'http://a:1'))).toEqual([])
    expect(problems(upstream('protocol: auto', 'http://a:1'))).toEqual([])
  })

  test('to an upstream takes what a file may vouch for', () => {
    const tls = 'tls: { caFile: ca.pem, certFile: c.pem, keyFile: k.pem, serverName: a.internal }'

    expect(problems(upstream(tls))).toEqual([])
  })
})

describe('what an upstream gets', () => {
  const route = (settings: string) =>
    `upstreams: { a: { targets: [http://a:1] } }\nroutes: [{ path: /x, upstream: a, ${settings} }]`

  test.each(['target', 'client', 'orders.internal', 'orders:8080', "'[::1]:80'"])(
    'may have the host %s',
    (host) => {
      expect(problems(`upstreams: { a: { targets: [http://a:1], host: ${host} } }`)).toEqual([])
    },
  )

  test.each(['a b', 'a/b', 'user@a', "''", 'a,b'])('may not have the host %s', (host) => {
    const found = problems(
      `upstreams: { a: { targets: [http://a:1], host: '${host.replaceAll("'", '')}' } }`,
    )

    expect(found.join()).toContain('upstreams.a.host')
  })

  test.each(['/', '/internal', '/internal/v2'])('may have %s for a prefix', (prefix) => {
    expect(problems(route(`replacePrefix: ${prefix}`))).toEqual([])
  })

  test.each(['internal', '/a/', '/a//b', '/a/../b', '/a/:id', '/a/*', '/a%20b', '/a;b'])(
    'may not have %s for a prefix',
    (prefix) => {
      const found = problems(route(`replacePrefix: '${prefix}'`))

      expect(found).toEqual([expect.stringMatching(/routes\[0\]\.replacePrefix: /)])
    },
  )

  test('may have odd paths where its route says so, and nowhere else', () => {
    const config = load(route('allow: { encodedSlash: true }'))

    expect(config.routes[0]?.allow).toMatchObject({ encodedSlash: true, semicolon: false })
    expect(load(route('access: permitted')).routes[0]?.allow).toBeUndefined()
    expect(problems(route('allow: { backslash: true }')).join()).toContain('unknown setting')
  })
})

describe('the secret that signs tokens', () => {
  const weak = [
    'go-admin',
    'go-admingo-admingo-admingo-admingo-admin',
    'a'.repeat(64),
    'abab'.repeat(16),
    '0123456789abcdef0123456789abcdef',
    '01234567890123456789012345678901',
    'your-256-bit-secret',
    'a-string-secret-at-least-256-bits-long',
    'change-me-to-at-least-32-random-bytes',
    'CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE',
    'please-replace-this-with-your-own-one',
    'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGu',
    '***',
  ]

  test.each(weak)('is refused as %s, by the name of the setting', (text) => {
    const found = problems('', { POSTERN_JWT__SECRET: text })

    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^POSTERN_JWT__SECRET: jwt\.secret /)
    expect(found[0]).not.toContain(text)
  })

  test.each(['', 'mode: prod', 'mode: DEV', 'mode: " dev"', 'mode: test'])(
    'is needed with "%s"',
    (mode) => {
      expect(problems(`application: { ${mode} }`, {}).join()).toContain('jwt.secret is required')
    },
  )

  test('may be weak or absent in dev', () => {
    expect(load('application: { mode: dev }', {}).jwt.secret).toBeUndefined()
    expect(load('application: { mode: dev }\njwt: { secret: x }', {}).jwt.secret).toBe('x')
  })

  test('may not be empty, and not the mask of config print, in dev either', () => {
    expect(problems('application: { mode: dev }\njwt: { secret: "" }', {})).toHaveLength(1)
    expect(problems('application: { mode: dev }\njwt: { secret: "***" }', {})).toHaveLength(1)
  })

  test('may be missing where there is a directory of keys', () => {
    expect(load('jwt: { keyDirectory: keys }', {}).jwt).toMatchObject({ keyDirectory: 'keys' })
    expect(problems('jwt: { keyDirectory: keys, secret: short }', {})).toHaveLength(1)
  })

  test.each([secret, '31415926535897932384626433832795028841', 'žluťoučký kůň úpěl ďábelské ódy'])(
    'may be %s',
    (text) => {
      expect(problems('', { POSTERN_JWT__SECRET: text })).toEqual([])
    },
  )

  test('is not quoted when YAML reads it as a number', () => {
    const found = problems('jwt: { secret: 31415926535897 }', {})

    expect(found).toEqual(['x.yaml:1:16: jwt.secret: must be text, not a number; put it in quotes'])
  })

  test('shows up in no problem, however the file is broken', () => {
    const shapes = fc.constantFrom(
      (s: string) => `jwt: { secret: ${s}`,
      (s: string) => `jwt: { secret:${s} }`,
      (s: string) => `jwt: { ${s} }`,
      (s: string) => `jwt: ${s}`,
      (s: string) => `jwt:\n  timeout: 5\n  secret:${s}\n`,
      (s: string) => `jwt:\n  secret: ${s}\n  secret: ${s}\n  timeout: x`,
      (s: string) => `jwt:\n  secret: ${s}\n port: 1`,
      (s: string) => `jwt: { secret: [${JSON.stringify(s)}] }`,
      (s: string) => `jwt: { secret: { ${JSON.stringify(s)}: 1 } }`,
      (s: string) => `jwt: { secret: *${s} }`,
      (s: string) => `jwt: { secret: !${s} x }`,
      (s: string) => `jwt: { secret: "${s}`,
      (s: string) => `jwt:\n  timeout: 5\n    secret:${s}\n`,
      (s: string) => `redis: { prefix: ${JSON.stringify(`${s} `)} }`,
      (s: string) => `jwt: { secret: ${JSON.stringify(s)} }\nbad: 1`,
      (s: string) => `jwt: { secert: ${JSON.stringify(s)} }\nbad: 1`,
      (s: string) => `database: { url: ${JSON.stringify(`postgres://u:${s}@[`)} }\nbad: 1`,
      (s: string) => `upstreams: { a: { targets: [${JSON.stringify(`http://u:${s}@a`)}] } }`,
    )
    const text = fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map((it) => `Zq9x${it}`)

    fc.assert(
      fc.property(shapes, text, (shape, hidden) => {
        write('hidden', `${hidden}\n`)
        const found = [
          ...problems(shape(hidden), {}),
          ...problems('bad: 1', { POSTERN_JWT__SECRET: hidden, POSTERN_DATABASE__URL: hidden }),
          ...problems('bad: 1', { POSTERN_JWT__SECRET_FILE: 'hidden' }),
          ...problems('bad: 1', { POSTERN_JWT: shape(hidden) }),
        ]
        expect(found.join('\n')).not.toContain('Zq9x')
      }),
    )
  })
})

describe('the check of a file', () => {
  const paths = settingPaths()
  const leaves = paths.filter(
    (path) => path.includes('.') && !paths.some((other) => other.startsWith(`${path}.`)),
  )
  const value = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.string(),
    fc.constantFrom('gateway', 'public', 'warn', 'X-A', 401, 403, 8000, '0123456789', '127.0.0.1'),
    fc.array(fc.integer(), { maxLength: 2 }),
    fc.dictionary(fc.string(), fc.integer(), { maxKeys: 2 }),
  )

  test('agrees with the schema on every value of every setting', () => {
    // An optional section whose settings all have defaults.
    const follow = { database: true, intervalMs: 3000 }
    const complete = placed(load(''), ['policy', 'follow'], follow)

    fc.assert(
      fc.property(fc.constantFrom(...leaves), value, (path, given) => {
        const report = createReport({ file: 'x' })
        const alone = JSON.stringify(placed({}, path.split('.'), given))
        const { tree } = parseYaml(alone, 'x', true)
        applySchema(rootSetting, tree, report)

        const whole = placed(complete, path.split('.'), given)
        expect(report.problems().length === 0).toBe(Check(configSchema, whole))
      }),
      { numRuns: 1000 },
    )
  })
})

/** The same settings with this one in its place. */
function placed(settings: object, [key = '', ...rest]: readonly string[], given: unknown): object {
  const within: unknown = Object.entries(settings).find(([name]) => name === key)?.[1]
  return { ...settings, [key]: rest.length === 0 ? given : placed(within ?? {}, rest, given) }
}

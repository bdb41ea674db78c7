import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createAdmission, evaluateUnidentified } from '../../src/admission/verdict.ts'
import { readConfig } from '../../src/config/load.ts'
import { readOwnLine } from '../../src/replay/record.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { askAbout, asked } from '../support/forward-auth.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const open = { upstream: 'backend', access: 'public', reason: 'for a test' } as const
const api = { path: '/', hosts: ['api.example.com'], ...open, replacePrefix: '/from-api' }
const below = { path: '/', hosts: ['*.example.com'], ...open, replacePrefix: '/from-wildcard' }

describe('routes with hosts', () => {
  test('get the requests for their hosts, in every spelling of a host', async () => {
    const postern = await startPostern({ routes: [api, below] })
    const paths = () => postern.upstream.requests.splice(0).map(({ target }) => target)

    for (const host of ['api.example.com', 'API.Example.Com', 'api.example.com.:8443']) {
      expect((await postern.call('GET /x', { host })).status).toBe(200)
    }
    expect(paths()).toEqual(['/from-api/x', '/from-api/x', '/from-api/x'])
    await postern.call('GET /x', { host: 'a.b.example.com' })
    expect(paths()).toEqual(['/from-wildcard/x'])
  })

  test('leave other hosts without anything, own endpoints included', async () => {
    const postern = await startPostern({ routes: [api, below] })
    const unknown = ['example.com', 'badexample.com', 'api.example.com.evil.test', '127.0.0.1']
    const lines = ['GET /x', 'POST /api/v1/login', 'GET /api/v1/getCaptcha', 'OPTIONS *']

    for (const host of unknown) {
      for (const line of lines) {
        expect((await postern.call(line, { host })).status, `${host} ${line}`).toBe(404)
      }
    }
    expect((await postern.call('GET /api/v1/getCaptcha', { host: 'api.example.com' })).status).toBe(
      200,
    )
    expect(postern.upstream.requests).toEqual([])
    expect(postern.logText()).toContain('"outcome":"no-such-host"')
  })

  test('refuse a host without a canonical form', async () => {
    const postern = await startPostern({ routes: [api] })
    for (const host of [
      'api..example.com',
      'x@api.example.com',
      '127.1',
      'api.example.com:99999',
    ]) {
      expect((await postern.call('GET /x', { host })).status, host).toBe(400)
    }
  })

  test('do not believe X-Forwarded-Host of a client', async () => {
    const postern = await startPostern({ routes: [api] })
    const headers = ['X-Forwarded-Host: api.example.com']
    expect((await postern.call('GET /x', { host: 'evil.test', headers })).status).toBe(404)
  })

  test('believe it of a trusted proxy', async () => {
    const config = { application: { trustedProxies: ['127.0.0.1'] } }
    const postern = await startPostern({ routes: [api], config })
    const headers = ['X-Forwarded-Host: api.example.com']
    expect((await postern.call('GET /x', { host: 'postern', headers })).status).toBe(200)
  })

  test('do not fall back to the name of the gateway when a proxy reports a malformed host', async () => {
    const config = { application: { trustedProxies: ['127.0.0.1'] } }
    const inner = { path: '/', hosts: ['postern'], ...open }
    const postern = await startPostern({ routes: [api, inner], config })
    const status = async (...headers: string[]) =>
      (await postern.call('GET /x', { host: 'postern', headers })).status

    for (const host of ['api.example.com!', 'a b', 'api.example.com, x@y', 'api.example.com,']) {
      expect(await status(`X-Forwarded-Host: ${host}`), host).toBe(400)
    }
    // As a proxy sends its own requests, such as health checks.
    expect([await status(), await status('X-Forwarded-Host:')]).toEqual([200, 200])
  })

  test('decide in forward-auth too', async () => {
    const postern = await startPostern({ routes: [api], config: asked({}) })
    const about = async (host: string) => {
      const headers = [`X-Forwarded-Host: ${host}`]
      return (await askAbout(postern, 'nginx', 'GET /x', { headers })).status
    }
    expect(await about('api.example.com')).toBe(200)
    expect(await about('other.example.com')).toBe(404)
  })

  test('serve own endpoints on application.hosts, and restrict routes for any host', async () => {
    const config = { application: { hosts: ['login.example.com'] } }
    const any = { path: '/', ...open }
    const postern = await startPostern({ routes: [api, any], config })
    const captcha = async (host: string) =>
      (await postern.call('GET /api/v1/getCaptcha', { host })).status

    expect(await captcha('login.example.com')).toBe(200)
    expect(await captcha('api.example.com')).toBe(200)
    expect(await captcha('other.example.com')).toBe(404)
  })
})

describe('the logs', () => {
  test('have the canonical host', async () => {
    const config = { logger: { decisions: { enabled: true } } }
    const postern = await startPostern({ routes: [api], config })
    await postern.call('GET /x', { host: 'API.example.com:8443' })
    await until(() => postern.logText().includes('"decision_id"'))

    const lines = postern.logText().split('\n')
    const decision = lines.find((line) => line.includes('"decision_id"')) ?? ''
    expect(JSON.parse(decision)).toMatchObject({ host: 'api.example.com', path: '/x' })
    // The fast reader of `policy replay` knows the line.
    expect(readOwnLine(`${decision}\n`, 0, decision.length)?.host).toBe('api.example.com')
    await until(() => postern.logText().includes('"msg":"request"'))
    const request = postern.logText().match(/.*"msg":"request".*/)?.[0] ?? ''
    expect(JSON.parse(request)).toMatchObject({ host: 'api.example.com', path: '/x' })
  })

  test.each([
    ['headers are refused', 'api.example.com', ['Expect: much'], { rawPath: '/x/y' }],
    ['host is not served', 'evil.test', [], { rawPath: '/x/y', host: 'evil.test' }],
  ])('have the path of a request whose %s', async (_, host, headers, expected) => {
    const postern = await startPostern({ routes: [api] })
    await postern.call('GET /x/y?token=secret', { host, headers })
    await until(() => postern.logText().includes('"msg":"request"'))
    const request = postern.logText().match(/.*"msg":"request".*/)?.[0] ?? ''
    expect(JSON.parse(request)).toMatchObject(expected)
    expect(request).not.toContain('secret')
  })
})

describe('routes with an exact path or methods', () => {
  test('leave everything else to the next route', async () => {
    const routes = [
      { path: '/', ...open, replacePrefix: '/rest' },
      { path: '/a', match: 'exact', ...open, replacePrefix: '/exact' },
      { path: '/a', methods: ['PUT'], ...open, replacePrefix: '/put' },
    ]
    const postern = await startPostern({ routes })
    for (const line of ['GET /a', 'GET /a/b', 'PUT /a/b', 'PUT /a', 'POST /a/b']) {
      await postern.call(line)
    }
    const paths = postern.upstream.requests.map(({ target }) => target)
    expect(paths).toEqual(['/exact', '/rest/a/b', '/put/b', '/exact', '/rest/a/b'])
  })
})

describe('the commands', () => {
  test('say what the gateway does, for every host, method and path', async () => {
    const routes = [
      { path: '/a', hosts: ['api.example.com'], methods: ['GET'], ...open },
      { path: '/a', hosts: ['*.example.com'], upstream: 'backend', access: 'authenticated' },
      { path: '/a/b', match: 'exact', hosts: ['*.example.com', 'other.test'], ...open },
      { path: '/', hosts: ['api.example.com'], upstream: 'backend', access: 'authenticated' },
    ] as const
    const postern = await startPostern({ routes })
    const endpoints = { logout: 'gateway', profile: 'gateway', password: 'gateway' }
    const admission = createAdmission({ routes, endpoints: { ...endpoints, captchaAlias: false } })
    const hosts = [
      'api.example.com',
      'x.example.com',
      'example.com',
      'other.test',
      'API.example.com.',
    ]

    for (const host of hosts) {
      for (const path of ['/', '/a', '/a/b', '/a/b/c', '/c', '/api/v1/getCaptcha']) {
        for (const method of ['GET', 'PUT']) {
          const verdict = evaluateUnidentified({ method, path, host }, 'token-missing', admission)
          const { length } = postern.logText()
          await postern.call(`${method} ${path}`, { host })
          const about = `${method} ${host}${path}`
          await until(() => postern.logText().slice(length).includes('"msg":"request"'))
          const outcome = /"outcome":"([^"]+)"/.exec(postern.logText().slice(length))?.[1]
          expect(outcome, about).toBe(verdict.refusal ?? 'passed')
        }
      }
    }
  })
})

describe('config check', () => {
  const problems = (...routes: readonly string[]) => {
    const list = routes.map((each) => `  - { upstream: a, ${each} }`).join('\n')
    const text = `jwt: { secret: 0123456789abcdefghijklmnopqrstuvwxyzABCDEF }\nupstreams: { a: { targets: [http://a:1] } }\nroutes:\n${list}\n`
    const directory = mkdtempSync(join(tmpdir(), 'postern-hosts-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    writeFileSync(join(directory, 'x.yaml'), text)
    const { problems: found } = readConfig({ file: 'x.yaml', env: {}, cwd: directory })
    return found.map(({ message }) => message)
  }

  test('rejects two routes with equal precedence, and names both', () => {
    expect(
      problems(
        'path: /x, hosts: [a.test, b.test], methods: [GET, PUT]',
        'path: /x, hosts: [b.test], methods: [PUT]',
      ),
    ).toEqual([
      'routes[1].path: "/x" on b.test with PUT is already the path of routes[0]; keep one',
    ])
  })

  test('accepts routes that differ in host, match or methods', () => {
    expect(
      problems(
        'path: /x',
        'path: /x, match: exact',
        'path: /x, methods: [GET]',
        'path: /x, methods: [PUT]',
        'path: /x, hosts: [a.test]',
        "path: /x, hosts: ['*.a.test']",
      ),
    ).toEqual([])
  })

  test.each([
    ['hosts: [API.example.com]', 'write api.example.com'],
    ['hosts: [api.example.com.]', 'write api.example.com'],
    ["hosts: ['api.example.com:8443']", 'write api.example.com'],
    ['hosts: [münchen.example]', 'write xn--mnchen-3ya.example'],
    ["hosts: ['*.10.0.0.1']", 'remove *.'],
    ['hosts: [a..b]', 'is not a host'],
    ["hosts: ['*']", 'a host such as api.example.com'],
    ['methods: [GTE]', 'did you mean GET'],
    ['methods: [TRACE]', 'remove it'],
    ['methods: [get]', 'a method in upper case'],
  ])('explains %s', (setting, words) => {
    expect(problems(`path: /x, ${setting}`)).toEqual([expect.stringContaining(words)])
  })

  test('wants unique names', () => {
    expect(problems('path: /x, name: one', 'path: /y, name: one')).toEqual([
      'routes[1].name: "one" is already the name of routes[0]; choose another',
    ])
  })
})

describe('over TLS', () => {
  let certificates: Certificates
  beforeAll(async () => {
    certificates = await createCertificates()
  })
  afterAll(() => certificates.remove())

  test('a host other than the name in the handshake gets 421', async () => {
    const tls = { certFile: certificates.certificate, keyFile: certificates.key }
    const postern = await startPostern({ routes: [api, below], config: { tls } })
    const call = async (servername: string, host: string) => {
      const connection = { servername, rejectUnauthorized: false }
      return (await postern.call('GET /x', { host, tls: connection })).status
    }

    expect(await call('api.example.com', 'api.example.com')).toBe(200)
    expect(await call('API.example.com', 'api.example.com.:443')).toBe(200)
    expect(await call('api.example.com', 'www.example.com')).toBe(421)
    expect(await call('api.example.com', 'evil.test')).toBe(421)
    expect(await call('evil.test', 'evil.test')).toBe(404)
  })
})

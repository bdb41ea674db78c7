import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { ask, asked, contracts } from '../support/forward-auth.ts'
import { sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

/* A target that is a URL (RFC 9112 3.2.2): accepted, and never a second way to say the host or the path. */

const routes = [
  { path: '/', upstream: 'backend', hosts: ['gateway.test', 'a.test', '[::1]'] },
  { path: '/', upstream: 'backend', hosts: ['open.test'], access: 'public', reason: 'a test' },
]

describe.each([
  ['the plain request reader', true],
  ['the parser of Node alone', false],
])('a URL as target, with %s,', (_, plainRequests) => {
  const start = () => startPostern({ config: { application: { plainRequests } }, routes })

  test.each([
    ['http://gateway.test/api/v1/public/a?b=c', '/api/v1/public/a?b=c'],
    ['http://a.test:8080/api/v1/public/a', '/api/v1/public/a'],
    ['HTTP://GATEWAY.TEST/api/v1/public/a', '/api/v1/public/a'],
    ['http://[::1]:80/api/v1/public/a', '/api/v1/public/a'],
    ['http://gateway.test/api/v1/%70ublic/a%40b', '/api/v1/public/a@b'],
  ])('%s is served as its path', async (target, sent) => {
    const postern = await start()

    const answer = await postern.call(`GET ${target}`, { as: 'editor', http2: false })

    expect(answer.status).toBe(200)
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([sent])
    expect(postern.logText()).toContain(`"path":${JSON.stringify(sent.split('?')[0])}`)
  })

  test.each([
    ['a user', 'http://gateway.test@evil.example/api/v1/public/a'],
    ['a user and a password', 'http://a:b@gateway.test/api/v1/public/a'],
    ['another scheme', 'ftp://gateway.test/api/v1/public/a'],
    ['no host', 'http:///api/v1/public/a'],
    ['no slashes', 'http:/api/v1/public/a'],
    ['a port that is none', 'http://gateway.test:x/api/v1/public/a'],
    ['two hosts', 'http://gateway.test,open.test/api/v1/public/a'],
    ['an encoded host', 'http://gateway%2etest/api/v1/public/a'],
    ['a backslash', 'http://gateway.test\\api/v1/public/a'],
    ['a URL within', 'http://gateway.test/http://gateway.test/api/v1/public/a'],
    ['a fragment', 'http://gateway.test#/api/v1/public/a'],
    ['a fragment behind its path', 'http://gateway.test/api/v1/public/a#b'],
    ['dot segments', 'http://gateway.test/api/v1/public/../sys-user'],
    ['dot segments at once', 'http://gateway.test/../api/v1/sys-user'],
    ['two slashes', 'http://gateway.test//api/v1/public/a'],
    ['an encoded slash', 'http://gateway.test/api/v1/public/..%2fsys-user'],
    ['a parameter', 'http://gateway.test/api/v1/public/a;b'],
    ['an asterisk', 'http://gateway.test*'],
  ])('with %s is refused', async (_, target) => {
    const postern = await start()

    const answer = await postern.call(`GET ${target}`, { as: 'editor', http2: false })

    expect([target, answer.status]).toEqual([target, 400])
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('has the host of the URL, whatever the Host header says', async () => {
    const postern = await start()

    const open = await postern.call('GET http://open.test/x', { host: 'a.test', http2: false })
    const closed = await postern.call('GET http://a.test/x', { host: 'open.test', http2: false })
    const unknown = await postern.call('GET http://evil.example/x', {
      host: 'open.test',
      http2: false,
    })

    expect(open.status).toBe(200)
    expect(closed.json()).toMatchObject({ code: 401 })
    expect(unknown.status).toBe(404)
    const [seen, ...others] = postern.upstream.requests
    expect(others).toEqual([])
    expect(seen?.target).toBe('/x')
    const hosts = seen?.headers.filter(([name]) => /^(x-forwarded-)?host$/i.test(name))
    expect(hosts?.map(([, value]) => value)).toEqual([
      postern.upstream.origin.replace('http://', ''),
      'open.test',
    ])
  })

  test.each([
    ['no Host header', []],
    ['two Host headers', ['Host: open.test', 'Host: open.test']],
    ['a malformed Host header', ['Host: open.test/a']],
  ])('needs a valid Host header all the same: with %s it is refused', async (_, hosts) => {
    const postern = await start()
    const bytes = ['GET http://open.test/x HTTP/1.1', ...hosts, '', ''].join('\r\n')

    const { answers } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]?.status).toBe(400)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('passes its host to an upstream that gets the host of the client', async () => {
    const postern = await startPostern({
      config: { application: { plainRequests }, upstreams: {} },
      routes,
    })
    const other = await startPostern({
      config: {
        application: { plainRequests },
        upstreams: { backend: { targets: [postern.upstream.origin], host: 'client' } },
      },
      routes,
    })

    await other.call('GET http://open.test:81/x', { host: 'a.test', http2: false })

    expect(postern.upstream.requests[0]?.headers.filter(([name]) => /^host$/i.test(name))).toEqual([
      ['Host', 'open.test:81'],
    ])
  })

  test('without a path means / , and for OPTIONS the whole server', async () => {
    const postern = await start()

    const root = await postern.call('GET http://open.test', { http2: false })
    const query = await postern.call('GET http://open.test?a=b', { http2: false })
    const options = await postern.call('OPTIONS http://open.test', { http2: false })

    expect([root.status, query.status]).toEqual([200, 200])
    expect(postern.upstream.requests.map(({ target }) => target)).toEqual(['/', '/?a=b'])
    expect(options.status).toBe((await postern.call('OPTIONS *', { http2: false })).status)
  })

  test('is refused in HTTP/1.0', async () => {
    const postern = await start()
    const bytes = 'GET http://open.test/x HTTP/1.0\r\nHost: open.test\r\n\r\n'

    const { answers } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]?.status).toBe(400)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('of https is misdirected without TLS', async () => {
    const postern = await start()

    const answer = await postern.call('GET https://open.test/x', { http2: false })

    expect(answer.status).toBe(421)
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('over TLS, a URL as target', () => {
  let certificates: Certificates
  beforeAll(async () => {
    certificates = await createCertificates()
  })
  afterAll(() => certificates.remove())

  test('needs the scheme and the host of the handshake', async () => {
    const { certificate: certFile, key: keyFile } = certificates
    const postern = await startPostern({
      config: { tls: { certFile, keyFile } },
      routes: [
        {
          path: '/',
          upstream: 'backend',
          hosts: ['localhost', 'other.test'],
          access: 'public',
          reason: 'a test',
        },
      ],
    })
    const tls = { ca: certificates.authorityText, servername: 'localhost' }
    const statusOf = async (target: string) =>
      (await postern.call(`GET ${target}`, { tls, host: 'localhost', http2: false })).status

    expect(await statusOf('https://localhost/x')).toBe(200)
    expect(await statusOf('http://localhost/x')).toBe(421)
    expect(await statusOf('https://other.test/x')).toBe(421)
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

test('a forward-auth request about a URL is refused', async () => {
  const postern = await startPostern({ config: asked() })

  for (const { line, headers } of [
    contracts.nginx('GET', 'http://gateway.test/api/v1/public/a'),
    contracts.traefik('GET', 'http://gateway.test/api/v1/public/a'),
  ]) {
    expect((await ask(postern, line, { as: 'editor', headers })).status).toBe(400)
  }
})

import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { outgoingPath } from '../../src/admission/routes.ts'
import type { Route } from '../../src/gateway/route/route.ts'
import { canonicalPath } from '../../src/policy/rule/canonical-path.ts'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'

const get = 'GET /api/v1/public/a'

describe('the Host header that an upstream gets', () => {
  async function startWith(host: string | undefined, config = {}) {
    const target = await startRecordingUpstream()
    onTestFinished(target.close)
    const backend = { targets: [target.origin], ...(host !== undefined && { host }) }
    const postern = await startPostern({ config: { ...config, upstreams: { backend } } })
    return { postern, target }
  }

  test.each([
    ['is its own by default', undefined, (own: string) => own],
    ['is its own', 'target', (own: string) => own],
    ['is what the client asked for', 'client', () => 'shop.test:8443'],
    ['is a fixed name', 'orders.internal', () => 'orders.internal'],
  ])('%s', async (_, host, expected) => {
    const { postern, target } = await startWith(host)

    await postern.call(get, { as: 'editor', host: 'shop.test:8443' })

    const [request] = target.requests
    expect(request?.values('host')).toEqual([expected(`127.0.0.1:${target.port}`)])
    expect(request?.values('x-forwarded-host')).toEqual(['shop.test:8443'])
  })

  test('is what a trusted proxy says that the client asked for', async () => {
    const application = { trustedProxies: ['127.0.0.1'] }
    const { postern, target } = await startWith('client', { application })

    await postern.call(get, { as: 'editor', headers: ['X-Forwarded-Host: shop.test'] })

    expect(target.requests[0]?.values('host')).toEqual(['shop.test'])
  })

  test('is refused before an upstream sees it, when it is no host', async () => {
    const { postern, target } = await startWith('client')

    const answer = await postern.call(get, { as: 'editor', host: 'a@b/c' })

    expectRejected(answer, 400, target)
  })
})

test.each([
  ['the host that it got', (own: string) => `http://${own}/next?a=1`],
  ['the scheme and the host that it got', (own: string) => `https://${own}/next?a=1`],
  ['its own address', (_: string, address: string) => `${address}/next?a=1`],
  ['a path', () => '/next?a=1'],
])('a service that redirects to %s works behind what "postern init" writes', async (_, to) => {
  const file = 'src/operations/init/templates/files/minimal.yaml'
  const text = await readFile(file, 'utf8')
  const { upstreams, routes } = parse(
    text.replaceAll('{{ownAccounts}}', '').replaceAll('{{', '').replaceAll('}}', ''),
  )
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  const app = { ...upstreams.app, targets: [target.origin] }
  const postern = await startPostern({ routes, config: { upstreams: { app } } })
  target.answerWith((socket, request) => {
    const [host = ''] = request.values('host')
    const location = to(host, target.origin)
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`)
  })

  const answer = await postern.call(get, { as: 'editor', host: 'shop.test:8443' })

  expect([answer.status, answer.header('location')]).toEqual([302, '/next?a=1'])
  expect(target.requests[0]?.values('host')).toEqual(['shop.test:8443'])
})

describe('a route that replaces its prefix', () => {
  const route = (path: string, replacePrefix: string, more = {}) => ({
    path,
    upstream: 'backend',
    replacePrefix,
    ...more,
  })
  const start = (...routes: ReturnType<typeof route>[]) =>
    startPostern({ routes, rules: ['editor, /shop/*, GET', 'editor, /shop, GET'] })

  test.each([
    ['/', '/shop/orders/7?a=/b', '/orders/7?a=/b'],
    ['/', '/shop/', '/'],
    ['/', '/shop', '/'],
    ['/internal/v2', '/shop/orders/7', '/internal/v2/orders/7'],
    ['/internal/v2', '/shop', '/internal/v2'],
    ['/internal/v2', '/shop/', '/internal/v2/'],
    ['/', '/shop/%6frders/a%20b', '/orders/a%20b'],
  ])('with %s: %s goes out as %s', async (replacePrefix, target, sent) => {
    const postern = await start(route('/shop', replacePrefix))

    await postern.call(`GET ${target}`, { as: 'editor' })

    const [request] = postern.upstream.requests
    expect(request?.target).toBe(sent)
    expect(request?.values('x-forwarded-prefix')).toEqual(replacePrefix === '/' ? ['/shop'] : [])
  })

  test('is decided on the path of the client; the log has both', async () => {
    const postern = await start(route('/shop', '/admin'), route('/other', '/shop'))

    expectUnauthenticated(await postern.call('GET /other/x', { as: 'editor' }), postern.upstream)
    await postern.call('GET /shop/x', { as: 'editor' })

    expect(postern.upstream.requests.map(({ target }) => target)).toEqual(['/admin/x'])
    expect(postern.logText()).toContain('"path":"/shop/x","sentPath":"/admin/x"')
  })

  // Specification, Removed endpoint; and a second login behind a public route would know no captcha.
  test.each(['/a/refresh_token', '/a/Refresh_Token/', '/a/login', '/a/getCaptcha'])(
    'is no way to an endpoint that an upstream must not answer: %s',
    async (path) => {
      const reason = 'so that nothing else refuses'
      const postern = await start(route('/a', '/api/v1', { access: 'public', reason }))

      expectRejected(await postern.call(`POST ${path}`), 404, postern.upstream)
      expect((await postern.call('POST /a/logins')).status).toBe(200)
    },
  )

  test('leaves redirects of the upstream as they are', async () => {
    const postern = await start(route('/shop', '/'))
    postern.upstream.answerWith((socket) =>
      socket.write('HTTP/1.1 302 Found\r\nLocation: /orders/8\r\nContent-Length: 0\r\n\r\n'),
    )

    const answer = await postern.call('GET /shop/orders', { as: 'editor' })

    expect([answer.status, answer.header('location')]).toEqual([302, '/orders/8'])
    expect(postern.upstream.requests).toHaveLength(1)
  })

  test('does not speak for an endpoint that another upstream answers', async () => {
    const postern = await startPostern({
      routes: [route('/', '/internal')],
      config: { endpoints: { profile: 'backend' } },
    })

    await postern.call('GET /api/v1/user/profile', { as: 'editor' })

    expect(postern.upstream.requests.map(({ target }) => target)).toEqual(['/api/v1/user/profile'])
  })

  test('makes canonical paths of canonical paths', () => {
    const segment = fc.stringMatching(/^[a-z0-9.~%2F;-]{1,8}$/)
    const path = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
    const plain = path.filter((one) => canonicalPath(one) === one && !one.endsWith('/'))
    const prefix = fc.oneof(fc.constant('/'), plain)

    fc.assert(
      fc.property(prefix, prefix, path, (from, replacePrefix, rest) => {
        const asked = canonicalPath(`${from === '/' ? '' : from}${rest}`)
        if (asked === undefined) return
        const sent = outgoingPath(asked, { path: from, replacePrefix } as Route)
        expect(canonicalPath(sent)).toBe(sent)
      }),
    )
  })
})

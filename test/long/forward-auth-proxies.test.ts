import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { tenants } from '../policy/domain-models.ts'
import { type Sent, startBehind, usual, whyNot } from '../support/behind-proxy.ts'
import { findHaproxy, startHaproxy } from '../support/haproxy.ts'
import type { SampleName } from '../support/proxy-process.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { echoing } from '../support/websocket-upstream.ts'

const names: readonly SampleName[] = ['caddy', 'traefik', 'envoy', 'envoy-grpc']
const leftOut = new Map<string, string | undefined>(names.map((name) => [name, whyNot(name)]))
for (const [name, why] of leftOut) {
  if (why !== undefined) console.warn(`left out: the tests behind ${name}; ${why}`)
}

const identity = ['X-User-Id', 'X-Role-Key', 'X-Data-Scope', 'X-User-Name', 'X-Role-Id']
const editor = [['42'], ['editor'], ['3'], ['editor-user'], ['7']]

describe.each(names)('behind a real %s', (name) => {
  const proxied = test.skipIf(leftOut.get(name) !== undefined)

  proxied('a call passes with who calls and without the token, query and all', async () => {
    const { backend, call } = await startBehind(name)

    const answer = await call('GET /api/v1/public/a?x=1&y=%2f', { as: 'editor' })

    expect(answer.status).toBe(200)
    const sent = backend.requests.at(-1)
    expect(sent?.target).toBe('/api/v1/public/a?x=1&y=%2f')
    expect(identity.map((header) => sent?.values(header))).toEqual(editor)
    expect(sent?.values('Authorization')).toEqual([])
  })

  proxied('what Postern refuses does not pass, whatever its query', async () => {
    const { backend, call } = await startBehind(name)
    const before = backend.requests.length

    const answers = [
      await call('GET /api/v1/public/a?x=1'),
      await call('DELETE /api/v1/public/a?x=1', { as: 'editor' }),
      await call('GET /api/v1/sys-user?token=x', { as: 'editor' }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403])
    expect(backend.requests.length).toBe(before)
  })

  proxied('a client cannot say who it is, nor take off who Postern says it is', async () => {
    const { backend, call } = await startBehind(name)
    const forged = identity.map((header) => `${header}: 1`)
    const connection = `Connection: ${[...identity, 'keep-alive'].join(', ')}`

    await call('GET /api/v1/public/forged', { as: 'editor', headers: forged })
    await call('GET /api/v1/public/dropped', { as: 'editor', headers: [connection] })
    const twice = ['Connection: keep-alive', connection]
    await call('GET /api/v1/public/twice', { as: 'editor', headers: twice })
    const upgrade = ['Upgrade: websocket', `${connection}, Upgrade`, 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    await call('GET /api/v1/public/upgraded', { as: 'editor', headers: [...upgrade, key] })
    await call('GET /open/forged', { headers: forged })
    await call('GET /open/both', { headers: [...forged, connection] })

    const seen = backend.requests
      .filter(({ target }) => /forged|dropped|twice|upgraded|both/.test(target))
      .map(({ target, values }) => [target, identity.map((header) => values(header).join())])
    const known = editor.flat()
    const unknown = identity.map(() => '')
    for (const [target, values] of seen) {
      expect([target, values]).toEqual([target, `${target}`.startsWith('/open') ? unknown : known])
    }
    const targets = seen.map(([target]) => target)
    expect(targets).toEqual(expect.arrayContaining(['/api/v1/public/forged', '/open/forged']))
    for (const how of ['dropped', 'twice', 'upgraded']) {
      expect(targets).toContain(`/api/v1/public/${how}`)
    }
  })

  proxied('headers of a client that make services act do not pass', async () => {
    const { backend, call } = await startBehind(name)
    const acting = [
      'X-Accel-Mapping',
      'X-Sendfile-Type',
      'X-Middleware-Subrequest',
      'X-Rewrite-URL',
    ]

    const headers = [...acting.map((header) => `${header}: x`), 'X-Other: y']
    await call('GET /api/v1/public/acting', { as: 'editor', headers })

    const sent = backend.requests.at(-1)
    expect(sent?.target).toBe('/api/v1/public/acting')
    expect(sent?.values('X-Other')).toEqual(['y'])
    expect(acting.filter((header) => (sent?.values(header) ?? []).join('') !== '')).toEqual([])
  })

  proxied('what is forwarded is what Postern was asked about', async () => {
    const { backend, call } = await startBehind(name)
    const odd = [
      '/api/v1/sys-user/%2e%2e/public/a',
      '/api/v1/public/../sys-user',
      '/api/v1/public/..%2fsys-user',
      '/api/v1/public//a',
      '/api/v1/public/..;/sys-user',
      '/api/v1/public/%2e%2e/sys-user',
      '/api/v1/public/a%5c..%5c..%5csys-user',
      '/api/v1/Public/a',
    ]
    const before = backend.requests.length

    for (const path of odd) await call(`GET ${path}`, { as: 'editor' }).catch(() => {})

    const passed = backend.requests.slice(before).map(({ target }) => target)
    expect(passed.filter((target) => !/^\/api\/v1\/public\/[a-z]+$/.test(target))).toEqual([])
  })

  proxied('a WebSocket is opened', async () => {
    const { backend, port } = await startBehind(name)
    backend.answerWith(echoing())

    const socket = new WebSocket(
      `ws://127.0.0.1:${port}/api/v1/public/y?token=${tokenOf('editor')}`,
    )
    const opened = await Promise.race([
      once(socket, 'open').then(() => 'open'),
      once(socket, 'error').then(() => 'error'),
    ])
    socket.close()

    expect(opened).toBe('open')
    expect(backend.requests.at(-1)?.values('X-User-Id')).toEqual(['42'])
  })

  // RFC 9110 7.8: names of protocols have no case of their own, and clients write both.
  proxied('a WebSocket is opened, however the client spells it', async () => {
    const { backend, port } = await startBehind(name)
    backend.answerWith(echoing())

    for (const protocol of ['WebSocket', 'WEBSOCKET']) {
      const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
      const upgrade = [`Upgrade: ${protocol}`, 'Connection: upgrade', 'Sec-WebSocket-Version: 13']
      const token = `Authorization: Bearer ${tokenOf('editor')}`
      const socket = connect(port, '127.0.0.1')
      socket.write(request('GET /api/v1/public/y', [token, ...upgrade, key]))
      const [first] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      expect([protocol, first.toString().slice(0, 12)]).toEqual([protocol, 'HTTP/1.1 101'])
    }
  })

  proxied('a file is moved only where the caller may write', async () => {
    const rules = ['editor, /files/*, *']
    const { backend, call } = await startBehind(name, undefined, { ...usual, rules })
    const move = async (...to: string[]) => {
      const headers = to.map((each) => `Destination: ${each}`)
      return (await call('MOVE /files/a', { as: 'editor', headers })).status
    }

    expect(await move('/files/b')).toBe(200)
    expect(backend.requests.at(-1)?.values('Destination')).toEqual(['/files/b'])
    const before = backend.requests.length
    expect(await move('/admin/b')).toBe(403)
    expect(await move()).toBe(400)
    expect(await move('/files/b', '/admin/b')).toBe(400)
    expect(backend.requests.length).toBe(before)
  })

  proxied('login goes to Postern itself', async () => {
    const { backend, call } = await startBehind(name)
    const before = backend.requests.length

    const captcha = await call('GET /api/v1/getCaptcha')

    expect(captcha.json()).toMatchObject({ code: 200, id: expect.any(String) })
    expect(backend.requests.length).toBe(before)
  })
})

if (process.env['POSTERN_TEST_NGINX'] === '') leftOut.set('nginx', 'no nginx')

/** Headers by which a client that requests another host says that it wants open.test. */
const lies: readonly (readonly string[])[] = [
  ['X-Forwarded-Host: open.test'],
  ['X-Forwarded-Host: open.test', 'X-Forwarded-Host: open.test'],
  ['X-Forwarded-Host: closed.test, open.test'],
  ['X-Forwarded-Host: open.test', 'X-Forwarded-For: 127.0.0.1'],
  ['X-Forwarded-Host: open.test', 'Connection: keep-alive, X-Forwarded-Host'],
  ['Connection: keep-alive, X-Forwarded-Host, Host'],
  ['X_Forwarded_Host: open.test'],
  ['Forwarded: for=127.0.0.1;host=open.test'],
  ['X-Original-Host: open.test', 'X-Host: open.test', 'X-Forwarded-Server: open.test'],
  ['X-Original-URI: http://open.test/a', 'X-Forwarded-Uri: http://open.test/a'],
]

describe.each([...names, 'nginx'] as const)('hosts behind a real %s', (name) => {
  const upstream = 'backend'
  const options: PosternOptions = {
    routes: [
      { path: '/', hosts: ['open.test'], upstream, access: 'public', reason: 'a test' },
      { path: '/', hosts: ['closed.test', 'other.test'], upstream },
    ],
    model: tenants,
    rules: ['lead, closed.test, /orders/*, GET'],
    inheritances: ['editor, lead, closed.test'],
    config: { policy: { domain: { from: 'host' } } },
  }

  test.skipIf(leftOut.get(name) !== undefined)(
    'the one that the client requested decides, whatever it says besides',
    async () => {
      const { backend, call } = await startBehind(name, undefined, options)
      const statusOf = async (host: string, sent: Sent = {}, target = '/a') =>
        (await call(`GET ${target}`, { ...sent, host })).status

      // By route.
      expect(await statusOf('open.test')).toBe(200)
      expect(await statusOf('OPEN.test:8088')).toBe(200)
      expect(await statusOf('closed.test')).toBe(401)
      expect(await statusOf('unknown.test')).toBe(404)
      // By domain.
      expect(await statusOf('closed.test', { as: 'editor' }, '/orders/7')).toBe(200)
      expect(await statusOf('other.test', { as: 'editor' }, '/orders/7')).toBe(403)
      // The endpoints of Postern.
      expect(await statusOf('open.test', {}, '/api/v1/getCaptcha')).toBe(200)
      expect(await statusOf('unknown.test', {}, '/api/v1/getCaptcha')).toBe(404)

      const before = backend.requests.length
      for (const headers of lies) {
        const forged = headers.map((header) => header.replaceAll('open.test', 'closed.test'))
        expect([
          headers,
          await statusOf('closed.test', { headers }),
          await statusOf('unknown.test', { headers }),
          await statusOf('unknown.test', { headers }, '/api/v1/getCaptcha'),
          await statusOf('other.test', { headers: forged, as: 'editor' }, '/orders/7'),
        ]).toEqual([headers, ...[401, 404, 404, 403].map((no) => expect.toBeOneOf([no, 400]))])
      }
      expect(backend.requests.length).toBe(before)
    },
  )

  test.skipIf(leftOut.get(name) !== undefined)(
    'an absolute target replaces Host for Postern and for the service alike',
    async () => {
      const { backend, call } = await startBehind(name, undefined, options)
      const before = backend.requests.length

      const closed = await call('GET http://closed.test/a', { host: 'open.test' })
      expect([closed.status, backend.requests.length]).toEqual([401, before])

      const open = await call('GET http://open.test/a', { host: 'closed.test' })
      expect(open.status).toBe(200)
      expect(backend.requests.at(-1)?.values('Host')).toEqual(['open.test'])
    },
  )
})

const haproxy = findHaproxy()
if (haproxy === undefined) console.warn('left out: the test behind HAProxy, which is not installed')

describe.skipIf(haproxy === undefined)('a real HAProxy before the public port', () => {
  const line = 'http-request set-header X-Forwarded-Host %[req.hdr(host)]'

  async function start(lines: readonly string[]) {
    const postern = await startPostern({
      config: { application: { trustedProxies: ['127.0.0.1'] }, refusals: { status: 'real' } },
      routes: [
        {
          path: '/',
          hosts: ['open.test'],
          upstream: 'backend',
          access: 'public',
          reason: 'a test',
        },
        { path: '/', hosts: ['closed.test'], upstream: 'backend' },
      ],
    })
    const port = await startHaproxy(haproxy ?? '', postern.publicPort, lines)
    return async (host: string, headers: readonly string[] = [], target = '/a') => {
      const text = request(`GET ${target}`, headers).replace('gateway.test', host)
      const { answers } = await sendRaw(port, Buffer.from(text, 'latin1'), { quietMs: 60_000 })
      return answers[0]?.status
    }
  }

  test('with the line of docs/routes.md, no client can choose the host', async () => {
    expect(await readFile('docs/routes.md', 'utf8')).toContain(`\`${line}\``)
    const status = await start([line])

    expect([await status('open.test'), await status('closed.test')]).toEqual([200, 401])
    for (const headers of lies) {
      expect([headers, await status('closed.test', headers)]).toEqual([
        headers,
        expect.toBeOneOf([401, 400]),
      ])
    }
    const absolute = await status('open.test', [], 'http://closed.test/a')
    expect(absolute).toBeOneOf([401, 400])
  })

  test('without it, a client can', async () => {
    const status = await start([])

    expect(await status('closed.test', ['X-Forwarded-Host: open.test'])).toBe(200)
  })
})

describe.skipIf(leftOut.get('caddy') !== undefined)(
  'a Caddyfile that leaves Connection alone',
  () => {
    test('loses who calls when the client names the headers in Connection', async () => {
      const without = (sample: string) => sample.replace('request_header @plain -Connection', '')
      const { backend, call } = await startBehind('caddy', without)

      const headers = [`Connection: ${identity.join(', ')}`]
      await call('GET /api/v1/public/dropped', { as: 'editor', headers })

      const sent = backend.requests.at(-1)
      expect(sent?.target).toBe('/api/v1/public/dropped')
      expect(identity.flatMap((header) => sent?.values(header) ?? [])).toEqual([])
    })
  },
)

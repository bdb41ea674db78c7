import { once } from 'node:events'
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { foldName } from '../../src/kernel/reserved-headers.ts'
import { startBehind, whyNot } from '../support/behind-proxy.ts'
import { inParallel } from '../support/in-parallel.ts'
import { allowedUnderEveryReading } from '../support/path-oracle.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok, type RecordedRequest } from '../support/recording-upstream.ts'
import { tokenOf } from '../support/tokens.ts'

const proxies = ['nginx', 'caddy', 'traefik', 'envoy', 'envoy-grpc'] as const
const leftOut = new Map(proxies.map((name) => [name, whyNot(name)]))
for (const [name, why] of leftOut) {
  if (why !== undefined) console.warn(`left out: attacks behind ${name}; ${why}`)
}

/** An attacker is at another address than the proxy, which Postern trusts. */
const localAddress = '127.0.0.9'
const token = `Authorization: Bearer ${tokenOf('editor')}`

const routes = [
  { path: '/', upstream: 'backend' },
  { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
  {
    ...{ path: '/inner', upstream: 'backend', access: 'public', reason: 'a test' },
    addresses: { allow: ['10.9.8.7'] },
  },
]

async function startAttacked(proxy: (typeof proxies)[number]) {
  const behind = await startBehind(proxy, undefined, { routes })
  const { backend, port } = behind

  /** The statuses, and what arrived, of one request with exactly these bytes. */
  async function send(bytes: string) {
    const before = backend.requests.length
    const { answers } = await sendRaw(port, Buffer.from(bytes, 'latin1'), {
      ...{ localAddress, quietMs: 60_000 },
    })
    return { status: answers[0]?.status, arrived: backend.requests.slice(before) }
  }
  return { ...behind, send }
}

/** What a service that folds names, as CGI does, reads under a name. */
function foldedValues({ headers, trailers }: RecordedRequest, name: string): string[] {
  return [...headers, ...trailers]
    .filter(([each]) => foldName(each.toLowerCase()) === name)
    .map(([, value]) => value)
}

/** The lines with which a client sends one header. */
const spellings: readonly ((name: string, value: string) => readonly string[])[] = [
  (name, value) => [`${name}: ${value}`],
  (name, value) => [`${name.toLowerCase()}:${value}`],
  (name, value) => [`${name.replaceAll('-', '_')}: ${value}`],
  (name, value) => [`${name.replaceAll('-', '.')}: ${value}`],
  (name, value) => [`${name}: ${value}`, `${name.toLowerCase()}: ${value}`],
  (name, value) => [`${name}: ${value}`, `${name.replaceAll('-', '_')}: ${value}`],
  (name, value) => [`${name}: ${value}`, `Connection: keep-alive, ${name}`],
  (name, value) => [`${name} : ${value}`],
  (name, value) => [`${name}\t: ${value}`],
  (name, value) => [` ${name}: ${value}`],
  (name, value) => [`X-Other: a`, `\t${name}: ${value}`],
  (name, value) => [`${name}:`, ` ${value}`],
  (name, value) => [`X-Other: a\n${name}: ${value}`],
  (name, value) => [`X-Other: a\r${name}: ${value}`],
  (name, value) => [`X-Other: a\0\r\n${name}: ${value}`],
  (name, value) => [`${name}: ${value}\0`],
]

const methods = [
  ...['X-Forwarded-Method', 'X-Original-Method', 'X-HTTP-Method-Override', 'X-HTTP-Method'],
  ...['X-Method-Override', 'X-Envoy-Original-Method'],
].map((name) => [name, 'GET'] as const)

const paths = [
  ...['X-Forwarded-Uri', 'X-Original-URI', 'X-Original-URL', 'X-Rewrite-URL', 'X-Rewrite-URI'],
  ...['X-Forwarded-Prefix', 'X-Envoy-Original-Path', 'X-Forwarded-Path', 'X-Accel-Redirect'],
].map((name) => [name, '/open/a'] as const)

const addresses = [
  ...[
    ...['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP', 'CF-Connecting-IP'],
    ...['X-Cluster-Client-IP', 'X-Original-Forwarded-For', 'X-Envoy-External-Address'],
  ].map((name) => [name, '10.9.8.7'] as const),
  ['Forwarded', 'for=10.9.8.7'] as const,
]

const identity: readonly (readonly [string, string])[] = [
  ['X-User-Id', '42'],
  ['X-Role-Key', 'editor'],
  ['X-Data-Scope', '3'],
  ['X-User-Name', 'editor-user'],
  ['X-Role-Id', '7'],
]

const odd = [
  ...['/api/v1/public/a', '/api/v1/public/a/', '/api/v1/public/%61', '/api/v1/%70ublic/a'],
  ...['/api/v1/public/a%20b', '/api/v1/public/%e4%bd%a0', '/api/v1/public/a@b:c'],
  ...['/api/v1/public/a?next=/api/v1/public/../sys-user', '/api/v1//public/a'],
  ...['//api/v1/public/a', '/api/v1/public//../sys-user', '/api/v1/public/../sys-user'],
  ...['/api/v1/public/..', '/api/v1/public/./a', '/api/v1/sys-user/../public/a'],
  ...['/api/v1/public/..%2fsys-user', '/api/v1/public/%2e%2e/sys-user', '/api/v1/public%2fa'],
  ...['/api/v1/public/%2e%2e%2fsys-user', '/api/v1/public/..%252fsys-user'],
  ...['/api/v1/public/..;/sys-user', '/api/v1/sys-user;/../public/a', '/api/v1/public/a;x=1'],
  ...['/api/v1/public/..\\sys-user', '/api/v1/public/..%5csys-user', '\\api\\v1\\public\\a'],
  ...['/api/v1/sys-user#/../public/a', '/api/v1/sys-user%23/../../public/a', '/api/v1/public/a%00'],
  ...['/api/v1/public/%c0%ae%c0%ae/sys-user', '/api/v1/public/\xe4', '/api/v1/public/a%0d%0aX: y'],
  ...['/api/v1/sys-user?/../public/a', '/api/v1/sys-user%3f/../public/a', '/api/v1/public/a%'],
  ...['http://gateway.test/api/v1/public/a', 'http://gateway.test//api/v1/public/../sys-user'],
  ...['HTTP://gateway.test/api/v1/sys-user', 'http:/api/v1/public/a', 'http:///api/v1/public/a'],
  ...['http://a@gateway.test/api/v1/public/a', 'http://gateway.test?/api/v1/public/a'],
  ...['http://gateway.test\\api/v1/public/a', 'ftp://gateway.test/api/v1/public/a', '*', 'a', '?a'],
  ...['api/v1/public/a', '/api/v1/%6cogin/../public/a', '/_postern', '/@postern_refused'],
  ...['/api/v1/public/../../../_postern', '/api/v1/public/a%2f..%2f..%2f_postern'],
  ...['/api/v1/login/../public/a', '/api/v1/LOGIN', '/api/v1/login/', '/api/v1/login;a'],
]

describe.each(proxies)('behind a real %s', (proxy) => {
  const attacked = test.skipIf(leftOut.get(proxy) !== undefined)

  attacked('no header changes which method, path or address is decided about', async () => {
    const { backend, send } = await startAttacked(proxy)
    const start = backend.requests.length
    const attacks = [
      ...methods.map((each) => ['DELETE /api/v1/public/a', ...each] as const),
      ...paths.map((each) => ['GET /api/v1/sys-user', ...each] as const),
      ...addresses.map((each) => ['GET /inner/a', ...each] as const),
    ].flatMap(([line, name, value]) =>
      spellings.map((spell) => ({ line, headers: [token, ...spell(name, value)] })),
    )

    const passed: unknown[] = []
    await inParallel(attacks, async ({ line, headers }) => {
      const { status = 0 } = await send(request(line, headers))
      if (status < 400) passed.push([line, headers.slice(1), status])
    })

    expect(passed).toEqual([])
    expect(backend.requests.slice(start)).toEqual([])
  })

  attacked('a service that folds header names reads who Postern says it is', async () => {
    const { backend, send } = await startAttacked(proxy)
    const start = backend.requests.length
    const attacks = identity.flatMap(([name]) =>
      spellings.map((spell) => [token, ...spell(name, 'hostile')]),
    )

    await inParallel(attacks, async (headers) => {
      await send(request('GET /api/v1/public/a', headers))
      await send(request('GET /open/a', headers))
    })

    const wrong = backend.requests.slice(start).filter((sent) =>
      identity.some(([name, value]) => {
        const known = sent.target.startsWith('/open') ? [] : [value]
        return foldedValues(sent, name.toLowerCase()).join() !== known.join()
      }),
    )
    expect(wrong.map(({ line, headers }) => [line, headers])).toEqual([])
    expect(backend.requests.length).toBeGreaterThan(start + identity.length)
  })

  attacked('trailers say nothing about the caller', async () => {
    const { send } = await startAttacked(proxy)
    const head = (extra: readonly string[]) =>
      request('POST /api/v1/articles', [token, 'Transfer-Encoding: chunked', ...extra])
    const body = `1\r\nx\r\n0\r\n${identity.map(([name]) => `${name}: hostile\r\n`).join('')}\r\n`
    const named = [`Trailer: ${identity.map(([name]) => name).join(', ')}`, 'TE: trailers']

    for (const extra of [[], named]) {
      const { status, arrived } = await send(`${head(extra)}${body}`)
      const seen = arrived.map((sent) =>
        identity.map(([name]) => foldedValues(sent, name.toLowerCase()).join()),
      )
      expect([status, seen]).toEqual([200, [identity.map(([, value]) => value)]])
    }
  })

  attacked('what is forwarded is what was decided about, in every spelling of a path', async () => {
    const { backend, send } = await startAttacked(proxy)
    const start = backend.requests.length

    for (const target of odd) {
      const { status, arrived } = await send(request(`GET ${target}`, [token]))
      expect([target, arrived.length]).toEqual([target, status === 200 ? arrived.length : 0])
    }

    const passed = backend.requests.slice(start).map(({ target }) => target)
    expect(passed.filter((target) => !allowedUnderEveryReading(target))).toEqual([])
    expect(passed.length).toBeGreaterThan(3)
  })

  attacked('no tunnel is opened for anything but a WebSocket', async () => {
    const { backend, port } = await startAttacked(proxy)
    backend.answerWith((socket, { values }) => {
      const protocol = values('Upgrade')[0]
      if (protocol === undefined) socket.write(ok)
      else {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
        )
      }
    })
    const settings = 'HTTP2-Settings: AAMAAABkAAQAAP__'
    const attempts = [
      ...[
        'h2c',
        'H2C',
        'foo',
        'h2c, websocket',
        'websocket, h2c',
        'TLS/1.0',
        'connect-udp',
      ].flatMap((protocol) => [
        [`Upgrade: ${protocol}`, 'Connection: Upgrade'],
        [`Upgrade: ${protocol}`, 'Connection: Upgrade, HTTP2-Settings', settings],
        [`Upgrade: ${protocol}`, 'Connection: keep-alive', 'Connection: upgrade'],
        [`Upgrade: ${protocol}`],
      ]),
      ['Upgrade: h2c', 'Upgrade: websocket', 'Connection: Upgrade'],
      ['Upgrade: websocket', 'Upgrade: h2c', 'Connection: Upgrade'],
    ]

    const opened: unknown[] = []
    for (const headers of attempts) {
      const before = backend.requests.length
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      socket.on('error', () => {})
      socket.write(request('GET /open/a', [...headers, 'Sec-WebSocket-Version: 13']))
      const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [
        Buffer | boolean,
      ]
      socket.destroy()
      const protocols = backend.requests.slice(before).flatMap(({ values }) => values('Upgrade'))
      if (protocols.some((protocol) => !/^websocket$/i.test(protocol))) {
        opened.push([headers, protocols, String(first).slice(0, 12)])
      }
    }
    expect(opened).toEqual([])
  })

  attacked('the ID of a request is not the choice of a client', async () => {
    const { send } = await startAttacked(proxy)

    const { arrived } = await send(request('GET /open/a', ['X-Request-Id: hostile']))

    const ids = arrived.flatMap(({ values }) => values('X-Request-Id'))
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{32,36}$/)])
  })
})

describe.each(['traefik', 'envoy', 'envoy-grpc'] as const)('over HTTP/2 behind %s', (proxy) => {
  test.skipIf(leftOut.get(proxy) !== undefined)(
    'pseudo-headers change nothing that was decided',
    async () => {
      const { backend, port } = await startBehind(proxy, undefined, {
        routes: [
          {
            ...{ path: '/', hosts: ['open.test'], upstream: 'backend' },
            ...{ access: 'public', reason: 'a test' },
          },
          { path: '/', hosts: ['closed.test'], upstream: 'backend' },
        ],
      })
      const start = backend.requests.length
      const session = connectHttp2(`http://127.0.0.1:${port}`)
      session.on('error', () => {})
      const statusOf = (headers: OutgoingHttpHeaders) =>
        new Promise<unknown>((resolve) => {
          const stream = session.request(headers)
          stream.on('response', (head) => resolve(head[':status']))
          stream.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
          stream.on('close', () => resolve('closed'))
          stream.resume()
          stream.end()
        })

      expect(await statusOf({ ':authority': 'open.test', ':path': '/a' })).toBe(200)
      const hostile: OutgoingHttpHeaders[] = [
        { ':authority': 'closed.test', ':path': '/a' },
        { ':authority': 'closed.test', host: 'open.test', ':path': '/a' },
        { ':authority': 'closed.test', ':path': 'http://open.test/a' },
        { ':authority': 'open.test@closed.test', ':path': '/a' },
        { ':authority': 'closed.test', ':path': '/a', 'x-forwarded-host': 'open.test' },
        { ':authority': 'closed.test', ':path': '/a', ':scheme': 'https' },
        { ':authority': 'closed.test', ':path': '/a', ':method': 'get' },
        { ':authority': 'closed.test', ':path': '/../a' },
        { ':authority': 'closed.test', ':path': '/a#@open.test/' },
      ]
      const statuses: unknown[] = []
      for (const headers of hostile) statuses.push([headers, await statusOf(headers)])
      // About the server itself, which may answer this.
      await statusOf({ ':authority': 'closed.test', ':path': '*', ':method': 'OPTIONS' })
      session.destroy()

      const refused = expect.not.toBeOneOf([200, 204])
      expect(statuses).toEqual(hostile.map((headers) => [headers, refused]))
      const hosts = backend.requests.slice(start).map(({ values }) => values('Host').join())
      expect(hosts).toEqual(['open.test'])
    },
  )
})

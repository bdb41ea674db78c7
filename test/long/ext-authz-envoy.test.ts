import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { asked } from '../support/forward-auth.ts'
import { startProxy } from '../support/proxy-process.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { findProxy } from '../support/services/find-proxy.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** Why Envoy cannot be run here, if it cannot. */
function missing(): string | undefined {
  try {
    findProxy('envoy')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const leftOut = missing()
if (leftOut !== undefined) console.warn(`left out: checks of Envoy over gRPC; ${leftOut}`)

/** The sample without one of its settings, as other products configure Envoy. */
const without = {
  rawHeaders: (sample: string) => sample.replace('encode_raw_headers: true', ''),
  underscoreRule: (sample: string) =>
    sample.replace('REJECT_REQUEST', 'ALLOW').replace('[^:].*[^a-z0-9-].*', 'none'),
  remoteAddress: (sample: string) => sample.replace('use_remote_address: true', ''),
  failClosed: (sample: string) =>
    sample.replace('failure_mode_allow: false', 'failure_mode_allow: true'),
} as const

interface Sent {
  readonly as?: string
  readonly token?: string
  readonly headers?: readonly string[]
  readonly from?: string
}

const routes = [
  { path: '/', upstream: 'backend' },
  { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
]

/** Postern, a real Envoy that checks with it over gRPC, and the service behind Envoy. */
async function startBehind(
  change: (sample: string) => string = (sample) => sample,
  { config, ...options }: PosternOptions = {},
) {
  const postern = await startPostern({ routes, ...options, config: asked(config) })
  const ports = {
    postern: postern.publicPort,
    asked: postern.forwardAuthPort ?? 0,
    backend: postern.upstream.port,
  }
  const port = await startProxy('envoy-grpc', ports, change)

  async function call(line: string, sent: Sent = {}): Promise<RawAnswer> {
    const token = sent.token ?? (sent.as === undefined ? undefined : tokenOf(sent.as))
    const authorization = token === undefined ? [] : [`Authorization: Bearer ${token}`]
    const text = request(line, [...authorization, ...(sent.headers ?? [])])
    const { answers } = await sendRaw(port, Buffer.from(text, 'latin1'), {
      quietMs: 60_000,
      ...(sent.from !== undefined && { localAddress: sent.from }),
    })
    const [answer] = answers
    if (answer === undefined) throw new Error(`no answer to ${line}`)
    return answer
  }
  // Envoy listens before it is connected to its clusters.
  await until(async () => (await call('GET /api/v1/getCaptcha')).status === 200)
  return { postern, backend: postern.upstream, call, port }
}

const identity = ['X-User-Id', 'X-Role-Key', 'X-Data-Scope', 'X-User-Name', 'X-Role-Id']
const editor = [['42'], ['editor'], ['3'], ['editor-user'], ['7']]

describe.skipIf(leftOut !== undefined)('a real Envoy that checks over gRPC', () => {
  test.each([
    ['as they came', undefined],
    ['joined by name', without.rawHeaders],
  ])('with headers %s, forwards with who calls and refuses the rest', async (_, change) => {
    const { backend, call } = await startBehind(change)
    const forged = identity.flatMap((name) => [`${name}: 1`, `${name}: 2`])

    const allowed = await call('GET /api/v1/public/a?x=%2f', { as: 'editor', headers: forged })
    expect(allowed.status).toBe(200)
    const sent = backend.requests.at(-1)
    expect(sent?.target).toBe('/api/v1/public/a?x=%2f')
    expect(identity.map((name) => sent?.values(name))).toEqual(editor)
    expect(sent?.values('Authorization')).toEqual([])

    expect((await call('GET /open/a', { headers: forged })).status).toBe(200)
    const open = backend.requests.at(-1)
    expect(identity.flatMap((name) => open?.values(name) ?? [])).toEqual([])

    const before = backend.requests.length
    const nobody = await call('GET /api/v1/public/a')
    expect([nobody.status, nobody.header('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(nobody.json()).toMatchObject({ code: 401, msg: 'please log in' })
    expect((await call('DELETE /api/v1/public/a', { as: 'editor' })).status).toBe(403)
    const two = [`Authorization: Bearer ${tokenOf('admin')}`, `Authorization: Bearer x`]
    expect((await call('GET /api/v1/public/a', { headers: two })).status).toBeOneOf([400, 401])
    const cookies = [`Cookie: jwt=${tokenOf('admin')}`, 'Cookie: jwt=x']
    expect((await call('GET /api/v1/public/a', { headers: cookies })).status).toBe(401)
    const cross = [`Cookie: jwt=${tokenOf('admin')}`, 'Origin: https://evil.test']
    expect((await call('POST /api/v1/articles', { headers: cross })).status).toBe(403)
    expect(backend.requests.length).toBe(before)
  })

  test.each([
    ['as they came', undefined],
    ['joined by name', without.rawHeaders],
  ])('with headers %s, does not forward a second Destination', async (_, change) => {
    const { backend, call } = await startBehind(change, { rules: ['editor, /files/*, *'] })
    const move = (...to: string[]) =>
      call('MOVE /files/a', { as: 'editor', headers: to.map((each) => `Destination: ${each}`) })

    expect((await move('/files/b')).status).toBe(200)
    const before = backend.requests.length
    expect((await move('/admin/b')).status).toBe(403)
    expect((await move('/files/b', '/admin/b')).status).toBe(400)
    expect((await move('/admin/b', '/files/b')).status).toBe(400)
    expect(backend.requests.length).toBe(before)
  })

  test('refuses a token after its logout', async () => {
    const { backend, postern, call } = await startBehind()
    const token = tokenOf('editor')

    expect((await call('GET /api/v1/public/a', { token })).status).toBe(200)
    await postern.call('POST /api/v1/logout', { token })
    const before = backend.requests.length

    expect((await call('GET /api/v1/public/a', { token })).status).toBe(401)
    expect(backend.requests.length).toBe(before)
  })

  test('removes names with underscores, where Envoy has no rule for them', async () => {
    const { backend, call } = await startBehind(without.underscoreRule)
    const headers = ['X_User_Id: 1', 'x_role-key: admin', 'X_Other: 1']

    await call('GET /open/a', { headers })
    await call('GET /api/v1/public/a', { headers, as: 'editor' })

    const seen = backend.requests.slice(-2)
    expect(seen.map(({ target }) => target)).toEqual(['/open/a', '/api/v1/public/a'])
    for (const { values } of seen) {
      expect([values('X_User_Id'), values('x_role-key'), values('X_Other')]).toEqual([
        [],
        [],
        ['1'],
      ])
    }
  })

  test('reports its peer, although the client forges X-Forwarded-For', async () => {
    for (const change of [undefined, without.remoteAddress]) {
      const { postern, call } = await startBehind(change)

      await call('GET /api/v1/public/forged', {
        as: 'editor',
        from: '127.0.0.9',
        headers: ['X-Forwarded-For: 1.1.1.1'],
      })

      const line = postern
        .logText()
        .split('\n')
        .find((one) => one.includes('/api/v1/public/forged'))
      expect(JSON.parse(line ?? '{}')).toMatchObject({ contract: 'envoy', client: '127.0.0.9' })
    }
  })

  test('forwards nothing while Postern cannot decide, even with failure_mode_allow', async () => {
    const { backend, call } = await startBehind(without.failClosed, {
      config: { redis: { url: 'redis://127.0.0.1:1' }, policy: { source: 'redis' } },
    })

    const answer = await call('GET /api/v1/public/a', { as: 'admin' })

    expect(answer.status).toBe(503)
    expect(backend.requests).toEqual([])
  })

  test('refuses gRPC calls of its own clients with a status of gRPC', async () => {
    const { backend, port } = await startBehind()
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
    onTestFinished(() => client.close())
    const call = (metadata: Metadata) =>
      new Promise<ServiceError>((resolve) => {
        const same = (bytes: Buffer) => bytes
        const path = '/shop.Orders/List'
        client.makeUnaryRequest(path, same, same, Buffer.alloc(0), metadata, (error) =>
          resolve(error as ServiceError),
        )
      })
    const asEditor = new Metadata()
    asEditor.set('authorization', `Bearer ${tokenOf('editor')}`)
    const before = backend.requests.length

    expect((await call(new Metadata())).code).toBe(status.UNAUTHENTICATED)
    expect((await call(asEditor)).code).toBe(status.PERMISSION_DENIED)
    expect(backend.requests.length).toBe(before)
  })
})

import { connect } from 'node:http2'
import { Metadata, status } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { FrameType } from '../../src/h2/frames.ts'
import { checkOf, checkOfLine, encodeCheck, headersIn, health } from '../support/check-messages.ts'
import { grpcClient } from '../support/ext-authz.ts'
import { askAbout, asked, expectedStatuses } from '../support/forward-auth.ts'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { dev, logIn } from '../support/log-in.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const editor = {
  'x-user-id': '42',
  'x-role-key': 'editor',
  'x-data-scope': '3',
  'x-user-name': 'editor-user',
  'x-role-id': '7',
}

/** Forms of identity headers that are removed from every request. */
const asMetadata = [...Object.keys(editor), 'x-postern-assertion'].flatMap((name) => [
  `${name}-bin`,
  `grpc-metadata-${name}`,
])

describe('a check of Envoy over gRPC', () => {
  test('is allowed with who calls, when both checks pass', async () => {
    const postern = await startPostern({ config: asked() })

    const answer = await grpcClient(postern).check(
      checkOfLine('GET /api/v1/public/a?x=1', { as: 'editor' }),
    )

    expect(answer.status.code ?? 0).toBe(0)
    expect(answer.denied_response).toBeUndefined()
    expect(headersIn(answer.ok_response?.headers)).toEqual({
      ...editor,
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(answer.ok_response?.headers_to_remove).toEqual([
      ...['x-postern-assertion', 'authorization'],
      ...asMetadata,
    ])
    expect(postern.logText()).toMatch(/"contract":"envoy".*"status":200.*"outcome":"passed"/)
  })

  test('is denied while the gateway sheds requests, so that no proxy forwards', async () => {
    const postern = await startPostern({ config: { ...asked(), overload: { inFlight: 1 } } })
    let answer: (() => void) | undefined
    postern.upstream.answerWith((socket) => {
      answer = () => socket.end(ok)
    })
    const holding = postern.call('GET /api/v1/public/a', { as: 'editor' })
    await until(() => answer !== undefined)

    const shed = await grpcClient(postern).check(
      checkOfLine('GET /api/v1/public/a', { as: 'editor' }),
    )
    expect(shed.ok_response).toBeUndefined()
    expect(shed.denied_response?.status.code).toBe(503)
    answer?.()
    await holding
  })

  test('gets the same answer as over HTTP, in status, body, headers and log', async () => {
    const postern = await startPostern({ config: asked() })
    const client = grpcClient(postern)
    const codes: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 12, 405: 12 }

    for (const [about, line, as] of expectedStatuses) {
      const who = as === undefined ? {} : { as }
      const overHttp = await askAbout(postern, 'envoy', line, who)
      const { status, denied_response, ok_response } = await client.check(checkOfLine(line, who))

      expect([about, status.code ?? 0]).toEqual([about, codes[overHttp.status] ?? 0])
      if (overHttp.status === 200) {
        expect(ok_response?.headers_to_remove.join(', ')).toBe(
          overHttp.header('x-envoy-auth-headers-to-remove')?.toLowerCase(),
        )
        continue
      }
      expect([about, denied_response?.status.code]).toEqual([about, overHttp.status])
      const requestId = expect.any(String)
      const body = JSON.parse(denied_response?.body ?? '')
      expect(body).toEqual({ ...(overHttp.json() as object), requestId })
      const headers = headersIn(denied_response?.headers)
      expect(headers['content-type']).toBe(overHttp.header('content-type'))
      expect(headers['www-authenticate']).toBe(overHttp.header('www-authenticate'))
      expect(headers['content-length']).toBeUndefined()
      const lines = postern.logText().trim().split('\n')
      const [before, after] = lines.slice(-2).map((each) => JSON.parse(each))
      const { method, path, rawPath, status: logged, contract, outcome, reason } = before
      expect(after).toMatchObject({ status: logged, contract, outcome })
      expect([after.method, after.path, after.rawPath, after.reason]).toEqual([
        ...[method, path, rawPath, reason],
      ])
    }
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('removes every identity header that it does not set, in every spelling', async () => {
    const postern = await startPostern({
      config: asked(),
      routes: [{ path: '/open', access: 'public', reason: 'a test' }],
    })
    const headers = {
      ...{ 'x-user-id': '1', x_user_id: '1', 'x-role-key': 'admin' },
      ...{ 'x_role-key-bin': 'YWRtaW4', 'x-user-id-bin': 'MQ', x_original_url: '/admin' },
    }

    const { ok_response } = await grpcClient(postern).check(checkOfLine('GET /open/a', { headers }))

    expect(headersIn(ok_response?.headers)).toEqual({ 'x-request-id': expect.any(String) })
    expect(ok_response?.headers_to_remove).toEqual([
      ...Object.keys(editor),
      'x-postern-assertion',
      'authorization',
      ...asMetadata,
      ...['x_user_id', 'x_role-key-bin', 'x_original_url'],
    ])
  })

  test('is denied about a Destination that may be two', async () => {
    const postern = await startPostern({ config: asked(), rules: ['editor, /files/*, *'] })
    const headers = { destination: '/files/b,/admin/b' }

    const answer = await grpcClient(postern).check(
      checkOfLine('MOVE /files/a', { as: 'editor', headers }),
    )

    expect(answer.denied_response?.status.code).toBe(400)
  })

  test('does not read the metadata of the call as the headers of the client', async () => {
    const postern = await startPostern({ config: asked() })
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${tokenOf('admin')}`)
    metadata.set('x-original-uri', '/api/v1/public/a')

    const answer = await grpcClient(postern).check(checkOfLine('GET /api/v1/public/a'), metadata)

    expect(answer.denied_response?.status.code).toBe(401)
  })

  test.each([
    ['two tokens in one header', { authorization: `Bearer ${tokenOf('admin')},Bearer x` }, 401],
    ['two cookies with a token', { cookie: `jwt=${tokenOf('admin')}; jwt=x` }, 401],
    ['a token behind another cookie', { cookie: `a=b; jwt=${tokenOf('admin')}` }, 200],
    ['joined cookies', { cookie: `a=b,jwt=${tokenOf('admin')}` }, 401],
  ])('is decided as the request itself with %s', async (_, headers, code) => {
    const postern = await startPostern({ config: asked() })

    const answer = await grpcClient(postern).check(checkOfLine('GET /api/v1/public/a', { headers }))

    expect(answer.denied_response?.status.code ?? 200).toBe(code)
  })

  test('about a change by cookie from another site is denied, a WebSocket included', async () => {
    const postern = await startPostern({ config: asked() })
    const client = grpcClient(postern)
    const cookie = `jwt=${tokenOf('editor')}`
    const codeOf = async (line: string, headers: Record<string, string>) => {
      const answer = await client.check(checkOfLine(line, { headers: { cookie, ...headers } }))
      return answer.denied_response?.status.code ?? 200
    }
    const other = { 'sec-fetch-site': 'cross-site' }

    expect(await codeOf('POST /api/v1/articles', other)).toBe(403)
    expect(await codeOf('GET /api/v1/public/a', { ...other, upgrade: 'websocket' })).toBe(403)
    expect(await codeOf('GET /api/v1/public/a', other)).toBe(200)
    // The host that Envoy reports, not the one that the client forges.
    const origin = 'https://evil.example'
    const forged = { origin, 'x-forwarded-host': 'evil.example' }
    expect(await codeOf('POST /api/v1/articles', forged)).toBe(403)
    expect(await codeOf('POST /api/v1/articles', { origin: 'https://shop.example' })).toBe(200)
  })

  test('knows the address of the client from trusted proxies only', async () => {
    const postern = await startPostern({
      config: asked({ application: { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] } }),
    })
    const client = grpcClient(postern)
    const clientOf = async (source: string, forwardedFor: string) => {
      const headers = { 'x-forwarded-for': forwardedFor }
      await client.check(encodeCheck(checkOf({ source, headers })))
      return JSON.parse(postern.logText().trim().split('\n').at(-1) ?? '').client
    }

    expect(await clientOf('9.9.9.9', '1.1.1.1')).toBe('9.9.9.9')
    expect(await clientOf('9.9.9.9', '1.1.1.1, 9.9.9.9')).toBe('9.9.9.9')
    expect(await clientOf('10.0.0.2', '1.1.1.1, 8.8.8.8')).toBe('8.8.8.8')
  })

  test('of a peer that is not a trusted proxy is denied', async () => {
    const postern = await startPostern({
      config: asked({ application: { trustedProxies: ['10.0.0.1'] } }),
    })

    const answer = await grpcClient(postern).check(
      checkOfLine('GET /api/v1/public/a', { as: 'admin' }),
    )

    expect([answer.ok_response, answer.denied_response?.status.code]).toEqual([undefined, 400])
    expect(postern.logText()).toContain('peer is not a trusted proxy')
  })

  test('that cannot be read is denied, never an error that lets Envoy choose', async () => {
    const postern = await startPostern({ config: asked() })
    const client = grpcClient(postern)
    const large = { 'x-large': 'x'.repeat(1_048_576) }

    const garbage = await client.check(Buffer.from([0x0a, 0xff]))
    const nothing = await client.check(Buffer.alloc(0))
    const tooLarge = await client.check(
      checkOfLine('GET /api/v1/public/a', { as: 'admin', headers: large }),
    )

    expect(
      [garbage, nothing, tooLarge].map(({ denied_response }) => denied_response?.status.code),
    ).toEqual([400, 400, 413])
  })

  test('is denied with the token of a logout', async () => {
    const postern = await startPostern({ config: asked(dev) })
    const client = grpcClient(postern)
    const token = await logIn(postern)
    const message = checkOfLine('GET /api/v1/public/a', {
      headers: { authorization: `Bearer ${token}` },
    })

    const before = await client.check(message)
    await postern.call('POST /api/v1/logout', { token })
    const after = await client.check(message)

    expect(before.denied_response).toBeUndefined()
    expect(after.denied_response?.status.code).toBe(401)
  })

  test('is denied with 503 while there is no policy, and health says so', async () => {
    const config = asked({ redis: { url: 'redis://127.0.0.1:1' }, policy: { source: 'redis' } })
    const postern = await startPostern({ config })
    const client = grpcClient(postern)

    const answer = await client.check(checkOfLine('GET /api/v1/public/a', { as: 'admin' }))
    const { status } = health.responseDeserialize(
      await client.call(health.path, health.requestSerialize({})),
    ) as { status: number }

    expect([answer.status.code, answer.denied_response?.status.code, status]).toEqual([14, 503, 2])
  })
})

describe('other calls on the forward-auth port', () => {
  test('health is SERVING for the port and its service, and NOT_FOUND for others', async () => {
    const postern = await startPostern({ config: asked() })
    const { call } = grpcClient(postern)
    const ask = async (service: string) =>
      health.responseDeserialize(await call(health.path, health.requestSerialize({ service })))

    expect(await ask('')).toEqual({ status: 1 })
    expect(await ask('envoy.service.auth.v3.Authorization')).toEqual({ status: 1 })
    await expect(ask('shop.Orders')).rejects.toMatchObject({ code: status.NOT_FOUND })
  })

  test('health is NOT_SERVING once the shutdown has begun', async () => {
    const postern = await startPostern({ config: asked() })
    // By hand: a client of gRPC leaves a connection that announces its end.
    const client = await connectFrames(postern.forwardAuthPort ?? 0)
    const fields = requestFields(`POST ${health.path}`, [['content-type', 'application/grpc']])
    async function ask(id: number) {
      client.send(headers(id, fields, { body: true }), data(id, Buffer.alloc(5), true))
      const { payload } = await client.next(FrameType.data, id)
      return health.responseDeserialize(payload.subarray(5))
    }

    expect(await ask(1)).toEqual({ status: 1 })
    const closed = postern.close()
    expect(await ask(3)).toEqual({ status: 2 })
    client.socket.destroy()
    await closed
  })

  test('an unknown method is UNIMPLEMENTED', async () => {
    const postern = await startPostern({ config: asked() })
    const { call } = grpcClient(postern)

    const unknown = call('/envoy.service.auth.v2.Authorization/Check', Buffer.alloc(0))

    await expect(unknown).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
  })

  // An Envoy that asks over HTTP may do so over HTTP/2, with the type of its client.
  test('a refusal in the form of HTTP has a real status over HTTP/2 too', async () => {
    const postern = await startPostern({ config: asked() })
    const session = connect(`http://127.0.0.1:${postern.forwardAuthPort}`)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/auth/envoy/shop.Orders/List',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.end()

    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      stream.on('response', resolve).on('error', reject)
    })
    session.destroy()

    expect([headers[':status'], headers['grpc-status']]).toEqual([401, undefined])
  })
})

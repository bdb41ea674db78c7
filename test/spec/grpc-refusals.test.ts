import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askAbout, asked, contractNames } from '../support/forward-auth.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const grpc = ['Content-Type: application/grpc', 'TE: trailers']
/** One empty message: no compression, no bytes. */
const emptyMessage = '\0'.repeat(5)
const method = 'POST /shop.Orders/List'

/** What a gRPC client reads of an answer. */
const seen = (answer: RawAnswer) => ({
  http: answer.status,
  type: answer.header('content-type'),
  status: answer.header('grpc-status'),
  message: decodeURIComponent(answer.header('grpc-message') ?? ''),
  body: answer.body,
})

describe('a refused gRPC call', () => {
  test('without a token is UNAUTHENTICATED, without permission PERMISSION_DENIED', async () => {
    const postern = await startPostern()
    const call = (as?: string) =>
      postern.call(method, { headers: grpc, body: emptyMessage, ...(as && { as }) })

    expect(seen(await call())).toEqual({
      http: 200,
      type: 'application/grpc',
      status: '16',
      message: 'please log in',
      body: '',
    })
    expect(seen(await call('editor'))).toEqual({
      http: 200,
      type: 'application/grpc',
      status: '7',
      message: 'you have no permission for this operation',
      body: '',
    })
    expect(postern.upstream.bytes()).toBe(0)
    expect(postern.logText()).toMatch(/"path":"\/shop.Orders\/List".*"outcome":"not-permitted"/)
  })

  test('has the same form whatever refusals.status says', async () => {
    const postern = await startPostern({ config: { refusals: { status: 'real' } } })

    const answer = await postern.call(method, { headers: grpc, body: emptyMessage })

    expect([answer.status, answer.header('grpc-status')]).toEqual([200, '16'])
    expect(postern.logText()).toMatch(/"outcome":"token-missing"/)
  })

  test('over a limit is RESOURCE_EXHAUSTED and says when to come back', async () => {
    const routes = [{ path: '/', upstream: 'backend', limit: { requests: 1, seconds: 3600 } }]
    const postern = await startPostern({ routes, rules: ['editor, /shop.Orders/*, POST'] })
    const call = () => postern.call(method, { as: 'editor', headers: grpc, body: emptyMessage })

    // An hour may end between two calls.
    const answers = [await call(), await call(), await call()]
    const refused = answers.find((answer) => answer.header('grpc-status') === '8')

    expect(refused?.status).toBe(200)
    expect(refused?.header('retry-after')).toMatch(/^\d+$/)
  })

  test('about a service that cannot be reached is UNAVAILABLE, with the request ID', async () => {
    const postern = await startPostern({
      rules: ['editor, /shop.Orders/*, POST'],
      config: { upstreams: { backend: { targets: ['http://127.0.0.1:1'] } } },
    })

    const answer = await postern.call(method, { as: 'editor', headers: grpc, body: emptyMessage })

    expect([answer.status, answer.header('grpc-status')]).toEqual([200, '14'])
    const requestId = answer.header('x-request-id')
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(postern.logText()).toMatch(
      new RegExp(`"requestId":"${requestId}".*"outcome":"upstream-unreachable"`),
    )
  })

  test('has a percent-encoded message in the language of the client', async () => {
    const postern = await startPostern()

    const headers = [...grpc, 'Accept-Language: zh']
    const answer = await postern.call(method, { headers, body: emptyMessage })

    expect(answer.header('grpc-message')).toMatch(/^(?:%[0-9A-F]{2})+$/)
    expect(seen(answer).message).toBe('请先登录')
  })

  test.each([
    ['application/grpc+proto', 'application/grpc+proto'],
    ['Application/GRPC; charset=utf-8', 'application/grpc'],
    ['application/grpc-web+proto', 'application/grpc-web+proto'],
    ['application/grpc-web-text', 'application/grpc-web-text'],
  ])('with the type %s is answered in the type %s', async (sent, received) => {
    const postern = await startPostern()

    const headers = [`Content-Type: ${sent}`]
    const answer = await postern.call(method, { headers, body: emptyMessage })

    expect([answer.header('content-type'), answer.header('grpc-status')]).toEqual([received, '16'])
  })

  test('leaves its connection usable', async () => {
    const postern = await startPostern()
    const one = request(method, [...grpc, 'Content-Length: 5'], emptyMessage)

    const { answers } = await sendRaw(postern.publicPort, one + one, { expected: 2 })

    expect(answers.map((answer) => answer.header('grpc-status'))).toEqual(['16', '16'])
  })

  test('is never sent to the login page', async () => {
    const postern = await startPostern({
      config: { cookie: { set: true }, login: { page: { enabled: true } } },
    })
    const browser = ['Accept: text/html', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']

    const call = await postern.call(method, { headers: [...grpc, ...browser], body: emptyMessage })
    const page = await postern.call('GET /shop', { headers: browser })

    expect(seen(call)).toMatchObject({ http: 200, status: '16' })
    expect(page.status).toBe(302)
  })
})

describe('a real gRPC client over HTTP/2', () => {
  const same = (bytes: Buffer) => bytes

  async function connectTo(options: PosternOptions = {}) {
    const { config } = options
    const application = { h2c: true, ...config?.['application'] }
    const postern = await startPostern({ ...options, config: { ...config, application } })
    const client = new Client(`127.0.0.1:${postern.publicPort}`, credentials.createInsecure())
    onTestFinished(() => client.close())
    const metadataOf = (entries: Record<string, string>) => {
      const metadata = new Metadata()
      for (const [name, value] of Object.entries(entries)) metadata.set(name, value)
      return metadata
    }
    const unary = (entries: Record<string, string> = {}) =>
      new Promise<ServiceError>((resolve, reject) => {
        const path = '/shop.Orders/List'
        const sent = metadataOf(entries)
        client.makeUnaryRequest(path, same, same, Buffer.from('abc'), sent, (error) =>
          error === null ? reject(new Error('answered')) : resolve(error),
        )
      })
    return { postern, client, unary, metadataOf }
  }

  test('learns status and message of a refusal', async () => {
    const { postern, unary } = await connectTo()

    const nobody = await unary()
    const chinese = await unary({ 'accept-language': 'zh' })
    const notPermitted = await unary({ authorization: `Bearer ${tokenOf('editor')}` })

    expect([nobody.code, nobody.details]).toEqual([status.UNAUTHENTICATED, 'please log in'])
    expect(chinese.details).toBe('请先登录')
    expect(notPermitted.code).toBe(status.PERMISSION_DENIED)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('learns of an outage, with the request ID as metadata', async () => {
    const { postern, unary } = await connectTo({
      rules: ['editor, /shop.Orders/*, POST'],
      config: { upstreams: { backend: { targets: ['http://127.0.0.1:1'] } } },
    })

    const error = await unary({ authorization: `Bearer ${tokenOf('editor')}` })

    expect(error.code).toBe(status.UNAVAILABLE)
    const [requestId] = error.metadata.get('x-request-id')
    expect(postern.logText()).toContain(`"requestId":"${requestId}"`)
  })

  test('learns of it while it still sends', async () => {
    const { client } = await connectTo()

    const error = await new Promise<ServiceError>((resolve, reject) => {
      const call = client.makeBidiStreamRequest('/shop.Orders/Watch', same, same)
      call.on('error', (thrown: ServiceError) => resolve(thrown))
      call.on('data', () => reject(new Error('answered')))
      call.write(Buffer.alloc(1000))
    })

    expect(error.code).toBe(status.UNAUTHENTICATED)
  })
})

describe('a request that is not a gRPC call', () => {
  test.each([
    ['another type', method, ['Content-Type: application/json']],
    ['a type that only begins like it', method, ['Content-Type: application/grpcx']],
    ['no type', method, []],
    ['another method', 'GET /shop.Orders/List', grpc],
  ])('with %s gets the usual body', async (_, line, headers) => {
    const postern = await startPostern()

    const answer = await postern.call(line, { headers })

    expect(answer.json()).toEqual({ code: 401, msg: 'please log in' })
    expect(answer.header('grpc-status')).toBeUndefined()
  })
})

// Proxies pass the type of the client on, and forward on HTTP 200.
describe.each(contractNames)(
  'a forward-auth request in the form of %s about a gRPC call',
  (name) => {
    test('is refused with a real status', async () => {
      const postern = await startPostern({ config: asked() })

      const nobody = await askAbout(postern, name, method, { headers: grpc })
      const editor = await askAbout(postern, name, method, { headers: grpc, as: 'editor' })
      const forged = [...grpc, `Authorization: Bearer ${tokenOf('editor')}x`]
      const wrong = await askAbout(postern, name, method, { headers: forged })

      expect([nobody.status, editor.status, wrong.status]).toEqual([401, 403, 401])
      expect(nobody.header('grpc-status')).toBeUndefined()
    })
  },
)

import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

/** What the gateway itself writes ends its line, for the shell that shows it. */
const line = /^\{[^\n]*\}\n$/

test.each([
  ['without a token', request('GET /api/v1/public/a')],
  ['for an ambiguous path', request('GET /api/v1/public/..%2fa')],
  ['for a request that no parser accepts', 'GET /\r\n: x\r\n\r\n'],
  ['of a login', request('POST /api/v1/login', ['Content-Length: 2'], '{}')],
  ['that is not a refusal', request('GET /api/v1/getCaptcha')],
])(
  'the body of a response %s ends with a line break, which its length counts',
  async (_, bytes) => {
    const { publicPort } = await startPostern()

    const { answers } = await sendRaw(publicPort, bytes)

    expect(answers[0]?.body).toMatch(line)
    expect(answers[0]?.header('content-length')).toBe(
      String(Buffer.byteLength(`${answers[0]?.body}`)),
    )
  },
)

test('HEAD has the length of GET and no body', async () => {
  const { publicPort } = await startPostern()
  const get = await sendRaw(publicPort, request('GET /api/v1/public/a'))
  const head = await sendRaw(publicPort, request('HEAD /api/v1/public/a'), { bodiless: true })

  const length = get.answers[0]?.header('content-length')
  expect(head.answers[0]?.header('content-length')).toBe(length)
  expect(head.bytes.toString('latin1').endsWith('\r\n\r\n')).toBe(true)
})

test.each([
  ['over HTTP/2, as over HTTP/1.1', 'application/json', line],
  ['of a gRPC call has no body', 'application/grpc', /^$/],
])('a refusal %s', async (_, type, body) => {
  const { publicPort } = await startPostern({ config: { application: { h2c: true } } })
  const session = connect(`http://127.0.0.1:${publicPort}`)
  onTestFinished(() => session.destroy())
  const headers = { ':method': 'POST', ':path': '/shop.Orders/List', 'content-type': type }

  const stream = session.request(headers, { endStream: true })
  let length: unknown
  stream.on('response', (head) => {
    length = head['content-length']
  })
  const received = await text(stream)

  expect(received).toMatch(body)
  if (type === 'application/json') expect(length).toBe(String(Buffer.byteLength(received)))
})

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ByteClient, openByteClient } from '../support/byte-client.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const upload = request('POST /api/v1/articles', [asEditor, 'Transfer-Encoding: chunked'])
const sized = request('POST /api/v1/articles', [asEditor, 'Content-Length: 10'], 'abc')
/** More than is waited for before a service gets the beginning of an upload. */
const chunk = `11000\r\n${'a'.repeat(0x11000)}\r\n`

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

/** A service that sends the beginning of its response, and then waits. */
async function startHalfAnswering(): Promise<string> {
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
      })
    socket.resume()
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const lines = (postern: TestPostern) =>
  postern
    .logText()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line))

describe.each([
  ['in the clear', false],
  ['over TLS', true],
])('a body %s', (_, encrypted) => {
  async function start(limits: Readonly<Record<string, unknown>> = {}, origin?: string) {
    const files = { certFile: certificates.certificate, keyFile: certificates.key }
    const postern = await startPostern({
      config: {
        limits,
        shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 30_000 },
        ...(encrypted && { tls: files }),
        ...(origin !== undefined && { upstreams: { backend: { targets: [origin] } } }),
      },
    })
    const tls = encrypted ? certificates : undefined
    const open = () => openByteClient(postern.publicPort, { tls, from: '127.0.0.7' })
    return { postern, client: await open(), open }
  }
  async function ended(client: ByteClient): Promise<readonly number[]> {
    await until(client.closed)
    return (await client.answers(1)).map(({ status }) => status)
  }

  test.each<[string, string, number, string]>([
    ['is malformed while it is gathered', `${upload}3\r\nabc\r\nzz\r\n`, 400, 'bad-request'],
    ['is malformed while it is sent on', `${upload}${chunk}zz\r\n`, 400, 'bad-request'],
    ['has a malformed trailer', `${upload}3\r\nabc\r\n0\r\nbad\r\n\r\n`, 400, 'bad-request'],
    ['comes too late', sized, 408, 'body-too-slow'],
    ['comes too late, in chunks', upload + chunk, 408, 'body-too-slow'],
    [
      'of a login is malformed',
      request('POST /api/v1/login', ['Transfer-Encoding: chunked'], 'zz\r\n'),
      400,
      'bad-request',
    ],
  ])(
    'that %s gets a response, then the connection is closed',
    async (_, bytes, status, outcome) => {
      const { postern, client } = await start({ requestTimeoutMs: 1000, headersTimeoutMs: 1000 })

      client.send(bytes)

      expect(await ended(client)).toEqual([status])
      await until(() => lines(postern).length > 0)
      expect(lines(postern)).toMatchObject([{ status, outcome, client: '127.0.0.7' }])
      expect(postern.upstream.requests).toHaveLength(0)
      // Nothing of it is left to be read as the beginning of another request.
      await until(() => postern.upstream.connections() === 0)
    },
  )

  test('that breaks after its response has begun is cut by the gateway', async () => {
    const { postern, client } = await start({}, await startHalfAnswering())
    client.send(upload + chunk)
    await until(() => client.text().endsWith('half'))

    client.send('zz\r\n')

    await until(client.closed)
    await until(() => lines(postern).length > 0)
    expect(lines(postern)).toMatchObject([{ status: 200, outcome: 'cut-by-gateway' }])
    const closed = 'postern_connections_closed_total{reason="broken-body"}'
    expect(await metricOf(postern.opsPort, closed)).toBe(1)
    expect(postern.logText()).toMatch(/"reason":"broken-body","client":"127\.0\.0\.7"/)
  })

  test('that its client cuts off is cut by the client', async () => {
    const { postern, client } = await start()
    client.send(upload + chunk)
    await until(() => postern.upstream.bytes() > 0)

    client.socket.end()

    await until(() => lines(postern).length > 0)
    expect(lines(postern)).toMatchObject([{ status: 499, outcome: 'cut-by-client' }])
  })

  test('that is malformed does not keep the gateway from ending', async () => {
    const { postern, client } = await start()
    client.send(`${upload}zz\r\n`)
    await client.answers(1)

    await postern.close()

    expect(postern.logText()).not.toContain('were cut')
  })
})

test('a request that the deadline of the shutdown cuts is cut by the gateway', async () => {
  const postern = await startPostern({
    config: { shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 100 } },
  })
  postern.upstream.answerWith(() => {})
  const client = await openByteClient(postern.publicPort)
  client.send(request('GET /api/v1/public/a', [asEditor]))
  await until(() => postern.upstream.requests.length === 1)

  await postern.close()

  expect(lines(postern)).toMatchObject([{ status: 499, outcome: 'cut-by-gateway' }])
})

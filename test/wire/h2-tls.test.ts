import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { TargetTls } from '../../src/wire/connect.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { startFrameServer } from '../support/frame-server.ts'
import { answerPath, handMadeUpload, startH2Pool } from '../support/h2-pool.ts'
import { until } from '../support/until.ts'
import { send } from '../support/wire-call.ts'
import { startWireServer } from '../support/wire-server.ts'

let certificates: Certificates
let own: TlsOptions
let tls: TargetTls
beforeAll(async () => {
  certificates = await createCertificates()
  const { certificate, key } = certificates
  own = { cert: await readFile(certificate), key: await readFile(key) }
  tls = { secureContext: createSecureContext({ ca: certificates.authorityText }) }
})
afterAll(() => certificates.remove())

/** Answers with the version and the path. */
async function startServer(
  server: Http2SecureServer | ReturnType<typeof createHttpsServer>,
): Promise<string> {
  server.on('request', ({ httpVersion, url }, reply) => reply.end(`${httpVersion} ${url}`))
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello')
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

describe('protocol h2', () => {
  test('is chosen in TLS, and requests share a connection', async () => {
    const server = await startFrameServer(answerPath, { tls: { ...own, ALPNProtocols: ['h2'] } })
    const pool = startH2Pool(server.origin, { protocol: 'h2', tls })

    const calls = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(pool, { path: `/${at}` }).over),
    )

    expect(calls.map((call) => call.body())).toEqual(calls.map((_, at) => `/${at}`))
    expect(server.connections).toHaveLength(1)
    expect(server.requests[0]?.fields[':scheme']).toBe('https')
  })

  test('fails with the reason if the server does not offer it', async () => {
    const origin = await startServer(createHttpsServer({ ...own, ALPNCallback: () => undefined }))
    const silent = await startServer(createHttpsServer({ ...own, ALPNProtocols: [] }))

    const call = await send(startH2Pool(origin, { protocol: 'h2', tls })).over
    const other = await send(startH2Pool(silent, { protocol: 'h2', tls })).over

    expect(call.error()).toMatchObject({ sent: false, message: expect.stringMatching(/protocol/i) })
    expect(other.error()).toMatchObject({
      sent: false,
      message: 'the upstream does not offer HTTP/2 (ALPN)',
    })
  })

  test('verifies the certificate', async () => {
    const server = await startFrameServer(answerPath, { tls: { ...own, ALPNProtocols: ['h2'] } })

    const call = await send(startH2Pool(server.origin, { protocol: 'h2' })).over

    expect(call.error()).toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', sent: false })
    expect(server.requests).toHaveLength(0)
  })
})

describe('protocol auto', () => {
  test('is HTTP/2 if the server chooses it', async () => {
    const origin = await startServer(createSecureServer({ ...own, allowHTTP1: true }))
    const pool = startH2Pool(origin, { protocol: 'auto', tls })

    const calls = await Promise.all(['/1', '/2', '/3'].map((path) => send(pool, { path }).over))

    expect(calls.map((call) => call.body())).toEqual(['2.0 /1', '2.0 /2', '2.0 /3'])
    expect(pool.size()).toBe(1)
  })

  test('is HTTP/1.1 if the server chooses that, also for requests that wait', async () => {
    const origin = await startServer(createHttpsServer(own))
    const pool = startH2Pool(origin, { protocol: 'auto', tls })
    const body = handMadeUpload(3)

    const post = send(pool, {
      method: 'POST',
      path: '/0',
      upload: body.given,
      headers: ['Content-Length', '3'],
    })
    const calls = await Promise.all(['/1', '/2', '/3'].map((path) => send(pool, { path }).over))
    await until(() => body.starts.length === 1)
    body.data('abc')
    body.end()

    expect(calls.map((call) => call.body())).toEqual(['1.1 /1', '1.1 /2', '1.1 /3'])
    expect((await post.over).body()).toBe('1.1 /0')
    expect((await send(pool, { path: '/4' }).over).body()).toBe('1.1 /4')
  })

  test('aborts a request that was handed over', async () => {
    const server = createHttpsServer(own)
    const origin = await startServer(server)
    server.removeAllListeners('request')
    let closed = 0
    server.on('request', (request) => request.on('close', () => closed++))
    const pool = startH2Pool(origin, { protocol: 'auto', tls })
    const arrived = once(server, 'request')
    const call = send(pool)
    await arrived

    pool.abort(call.call)

    await until(() => closed === 1)
    expect(call.events).toEqual(['sent'])
    await until(() => pool.size() === 0)
  })

  test('upgrades over HTTP/1.1 on a connection of its own', async () => {
    const origin = await startServer(createSecureServer({ ...own, allowHTTP1: true }))
    const pool = startH2Pool(origin, { protocol: 'auto', tls })
    await send(pool).over

    const call = await send(pool, { upgrade: 'websocket' }).over

    expect(call.error()).toBeUndefined()
    expect(call.events).toEqual(['sent', 'upgraded'])
    const socket = call.socket()
    onTestFinished(() => void socket?.destroy())
    expect(String(await socket?.take(1).toArray())).toBe('hello')
  })

  test('is HTTP/1.1 without TLS', async () => {
    const server = await startWireServer(({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    )

    const call = await send(startH2Pool(server.origin, { protocol: 'auto' })).over

    expect(call.body()).toBe('ok')
  })
})

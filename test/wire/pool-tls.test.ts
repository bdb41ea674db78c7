import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createSecureContext, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TargetTls } from '../../src/wire/connect.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { until } from '../support/until.ts'
import { send, startPool } from '../support/wire-call.ts'
import { type Served, startWireServer } from '../support/wire-server.ts'

let certificates: Certificates
let own: TlsOptions
let tls: TargetTls
beforeAll(async () => {
  certificates = await createCertificates()
  own = await optionsOf(certificates)
  tls = { secureContext: createSecureContext({ ca: certificates.authorityText }) }
})
afterAll(() => certificates.remove())

async function optionsOf({ certificate, key }: { certificate: string; key: string }) {
  return { cert: await readFile(certificate), key: await readFile(key) }
}

const sized = (body: string, ...lines: readonly string[]) =>
  ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...lines, '', body].join('\r\n')
const answerPath = ({ socket, head }: Served) => socket.write(sized(head.split(' ')[1] ?? ''))

describe('over TLS', () => {
  test('answers of every framing and size are whole, on one connection', async () => {
    const body = 'x'.repeat(500_000)
    const kinds = [
      sized('ok'),
      sized(body),
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7a120\r\n${body}\r\n0\r\nX-A: b\r\n\r\n`,
      'HTTP/1.1 204 A\r\n\r\n',
    ]
    const server = await startWireServer(
      ({ socket, turn }) => socket.write(kinds[turn % kinds.length] ?? ''),
      own,
    )
    const pool = startPool(server.origin, { tls })

    const bodies: number[] = []
    for (let turn = 0; turn < 12; turn++) bodies.push((await send(pool).over).body().length)

    expect(bodies).toEqual([2, 500_000, 500_000, 0, 2, 500_000, 500_000, 0, 2, 500_000, 500_000, 0])
    expect(server.sockets).toHaveLength(1)
    expect((server.sockets[0] as TLSSocket).alpnProtocol).toBe(false)
  })

  test('many connections at once share nothing', async () => {
    const server = await startWireServer(({ socket, head }) => {
      socket.write(sized((head.split(' ')[1] ?? '').repeat(20_000)))
    }, own)
    const pool = startPool(server.origin, { tls, connections: 8 })
    const paths = Array.from({ length: 32 }, (_, at) => `/${String(at).padStart(2, '0')}`)

    const calls = await Promise.all(paths.map((path) => send(pool, { path }).over))

    expect(calls.map((call, at) => call.body() === paths[at]?.repeat(20_000))).toEqual(
      Array(32).fill(true),
    )
    expect(server.sockets).toHaveLength(8)
  })

  // In a record of its own it is decrypted, and told, after the first one is over.
  test('a second answer in the same flight is nobody’s, also when somebody waits', async () => {
    // The first one fills a record.
    const first = 'x'.repeat(16_384 - 'HTTP/1.1 200 OK\r\nContent-Length: 16340\r\n\r\n'.length)
    const server = await startWireServer((served) => {
      if (served.turn === 0) served.socket.write(sized(first) + sized('evil'))
      else answerPath(served)
    }, own)
    const pool = startPool(server.origin, { tls })
    // Sent while the end of the first is told, and while it waited.
    const calls = [
      send(pool, { path: '/0' }),
      send(pool, { path: '/1' }),
      send(pool, { path: '/2' }),
    ]

    await Promise.all(calls.map((call) => call.over))

    expect(sized(first)).toHaveLength(16_384)
    expect(calls.map((call) => call.body())).toEqual([first, '/1', '/2'])
    expect(server.sockets).toHaveLength(2)
  })

  // The bytes of a TLS record tell nothing, so the event loop is to say whether it is closed.
  describe('an idle connection that the server has just closed', () => {
    test.each([
      ['with close_notify', (socket: TLSSocket) => socket.end()],
      ['without', (socket: TLSSocket) => socket.destroy()],
    ])('is not used for a request that could not be repeated: %s', async (_, close) => {
      const server = await startWireServer(({ socket }) => socket.write(sized('ok')), own)
      const pool = startPool(server.origin, { tls, connections: 2 })
      await send(pool).over
      await pause(20)
      close(server.sockets[0] as TLSSocket)
      const call = await send(pool, { method: 'POST' }).over

      const { sent, heard, reused } = call.error() ?? {}
      expect({ sent, heard, reused }).toEqual({ sent: false, heard: false, reused: true })
      expect(server.received(0).split('HTTP/1.1')).toHaveLength(2)
      expect((await send(pool, { method: 'POST' }, {}, true).over).body()).toBe('ok')
    })

    test('is told from one that is open', async () => {
      const server = await startWireServer(({ socket }) => socket.write(sized('ok')), own)
      const pool = startPool(server.origin, { tls, connections: 2 })
      for (let turn = 0; turn < 4; turn++) {
        expect((await send(pool, { method: 'POST' }).over).body()).toBe('ok')
        await pause(20)
      }
      expect(server.sockets).toHaveLength(1)
    })
  })

  // What was decrypted is told although nobody reads, up to the end of the answer.
  test('an answer that ends while nobody reads leaves a connection that works', async () => {
    const body = 'x'.repeat(50_000)
    const server = await startWireServer(({ socket }) => socket.write(sized(body)), own)
    const pool = startPool(server.origin, { tls })

    for (let turn = 0; turn < 3; turn++) {
      const call = send(pool, {}, { data: () => false })
      const timer = setInterval(() => pool.resume(call.call), 50)
      await call.over
      clearInterval(timer)

      expect(call.error()).toBeUndefined()
      expect(call.body()).toBe(body)
    }
    expect(server.sockets).toHaveLength(1)
  })

  test('a session is used again for the same name, after it was verified', async () => {
    const reused: boolean[] = []
    const server = await startWireServer(async ({ socket }) => {
      reused.push((socket as TLSSocket).isSessionReused())
      socket.write(sized('ok', 'Connection: close'))
    }, own)
    const pool = startPool(server.origin, { tls })

    for (let turn = 0; turn < 3; turn++) {
      expect((await send(pool).over).body()).toBe('ok')
      await pause(20)
    }

    expect(reused).toEqual([false, true, true])
  })

  test('a session that the server no longer knows is no obstacle', async () => {
    const first = await startWireServer(
      ({ socket }) => socket.write(sized('ok', 'Connection: close')),
      own,
    )
    const pool = startPool(first.origin, { tls })
    await send(pool).over
    const listening = first.server as Server
    listening.setTicketKeys(Buffer.alloc(48, 7))

    expect((await send(pool).over).body()).toBe('ok')
    expect((await send(pool).over).body()).toBe('ok')
  })

  test('another certificate is verified also when there was a session', async () => {
    const other = await optionsOf(await certificates.issue('other.test'))
    const server = await startWireServer(
      ({ socket }) => socket.write(sized('ok', 'Connection: close')),
      own,
    )
    const pool = startPool(server.origin, { tls })
    expect((await send(pool).over).body()).toBe('ok')
    const { port } = server
    await server.close()
    const impostor = await startWireServer(() => {}, other, '127.0.0.1', port)

    const call = await send(pool).over

    expect(call.error()?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(impostor.received(0)).toBe('')
  })

  test.each<[string, string, () => Promise<{ tls: TargetTls | undefined; host?: string }>]>([
    [
      'an authority that is not ours',
      'SELF_SIGNED_CERT_IN_CHAIN|LEAF_SIGNATURE',
      async () => ({ tls: undefined }),
    ],
    [
      'another name',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      async () => ({ tls: { ...tls, serverName: 'other.test' } }),
    ],
    ['an address', 'ERR_TLS_CERT_ALTNAME_INVALID', async () => ({ tls, host: '127.0.0.1' })],
  ])('a certificate for %s ends it before anything is sent', async (_, code, how) => {
    const server = await startWireServer(() => {}, own)
    const { tls: given, host = 'localhost' } = await how()
    const pool = startPool(`https://${host}:${server.port}`, { tls: given, connections: 2 })

    const calls = await Promise.all([send(pool).over, send(pool).over, send(pool).over])

    expect(calls.map((call) => call.error()?.code)).toEqual(
      Array(3).fill(expect.stringMatching(code)),
    )
    expect(calls.map((call) => call.error()?.heard)).toEqual([false, false, false])
    expect(server.sockets.map((_, at) => server.received(at)).join('')).toBe('')
  })

  test('a handshake that never ends is a connection that is not made in time', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(`https://localhost:${server.port}`, { tls, connectTimeoutMs: 200 })

    const [first, second] = await Promise.all([send(pool).over, send(pool).over])

    expect([first?.error()?.code, second?.error()?.code]).toEqual([
      'connect-timeout',
      'connect-timeout',
    ])
    await until(() => server.open() === 0)
  })

  test('a connection that breaks fails nobody when another one is on its way', async () => {
    const server = await startWireServer(answerPath, own)
    let connections = 0
    const pool = startPool(server.origin, { tls, connections: 2 })
    const listening = server.server as Server
    listening.prependListener('connection', (socket) => {
      if (++connections === 1) socket.destroy()
    })

    const given = send(pool, { path: '/given-up' })
    const kept = send(pool, { path: '/kept' })
    pool.abort(given.call)
    await kept.over

    expect(kept.events).toEqual(['sent', 'complete'])
    expect(kept.body()).toBe('/kept')
    expect(connections).toBe(2)
  })
})

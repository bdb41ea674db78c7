import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'

async function startWith(settings: Readonly<Record<string, unknown>>) {
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [target.origin], ...settings } } },
  })
  const status = async () => (await postern.call(get, { as: 'editor' })).status
  return { target, postern, status }
}

describe('a target that accepts connections', () => {
  test.each([
    ['closes', (socket: Socket) => void socket.destroy()],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['garbles', (socket: Socket) => void socket.end('nonsense')],
    ['does not answer', () => {}],
  ])('gets every request, although it %s them all', async (_, answer) => {
    const breaker = { failures: 1 }
    const { target, postern, status } = await startWith({ breaker, headersTimeoutMs: 50 })
    target.answerWith(answer)
    const failed = await Promise.all(Array.from({ length: 8 }, status))
    for (let turn = 0; turn < 4; turn++) failed.push(await status())
    target.answerWith((socket) => socket.write(ok))

    expect(await status()).toBe(200)
    expect(failed.filter((one) => one !== 502 && one !== 504)).toEqual([])
    expect(postern.logText()).not.toContain('upstream-failing')
  })
})

describe('a target that refuses connections', () => {
  const breaker = { failures: 2 }

  /** Listens, and stops listening, on one port. */
  async function startFlapping() {
    const port = await freePort()
    const server = createServer({ keepAliveTimeout: 1000 }, (_, reply) => reply.end('{"ok":true}'))
    const stop = async () => {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    }
    onTestFinished(stop)
    const start = async () => {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    }
    return { origin: `http://127.0.0.1:${port}`, start, stop }
  }

  test('is used as soon as it accepts them, long before its time is over', async () => {
    const target = await startFlapping()
    const { status } = await startWith({ targets: [target.origin], breaker })
    for (let turn = 0; turn < 4; turn++) await status()
    expect(await status()).toBe(503)

    for (let turn = 0; turn < 2; turn++) {
      await target.start()
      await until(async () => (await status()) === 200)
      await target.stop()
      await until(async () => (await status()) === 503)
    }
  })

  test('gets its share again while another one serves', async () => {
    const target = await startFlapping()
    const other = await startRecordingUpstream()
    onTestFinished(other.close)
    const { postern, status } = await startWith({
      targets: [target.origin, other.origin],
      breaker,
    })
    const state = async () => {
      const text = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
      return new RegExp(`^postern_circuit_state.*"${target.origin}"} (\\d)$`, 'm').exec(text)?.[1]
    }
    await until(async () => (await status()) === 200 && (await state()) === '2')

    await target.start()
    await until(async () => (await status()) === 200 && (await state()) === '0')
  })

  test('serves those that have a connection, as long as no other target does', async () => {
    const server = createServer({ keepAliveTimeout: 60_000 }, (_, reply) => reply.end('{}'))
    onTestFinished(() => server.closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { postern, status } = await startWith({ targets: [origin], breaker })
    expect(await status()).toBe(200)
    // It listens no more, and keeps the connections that it has.
    Server.prototype.close.call(server)
    const upgrade = { as: 'editor', headers: ['Connection: Upgrade', 'Upgrade: websocket'] }
    await until(async () => (await postern.call(get, upgrade)).status === 503)

    expect(
      await Promise.all([status(), postern.call(get, upgrade).then((one) => one.status)]),
    ).toEqual([200, 503])
    server.closeAllConnections()
    await until(async () => (await status()) === 503)
  })

  test('lets no request wait for its turn to try once the circuit is open', async () => {
    let tried = 0
    // It breaks off the TLS handshake, so it sees the attempts.
    const server = new Server((socket) => {
      tried++
      socket.destroy()
    })
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const targets = [`https://127.0.0.1:${(server.address() as AddressInfo).port}`]
    const limits = { connections: 4, maxShare: 100, retries: 0 }
    const { status } = await startWith({ targets, breaker: { failures: 1 }, ...limits })
    const found = await Promise.all(Array.from({ length: 8 }, status))

    expect(found).toEqual(Array(8).fill(502))
    expect(tried).toBeLessThan(8)
  })

  test('is tried by every request where the breaker is off', async () => {
    const target = await startFlapping()
    const { postern, status } = await startWith({ targets: [target.origin], breaker: 'off' })
    for (let turn = 0; turn < 12; turn++) expect(await status()).toBe(502)
    expect(postern.logText()).not.toContain('upstream-failing')
    await target.start()

    expect(await status()).toBe(200)
  })
})

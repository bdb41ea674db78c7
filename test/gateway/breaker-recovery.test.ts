import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { request } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'
const bytes = request(get, [`Authorization: Bearer ${tokenOf('editor')}`])

async function startWith(settings: Readonly<Record<string, unknown>>) {
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [target.origin], ...settings } } },
  })
  const status = async () => (await postern.call(get, { as: 'editor' })).status
  return { target, postern, status }
}

/** Destroys connections until three requests have failed, which opens the breaker. */
async function breakThree(held: { destroy(): void }[], postern: TestPostern): Promise<void> {
  const broken = () => postern.logText().split('"outcome":"upstream-broken"').length - 1
  while (broken() < 3) {
    const [before, left] = [broken(), held.length]
    held.shift()?.destroy()
    // A request on a connection that waited in the pool is sent again, and held again.
    await until(() => broken() > before || held.length === left)
  }
}

describe('a target that is well again', () => {
  // The second try of the request that opened the breaker was taken for a probe that never ended.
  test.each([1, 2, 3, 5])(
    'is used again, also when %i cut connections opened its breaker within a retry',
    async (failures) => {
      const breaker = { failures, openMs: 50, maxOpenMs: 100 }
      const { target, status } = await startWith({ breaker })
      target.answerWith((socket) => socket.destroy())
      for (let turn = 0; turn < 8; turn++) await status()
      target.answerWith((socket) => socket.write(ok))

      await until(async () => (await status()) === 200)
    },
  )

  test('is not left alone again because of what it failed before', async () => {
    const { target, postern, status } = await startWith({
      breaker: { failures: 3, openMs: 50, maxOpenMs: 60_000 },
      retries: 0,
    })
    const held: { destroy(): void }[] = []
    target.answerWith((socket) => held.push(socket))
    const clients = await Promise.all(
      Array.from({ length: 9 }, () => openClient(postern.publicPort, bytes)),
    )
    await until(() => held.length === 9)
    await breakThree(held, postern)
    target.answerWith((socket) => socket.write(ok))
    await until(async () => (await status()) === 200)

    for (const socket of held) socket.destroy()
    await until(() => clients.every(({ text }) => text() !== ''))

    expect(await status()).toBe(200)
  })

  test('is asked by one request at a time until then, whoever else leaves', async () => {
    const { target, postern, status } = await startWith({
      breaker: { failures: 3, openMs: 50, maxOpenMs: 60_000 },
      retries: 0,
    })
    const held: { destroy(): void }[] = []
    target.answerWith((socket) => held.push(socket))
    const clients = await Promise.all(
      Array.from({ length: 6 }, () => openClient(postern.publicPort, bytes)),
    )
    await until(() => held.length === 6)
    await breakThree(held, postern)
    const asked = target.requests.length
    const probe = await openClient(postern.publicPort, bytes)
    await until(async () => {
      if (held.length === 3 && probe.text() !== '') probe.socket.write(bytes)
      return held.length === 4
    })

    for (const { socket } of clients) socket.destroy()
    await until(() => postern.logText().split('"outcome":"cut-by-client"').length === 4)

    expect(await status()).toBe(503)
    expect(target.requests).toHaveLength(asked + 1)
  })
})

describe('a target that refuses connections', () => {
  const longOpen = { failures: 2, openMs: 60_000, maxOpenMs: 60_000 }

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
    const { status } = await startWith({ targets: [target.origin], breaker: longOpen })
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
      breaker: longOpen,
    })
    const state = async () => {
      const text = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
      return new RegExp(`^postern_circuit_state.*"${target.origin}"} (\\d)$`, 'm').exec(text)?.[1]
    }
    await until(async () => (await status()) === 200 && (await state()) === '2')

    await target.start()
    await until(async () => (await status()) === 200 && (await state()) === '0')
  })

  test('is not taken for one that works because it accepts connections', async () => {
    const { target, status } = await startWith({ breaker: longOpen, retries: 0 })
    target.answerWith((socket) => socket.destroy())
    await until(async () => (await status()) === 503)
    const asked = target.requests.length
    await pause(500)

    expect(await status()).toBe(503)
    expect(target.requests).toHaveLength(asked)
  })
})

import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { request } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'
const post = 'POST /api/v1/articles'

type Settings = Readonly<Record<string, unknown>>

/** A gateway with `count` idle connections to a target, which may have others beside it. */
async function startIdle(
  count: number,
  { targets = [], ...settings }: { readonly targets?: readonly string[] } & Settings = {},
) {
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [target.origin, ...targets], ...settings } } },
    routes: [
      { path: '/open', upstream: 'backend', access: 'public', reason: 'needs no time for a token' },
      { path: '/', upstream: 'backend' },
    ],
  })
  const sockets = new Set<Socket>()
  const answers: (() => void)[] = []
  target.answerWith((socket) => {
    sockets.add(socket)
    answers.push(() => socket.write(ok))
  })
  const calls = Array.from({ length: count }, () => postern.call(get, { as: 'editor' }))
  await until(() => answers.length === count)
  for (const answer of answers) answer()
  await Promise.all(calls)
  expect(sockets.size).toBe(count)
  target.answerWith((socket) => socket.write(ok))
  await pause(20)
  return { target, postern, sockets }
}

describe('an upstream that closes idle connections', () => {
  test('at the moment they are used fails no GET: the retry takes a new one', async () => {
    const { target, postern, sockets } = await startIdle(5, { retries: 0 })
    target.answerWith((socket) => (sockets.has(socket) ? socket.destroy() : socket.write(ok)))

    for (let turn = 0; turn < 5; turn++) {
      expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    }
  })

  test('is not taken for one that fails', async () => {
    const { target, postern, sockets } = await startIdle(5, {
      breaker: { failures: 1, openMs: 60_000, maxOpenMs: 60_000 },
    })
    target.answerWith((socket) => (sockets.has(socket) ? socket.destroy() : socket.write(ok)))

    for (let turn = 0; turn < 5; turn++) {
      expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    }
  })

  test('is not ejected for the POSTs that cross the close', async () => {
    const [one, other] = [await startRecordingUpstream(), await startRecordingUpstream()]
    onTestFinished(async () => void (await Promise.all([one.close(), other.close()])))
    const used = new Set<Socket>()
    one.answerWith((socket) => {
      if (used.has(socket)) socket.destroy()
      else socket.write(ok)
      used.add(socket)
    })
    const targets = [one.origin, other.origin]
    const postern = await startPostern({
      config: { upstreams: { backend: { targets, outlier: { consecutiveBroken: 1 } } } },
    })
    const statuses: number[] = []
    for (let turn = 0; turn < 12; turn++) {
      statuses.push((await postern.call(post, { as: 'editor', body: '{}' })).status)
    }

    expect(new Set(statuses)).toEqual(new Set([200, 502]))
    expect(postern.logText()).not.toContain('upstream target ejected')
  })

  test('may get a POST once only', async () => {
    const { target, postern, sockets } = await startIdle(1)
    target.answerWith((socket) => (sockets.has(socket) ? socket.destroy() : socket.write(ok)))

    expect((await postern.call(post, { as: 'editor', body: '{}' })).status).toBe(502)
    expect(target.requests).toHaveLength(2)
  })

  test('just before a POST is sent gets it, once and whole, on a new connection', async () => {
    const { target, postern, sockets } = await startIdle(3)
    const client = await openClient(postern.publicPort, request('GET /open', []))
    await client.got('{"ok":true}')
    await pause(20)
    // The gateway reads the request first, and hears of the closed connections after that.
    client.socket.write(`${request('POST /open', ['Content-Length: 7'])}{"a":1}`)
    for (const socket of sockets) socket.destroy()

    await until(() => client.text().split('HTTP/1.1 ').length === 3)
    expect(client.text()).not.toContain('HTTP/1.1 502')
    const posts = target.requests.filter(({ method }) => method === 'POST')
    expect(posts.map(({ body }) => body)).toEqual(['{"a":1}'])
  })

  // The first connection is found to be closed while the request is given to it.
  test('is read on and given up on the new connection', async () => {
    const { target, postern, sockets } = await startIdle(1)
    const [reader, leaver] = [
      await openClient(postern.publicPort, request('GET /open', [])),
      await openClient(postern.publicPort, request('GET /open', [])),
    ]
    await until(() => reader.text() !== '' && leaver.text() !== '')
    const closeIdle = () => {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    }
    const length = 24 * 1_048_576
    const headers = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`
    target.answerWith((socket) => {
      sockets.add(socket)
      socket.write(headers)
      socket.write(Buffer.alloc(length))
    })
    let bytes = 0
    reader.socket.removeAllListeners('data')
    reader.socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    reader.socket.pause()
    await pause(20)
    reader.socket.write(request('POST /open', ['Content-Length: 1'], 'a'))
    closeIdle()
    await until(() => sockets.size > 0)
    await pause(200)
    reader.socket.resume()
    await until(() => bytes > length)

    await pause(20)
    target.answerWith(() => {})
    leaver.socket.write(request('POST /open', ['Content-Length: 1'], 'b'))
    closeIdle()
    await until(() => target.requests.some(({ body }) => body === 'b'))
    leaver.socket.destroy()
    await until(() => target.connections() === 0)
  })

  test('is asked again on a new connection when the other target refuses', async () => {
    const away = await startRecordingUpstream()
    await away.close()
    const { target, postern } = await startIdle(1, {
      targets: [away.origin],
      breaker: { failures: 1000 },
    })
    const sockets = new Set<Socket>()
    target.answerWith((socket) => {
      sockets.add(socket)
      socket.write(ok)
    })
    const client = await openClient(postern.publicPort, request('GET /open', []))
    for (let turn = 2; turn < 8; turn++) {
      await until(() => client.text().split('HTTP/1.1 200').length === turn)
      await pause(20)
      client.socket.write(`${request('POST /open', ['Content-Length: 1'])}${turn}`)
      for (const socket of sockets) socket.destroy()
    }
    await until(() => client.text().split('HTTP/1.1 ').length === 8)

    const posts = target.requests.filter(({ method }) => method === 'POST')
    expect(posts.map(({ body }) => body)).toEqual(['2', '3', '4', '5', '6', '7'])
  })
})

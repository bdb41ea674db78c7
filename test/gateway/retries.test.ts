import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'

const get = 'GET /api/v1/public/a'

/** Two targets, of which the first is asked first. */
async function startTwo() {
  const [first, second] = [await startRecordingUpstream(), await startRecordingUpstream()]
  onTestFinished(first.close)
  onTestFinished(second.close)
  const postern = await startPostern({
    config: {
      upstreams: {
        backend: {
          targets: [second.origin, first.origin],
          breaker: { failures: 1000 },
        },
      },
    },
  })
  const status = async () => (await postern.call(get, { as: 'editor' })).status
  return { first, second, status }
}

const ends: readonly [string, (socket: Socket, bytes: string) => unknown][] = [
  ['closes', (socket, bytes) => socket.end(bytes)],
  [
    'resets',
    (socket, bytes) => {
      if (bytes !== '') socket.write(bytes)
      setTimeout(() => socket.resetAndDestroy(), bytes === '' ? 0 : 100)
    },
  ],
]
const beginnings: readonly [string, string][] = [
  ['one byte', 'H'],
  ['half a status line', 'HTTP/1.1 2'],
  ['half of the headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['an interim answer', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ['100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['101 that nobody asked for', 'HTTP/1.1 101 OK\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n'],
]

// What has begun to answer has done the work: asking elsewhere would do it twice.
describe('a request whose target has begun to answer', () => {
  describe.each(ends)('and then %s the connection', (_, finish) => {
    test.each(beginnings)('is not sent to another: %s', async (_name, bytes) => {
      const { first, second, status } = await startTwo()
      first.answerWith((socket) => finish(socket, bytes))

      expect(await status()).toBe(502)
      expect([first.requests.length, second.requests.length]).toEqual([1, 0])
    })

    test('is not sent to another on a connection that was used before either', async () => {
      const { first, second, status } = await startTwo()
      await status()
      await status()
      expect([first.connections(), second.connections()]).toEqual([1, 1])
      first.answerWith((socket) => finish(socket, 'HTTP/1.1 200'))

      expect(await status()).toBe(502)
      expect([first.requests.length, second.requests.length]).toEqual([2, 1])
    })
  })
})

describe('a request whose target has not begun to answer', () => {
  test.each(ends)('and %s a connection that was used before is sent to another', async (_, end) => {
    const { first, second, status } = await startTwo()
    await status()
    await status()
    first.answerWith((socket) => end(socket, ''))

    expect(await status()).toBe(200)
    expect([first.requests.length, second.requests.length]).toEqual([2, 2])
  })

  test('is sent to the same one when there is no other, once', async () => {
    const target = await startRecordingUpstream()
    onTestFinished(target.close)
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [target.origin] } } },
    })
    let asked = 0
    target.answerWith((socket) => (asked++ === 0 ? socket.end() : socket.write(ok)))

    expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    expect(asked).toBe(2)
  })
})

import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startPostern } from '../support/start-postern.ts'

const target = (origin: string, changes: Record<string, unknown> = {}) => ({
  upstreams: { backend: { targets: [origin], ...changes } },
})

describe('a fault of an upstream', () => {
  test.each<[string, number, (socket: Socket) => unknown]>([
    ['a connection that is reset', 502, (socket) => socket.resetAndDestroy()],
    ['a connection that ends without an answer', 502, (socket) => socket.end()],
    ['an answer that is none', 502, (socket) => socket.write('SSH-2.0-OpenSSH\r\n\r\n')],
    [
      'two lengths',
      502,
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!'),
    ],
    [
      'both framings',
      502,
      (socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ),
    ],
    [
      'a coding under chunked',
      502,
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
    ],
    [
      'a control character in a header',
      502,
      (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 0\r\n\r\n'),
    ],
    ['no answer in time', 504, () => {}],
  ])(
    'is %s: a real status, our own body and nothing of what went wrong',
    async (_, status, script) => {
      const postern = await startPostern()
      const fast = await startPostern({
        config: target(postern.upstream.origin, { headersTimeoutMs: 300 }),
      })
      postern.upstream.answerWith(script)

      const answer = await fast.call('GET /api/v1/public/a', { as: 'editor' })

      expect(answer.status).toBe(status)
      expect(answer.json()).toEqual({
        code: status,
        msg: expect.any(String),
        requestId: expect.any(String),
      })
      expect(answer.body).not.toMatch(/127\.0\.0\.1|UND_|ECONN|Error|\.ts/)
      postern.upstream.answerWith((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      )
      expect((await fast.call('GET /api/v1/public/a', { as: 'editor' })).body).toBe('ok')
    },
  )

  test('is an upstream that is not there: 502, and other routes do not notice', async () => {
    const postern = await startPostern({
      config: { upstreams: { dead: { targets: ['http://127.0.0.1:9'] } } },
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/dead', upstream: 'dead' },
      ],
    })

    const [dead, alive] = await Promise.all([
      postern.call('GET /dead', { as: 'admin' }),
      postern.call('GET /alive', { as: 'admin' }),
    ])

    expect([dead.status, alive.status]).toEqual([502, 200])
    expect(postern.logText()).toContain('"outcome":"upstream-unreachable"')
  })

  test('in the middle of an answer ends the connection instead of pretending to be whole', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
    })

    await expect(postern.call('GET /api/v1/public/a', { as: 'editor' })).rejects.toThrow(
      'connection closed',
    )
    expect(postern.logText()).toContain('"outcome":"cut-by-upstream"')
  })

  test('does not pass to the next client: a second answer that nobody asked for', async () => {
    const postern = await startPostern()
    const one = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n'
    postern.upstream.answerWith((socket) => socket.write(`${one}one${one}two`))

    await postern.call('GET /api/v1/public/a', { as: 'editor' })
    postern.upstream.answerWith((socket) => socket.write(`${one}ok!`))
    const next = await postern.call('GET /api/v1/public/b', { as: 'editor' })

    expect(next.body).toBe('ok!')
  })

  test('is not its redirect: that is relayed, never followed', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) =>
      socket.write(
        'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n',
      ),
    )

    const answer = await postern.call('GET /api/v1/public/a', { as: 'editor' })

    expect([answer.status, answer.header('location')]).toEqual([302, 'http://127.0.0.1:9/'])
  })
})

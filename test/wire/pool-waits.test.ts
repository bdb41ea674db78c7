import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { send, startPool } from '../support/wire-call.ts'
import { type Served, startWireServer } from '../support/wire-server.ts'

const sized = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const long = 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\na'

function every(ms: number, socket: Served['socket'], text: string): void {
  const timer = setInterval(() => socket.write(text), ms)
  socket.on('close', () => clearInterval(timer))
}

describe('a wait for the server', () => {
  test.each<[string, string, (served: Served) => unknown]>([
    ['response-timeout', 'nothing', () => {}],
    ['response-timeout', 'half a head', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nA: ')],
    [
      'response-timeout',
      'a head that never ends',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nA: ')
        every(10, socket, 'b')
      },
    ],
    [
      'response-timeout',
      'interim answers and none that is final',
      ({ socket }) => every(20, socket, 'HTTP/1.1 103 A\r\n\r\n'),
    ],
    ['body-timeout', 'a pause within the body', ({ socket }) => socket.write(long)],
  ])('ends with %s: %s', async (code, _, answer) => {
    const server = await startWireServer((served) =>
      served.turn === 0 ? answer(served) : served.socket.write(sized('ok')),
    )
    const pool = startPool(server.origin, { headersTimeoutMs: 400, bodyTimeoutMs: 400 })

    const call = await send(pool).over

    expect(call.error()?.code).toBe(code)
    expect((await send(pool).over).body()).toBe('ok')
    expect(server.sockets).toHaveLength(2)
    await until(() => server.open() === 1)
  })

  test('may be long as long as something comes', async () => {
    const server = await startWireServer(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n')
      for (const letter of 'abcdefgh') {
        await pause(150)
        socket.write(letter)
      }
    })
    const pool = startPool(server.origin, { headersTimeoutMs: 800, bodyTimeoutMs: 1000 })

    expect((await send(pool).over).body()).toBe('abcdefgh')
  })

  test('begins when the body of the request is sent, however long the client takes', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin, { headersTimeoutMs: 150 })
    const sent = performance.now()
    let whole = 0

    const call = send(pool, {
      method: 'POST',
      upload: {
        length: 1,
        start(sink) {
          setTimeout(() => {
            whole = performance.now()
            sink.data(Buffer.from('a'))
            sink.end()
          }, 600)
        },
        resume() {},
        stop() {},
      },
    })
    await call.over

    expect(call.error()?.code).toBe('response-timeout')
    expect(whole - sent).toBeGreaterThan(500)
    expect(performance.now() - whole).toBeGreaterThan(100)
  })

  test('for room for a body ends too', async () => {
    const server = await startWireServer(({ takeOver }) => takeOver())
    const pool = startPool(server.origin, { headersTimeoutMs: 200, bodyTimeoutMs: 1000 })
    const piece = Buffer.alloc(1_000_000)
    let push = () => {}

    const call = send(pool, {
      method: 'POST',
      upload: {
        length: 1e9,
        start(sink) {
          push = () => {
            while (sink.data(piece));
          }
          push()
        },
        resume: () => push(),
        stop() {},
      },
    })
    await call.over

    expect(call.error()?.code).toBe('response-timeout')
    server.sockets[0]?.resume()
    await until(() => server.open() === 0)
  })

  test('does not run while a request waits for a connection', async () => {
    const server = await startWireServer(({ socket }) =>
      setTimeout(() => socket.write(sized('ok')), 300),
    )
    const pool = startPool(server.origin, { headersTimeoutMs: 1000 })

    const calls = await Promise.all([1, 2, 3, 4].map(() => send(pool).over))

    expect(calls.map((call) => call.body())).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(server.sockets).toHaveLength(1)
  })
})

describe('requests that wait for a connection to a server that is unreachable', () => {
  test.each([
    ['end with the first attempt after which none should follow', [true, true, false], 3],
    ['end with an attempt each otherwise', [true], 10],
  ])('%s', async (_, goOn, attempts) => {
    const server = await startWireServer(() => {})
    await server.close()
    let made = 0
    const onConnect = () => goOn[made++] ?? true
    const pool = startPool(server.origin, { connections: 1, onConnect })
    const calls = await Promise.all(Array.from({ length: 10 }, () => send(pool).over))

    expect(new Set(calls.map((call) => call.error()?.code))).toEqual(new Set(['ECONNREFUSED']))
    expect(made).toBe(attempts)
  })
})

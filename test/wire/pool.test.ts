import { once } from 'node:events'
import { createServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../support/until.ts'
import { type RecordedCall, send, startPool } from '../support/wire-call.ts'
import { type Served, startWireServer } from '../support/wire-server.ts'

const sized = (body: string, ...lines: readonly string[]) =>
  ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...lines, '', body].join('\r\n')
const pathOf = ({ head }: Served) => head.split(' ')[1] ?? ''
const answerPath = (served: Served) => served.socket.write(sized(pathOf(served)))

/** A server that answers when it is told to. */
async function startHolding() {
  const held: Served[] = []
  const server = await startWireServer((served) => held.push(served))
  return {
    ...server,
    held,
    answerNext() {
      const served = held.shift()
      if (served !== undefined) answerPath(served)
    },
  }
}

describe('connections', () => {
  test('are kept and used again, the last one first', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin, { connections: 5 })

    await Promise.all(['/1', '/2'].map((path) => send(pool, { path }).over))
    for (const path of ['/3', '/4', '/5']) {
      await nextTurn()
      expect((await send(pool, { path }).over).body()).toBe(path)
    }

    expect(server.sockets).toHaveLength(2)
    expect([server.received(0), server.received(1)].filter((text) => text.includes('/5'))).toEqual([
      expect.stringMatching(/\/3[\s\S]*\/4[\s\S]*\/5/),
    ])
  })

  test('are used again in the turn in which they became free only where no other is idle', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin, { connections: 2 })

    await Promise.all(['/1', '/2'].map((path) => send(pool, { path }).over))
    await nextTurn()
    await send(pool, { path: '/3' }).over
    // The connection of /3 is free since a moment ago.
    await Promise.all(['/4', '/5'].map((path) => send(pool, { path }).over))

    const received = [server.received(0), server.received(1)]
    expect(received.find((text) => text.includes('/3'))).not.toContain('/4')
    expect(received.find((text) => text.includes('/3'))).toContain('/5')
    expect(server.sockets).toHaveLength(2)
  })

  test('are never more than the limit, and requests wait in the order they came', async () => {
    const server = await startHolding()
    const pool = startPool(server.origin, { connections: 2 })
    const done: string[] = []

    const calls = Array.from({ length: 8 }, (_, at) => {
      const call = send(pool, { path: `/${at}` })
      void call.over.then(() => done.push(`/${at}`))
      return call
    })
    for (let at = 0; at < 8; at++) {
      await until(() => server.held.length > 0)
      server.answerNext()
      await until(() => done.length === at + 1)
    }

    expect(done).toEqual(calls.map((_, at) => `/${at}`))
    expect(server.sockets).toHaveLength(2)
  })

  test.each([
    [
      'says that it closes',
      (served: Served) => served.socket.write(sized('a', 'Connection: close')),
    ],
    [
      'speaks HTTP/1.0',
      ({ socket }: Served) => socket.write('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'),
    ],
    ['sends more than its length', ({ socket }: Served) => socket.write(`${sized('a')}b`)],
    [
      'announces a body with 204',
      ({ socket }: Served) => socket.write('HTTP/1.1 204 A\r\nContent-Length: 1\r\n\r\n'),
    ],
    [
      'keeps it for no time',
      ({ socket }: Served) => socket.write(sized('a', 'Keep-Alive: timeout=0')),
    ],
    ['ends the body with it', ({ socket }: Served) => socket.end('HTTP/1.1 200 OK\r\n\r\na')],
  ])('are not used again when the server %s', async (_, answer) => {
    const server = await startWireServer(answer)
    const pool = startPool(server.origin)

    const first = await send(pool).over
    const second = await send(pool).over

    expect([first.error(), second.error()]).toEqual([undefined, undefined])
    expect(server.sockets).toHaveLength(2)
    await until(() => server.open() === 0)
  })

  test.each([
    ['an answer', sized('evil')],
    ['a byte', '\n'],
    ['408', 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'],
  ])('are not used again once %s came on them that nobody asked for', async (_, bytes) => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)

    await send(pool, { path: '/1' }).over
    server.sockets[0]?.write(bytes)
    await until(() => server.open() === 0)

    expect((await send(pool, { path: '/2' }).over).body()).toBe('/2')
    expect(server.sockets).toHaveLength(2)
  })

  test('are left when the server closes them while nothing is asked', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)

    for (const path of ['/1', '/2', '/3']) {
      expect((await send(pool, { path }).over).body()).toBe(path)
      server.sockets.at(-1)?.end()
      await until(() => server.open() === 0)
      await pause(20)
    }

    expect(server.sockets).toHaveLength(3)
  })

  test('are let go before the server does it', async () => {
    const server = await startWireServer(({ socket }) =>
      socket.write(sized('a', 'Keep-Alive: timeout=1')),
    )
    const pool = startPool(server.origin, { connectTimeoutMs: 100 })

    await send(pool).over
    await send(pool).over
    const since = performance.now()
    await until(() => server.open() === 0)

    expect(server.sockets).toHaveLength(1)
    // Of its own accord, it keeps them for four seconds.
    expect(performance.now() - since).toBeLessThan(3500)
  })

  test('that were let go do not keep a longer one from going, nor a shorter one', async () => {
    const seconds = [600, 1]
    const server = await startWireServer(({ socket, turn }) =>
      socket.write(sized('a', `Keep-Alive: timeout=${seconds[turn]}`)),
    )
    const pool = startPool(server.origin, { connections: 2, connectTimeoutMs: 100 })

    await Promise.all([send(pool).over, send(pool).over])

    expect(server.sockets).toHaveLength(2)
    await until(() => server.open() === 1)
  })

  test('are made at the given address, under the name of the target', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(`http://orders.test:${server.port}`, {}, '127.0.0.1')

    expect((await send(pool, { path: '/a' }).over).body()).toBe('/a')
    expect(server.received(0)).toContain(`Host: orders.test:${server.port}\r\n`)
  })

  test('are made at whichever address of a name answers', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(`http://localhost:${server.port}`)

    expect((await send(pool, { path: '/a' }).over).body()).toBe('/a')
    expect((await send(pool, { path: '/b' }).over).body()).toBe('/b')
  })
})

describe('a connection that is never made', () => {
  test('fails the request that it was for, and the pool goes on', async () => {
    const server = await startWireServer(answerPath)
    const { port, origin } = server
    await server.close()
    const pool = startPool(origin, { connections: 2 })

    const calls = await Promise.all(Array.from({ length: 5 }, () => send(pool).over))
    const again = createServer((socket) => void socket.on('data', () => socket.write(sized('ok'))))
    again.listen(port, '127.0.0.1')
    await once(again, 'listening')
    onTestFinished(() => void again.close())

    expect(calls.map((call) => call.error()?.code)).toEqual(Array(5).fill('ECONNREFUSED'))
    expect(calls.map((call) => call.error()?.heard)).toEqual(Array(5).fill(false))
    expect(calls.map((call) => call.events)).toEqual(Array(5).fill(['failed']))
    expect((await send(pool).over).body()).toBe('ok')
    pool.destroy()
  })
})

describe('a request that nobody waits for any more', () => {
  test('is not sent when it was still waiting', async () => {
    const server = await startHolding()
    const pool = startPool(server.origin)
    const calls = ['/0', '/1', '/2'].map((path) => send(pool, { path }))
    await until(() => server.held.length === 1)

    pool.abort((calls[1] as RecordedCall).call)
    server.answerNext()
    await calls[0]?.over
    await until(() => server.held.length === 1)
    server.answerNext()

    expect((await calls[2]?.over)?.body()).toBe('/2')
    expect(calls[1]?.events).toEqual([])
    expect(server.received(0)).not.toContain('GET /1 ')
  })

  test('leaves a connection that was being made to the next one', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)

    const first = send(pool, { path: '/1' })
    pool.abort(first.call)
    const second = await send(pool, { path: '/2' }).over

    expect([first.events, second.body()]).toEqual([[], '/2'])
    expect(server.sockets).toHaveLength(1)
    expect(server.received(0)).not.toContain('GET /1 ')
  })

  test('ends its connection when it was sent, and the next one has another', async () => {
    const server = await startHolding()
    const pool = startPool(server.origin)
    const first = send(pool, { path: '/1' })
    const second = send(pool, { path: '/2' })
    await until(() => server.held.length === 1)

    pool.abort(first.call)
    pool.abort(first.call)
    await until(() => server.held.length === 2)
    for (const served of server.held) answerPath(served)

    expect((await second.over).body()).toBe('/2')
    expect(first.events).toEqual(['sent'])
    expect(server.sockets).toHaveLength(2)
  })

  test.each(['head', 'data', 'end', 'complete'] as const)(
    'may be given up in the middle of being told %s, and hears no more',
    async (where) => {
      const server = await startWireServer((served) => {
        const chunked =
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
        served.socket.write(where === 'complete' || served.turn > 0 ? sized('ok') : chunked)
      })
      const pool = startPool(server.origin)
      const give = () => pool.abort(first.call)
      const first: RecordedCall = send(
        pool,
        {},
        {
          [where]: () => {
            give()
            return true
          },
        },
      )

      await until(() => first.events.includes(where))
      const second = await send(pool).over

      expect(first.events.at(-1)).toBe(where)
      expect(second.body()).toBe('ok')
      expect(server.sockets).toHaveLength(2)
    },
  )
})

describe('a handler', () => {
  test('may send the next request while it is told of the end of one', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)
    const calls: RecordedCall[] = []
    const next = () => {
      if (calls.length < 5) calls.push(send(pool, { path: `/${calls.length}` }, { complete: next }))
    }

    next()
    await until(() => calls.length === 5)
    await calls[4]?.over

    expect(calls.map((call) => call.body())).toEqual(['/0', '/1', '/2', '/3', '/4'])
    expect(server.sockets).toHaveLength(1)
  })

  test.each(['complete', 'head', 'data', 'end'] as const)(
    'that throws when told of %s fails its own request, and none besides',
    async (where) => {
      const server = await startWireServer(({ socket, turn }) => {
        if (turn > 0 || where === 'complete') socket.write(sized('ok'))
        else if (where === 'end') socket.end('HTTP/1.1 200 OK\r\n\r\nhello')
        else
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')
      })
      const pool = startPool(server.origin)
      const mistake = new Error('a mistake')
      const first = send(pool, {}, {
        [where]: () => {
          throw mistake
        },
      } as never)
      const second = send(pool)

      await until(() => first.events.includes('failed'))

      expect(first.error()).toBe(mistake)
      expect((await second.over).body()).toBe('ok')
      expect(second.events).toEqual(['sent', 'complete'])
    },
  )

  test('may end the pool while it is told of an answer', async () => {
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)

    const first = send(pool, {}, { complete: () => pool.destroy() })
    const second = send(pool)
    await Promise.all([first.over, second.over])

    expect(second.error()?.code).toBe('destroyed')
    await until(() => server.open() === 0)
  })
})

describe('a pool that is ended', () => {
  test('fails what waits, what is being connected and what was sent, and takes no more', async () => {
    const server = await startHolding()
    const pool = startPool(server.origin)
    const [sent, waiting] = [send(pool), send(pool)]
    await until(() => server.held.length === 1)
    const other = startPool(server.origin)
    const connecting = send(other)

    pool.destroy()
    other.destroy()
    const late = send(pool)
    await Promise.all([sent, waiting, connecting, late].map((call) => call.over))

    expect(sent.error()?.code).toBe('closed')
    expect(waiting.error()?.code).toBe('destroyed')
    expect(connecting.error()?.code).toBe('destroyed')
    expect(late.error()?.code).toBe('destroyed')
    await until(() => server.open() === 0)
  })

  test('keeps no timer, whether it was used or not', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
    const server = await startWireServer(answerPath)
    const pool = startPool(server.origin)
    const before = timers()

    await send(pool).over
    pool.destroy()

    expect(timers()).toBeLessThanOrEqual(before)
  })
})

describe('an answer', () => {
  test.each([
    ['a reset before it', false, 'ECONNRESET', ({ socket }: Served) => socket.resetAndDestroy()],
    ['a close before it', false, 'closed', ({ socket }: Served) => socket.end()],
    [
      'a close within its head',
      true,
      'closed',
      ({ socket }: Served) => socket.end('HTTP/1.1 200 OK\r\n'),
    ],
    [
      'a close behind an interim one',
      true,
      'closed',
      ({ socket }: Served) => socket.end('HTTP/1.1 103 A\r\n\r\n'),
    ],
    [
      'a close within its body',
      true,
      'closed',
      ({ socket }: Served) => socket.end(`${sized('abc').slice(0, -1)}`),
    ],
    [
      'a reset where the close would be its end',
      true,
      'ECONNRESET',
      ({ socket }: Served) =>
        socket.write('HTTP/1.1 200 OK\r\n\r\na', () =>
          setTimeout(() => socket.resetAndDestroy(), 30),
        ),
    ],
    ['another protocol', true, 'malformed', ({ socket }: Served) => socket.write('SSH-2.0-a\r\n')],
    ['LF alone', true, 'malformed', ({ socket }: Served) => socket.write('HTTP/1.1 200 OK\n\n')],
    [
      'interim ones without end',
      true,
      'malformed',
      ({ socket }: Served) => socket.write('HTTP/1.1 103 A\r\n\r\n'.repeat(4000)),
    ],
    [
      'a head of 20 KiB',
      true,
      'malformed',
      ({ socket }: Served) => socket.write(`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(20_000)}`),
    ],
    [
      'a switch of protocols',
      true,
      'malformed',
      ({ socket }: Served) =>
        socket.write('HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n'),
    ],
  ])('that breaks is a failure which says whether any of it came: %s', async (...row) => {
    const [, heard, code, answer] = row
    const server = await startWireServer((served) =>
      served.turn === 0 ? answer(served) : answerPath(served),
    )
    const pool = startPool(server.origin)

    const first = send(pool)
    const second = send(pool, { path: '/2' })
    await first.over

    expect(first.events.at(-1)).toBe('failed')
    expect(first.error()).toMatchObject({ code, heard })
    expect((await second.over).body()).toBe('/2')
    expect(server.sockets).toHaveLength(2)
  })

  test('of any size arrives whole while others arrive on other connections', async () => {
    const size = 300_000
    const server = await startWireServer((served) => {
      const letter = pathOf(served).at(-1) ?? ''
      served.socket.write(sized(letter.repeat(size)))
    })
    const pool = startPool(server.origin, { connections: 8 })
    const letters = [...'abcdefgh']

    const calls = await Promise.all(
      [...letters, ...letters].map((letter) => send(pool, { path: `/${letter}` }).over),
    )

    expect(calls.map((call) => call.body() === call.body().charAt(0).repeat(size))).toEqual(
      Array(16).fill(true),
    )
    expect(calls.map((call) => call.body().charAt(0))).toEqual([...letters, ...letters])
  })

  test('waits in the server while nobody reads it, and goes on after that', async () => {
    const body = 'x'.repeat(8_000_000)
    const server = await startWireServer(({ socket }) => socket.write(sized(body)))
    const pool = startPool(server.origin, { bodyTimeoutMs: 500 })
    let got = 0
    let reading = false
    const call = send(
      pool,
      {},
      {
        data(chunk) {
          got += chunk.length
          return reading
        },
      },
    )

    await until(() => got > 0)
    await pause(1000)
    const before = got
    reading = true
    pool.resume(call.call)
    await call.over

    expect(before).toBeLessThan(200_000)
    expect(call.error()).toBeUndefined()
    expect(call.body()).toBe(body)
    expect((await send(pool).over).error()).toBeUndefined()
    expect(server.sockets).toHaveLength(1)
  })

  test('behind 64 KiB that were read at once is not taken for the next one', async () => {
    // As long as the buffer: what follows comes with another read.
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 65000\r\n'
    const filling = `X: ${'a'.repeat(65_536 - 65_000 - head.length - 'X: \r\n\r\n'.length)}`
    const full = `${head}${filling}\r\n\r\n${'b'.repeat(65_000)}`
    const server = await startWireServer((served) => {
      if (served.turn === 0) served.socket.write(full + sized('evil'))
      else answerPath(served)
    })
    const pool = startPool(server.origin)

    const first = send(pool)
    const second = send(pool, { path: '/2' })
    await Promise.all([first.over, second.over])

    expect(full).toHaveLength(65_536)
    expect(first.body()).toBe('b'.repeat(65_000))
    expect(second.body()).toBe('/2')
  })
})

test('a crowd does not meet the server all at once: no more than 64 connections are being opened', async () => {
  const server = await startWireServer(({ socket }) => socket.write(sized('ok')))
  const pool = startPool(server.origin, { connections: 500 })

  const calls = Array.from({ length: 500 }, () => send(pool))
  await Promise.all(calls.map(({ over }) => over))

  expect(calls.map((call) => call.body())).toEqual(Array(500).fill('ok'))
  // Those that came free served the others, so that the rest was never needed.
  expect(server.sockets.length).toBeGreaterThanOrEqual(64)
  expect(server.sockets.length).toBeLessThan(500)
})

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { send, startPool } from '../support/wire-call.ts'
import { type Served, startWireServer } from '../support/wire-server.ts'

const upgrade = 'websocket'
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const asks = ({ head }: Served) => /^Upgrade: /m.test(head)

describe('an upgrade', () => {
  test('becomes a tunnel, with what came behind the answer', async () => {
    const server = await startWireServer(({ socket, takeOver }) => {
      takeOver()
      socket.write(`${switching}first`)
      socket.on('data', (chunk) => socket.write(chunk.toString('latin1').toUpperCase()))
      socket.resume()
    })
    const pool = startPool(server.origin)

    const call = await send(pool, { upgrade }).over
    const socket = call.socket()
    let text = ''
    socket?.on('data', (chunk) => {
      text += chunk
    })
    socket?.resume()
    socket?.write('hello')
    await until(() => text === 'firstHELLO')
    socket?.end()
    server.sockets[0]?.end()

    expect(call.events).toEqual(['sent', 'upgraded'])
    expect(call.head()?.status).toBe(101)
    expect(server.received(0)).toContain('\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n')
    await until(() => server.open() === 0)
  })

  test('behind interim answers, byte for byte, is one too', async () => {
    const server = await startWireServer(async ({ socket }) => {
      for (const byte of `HTTP/1.1 103 A\r\n\r\n${switching}ab`) {
        socket.write(byte)
        await pause(0)
      }
    })
    const pool = startPool(server.origin)

    const call = await send(pool, { upgrade }).over
    let text = ''
    call.socket()?.on('data', (chunk) => {
      text += chunk
    })

    call.socket()?.resume()

    await until(() => text === 'ab')
    call.socket()?.destroy()
  })

  test('that is refused has an answer like any other, and its connection goes', async () => {
    const body = 'x'.repeat(300_000)
    const server = await startWireServer(({ socket }) =>
      socket.write(`HTTP/1.1 403 A\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    )
    const pool = startPool(server.origin)
    const call = send(pool, { upgrade }, { data: () => false })

    const timer = setInterval(() => pool.resume(call.call), 5)
    await call.over
    clearInterval(timer)

    expect(call.head()?.status).toBe(403)
    expect(call.body()).toBe(body)
    await until(() => server.open() === 0)
  })

  test('to something else than was asked for is refused', async () => {
    const server = await startWireServer(({ socket }) =>
      socket.write(switching.replace('websocket', 'h2c')),
    )
    const pool = startPool(server.origin)

    const call = await send(pool, { upgrade }).over

    expect(call.error()).toMatchObject({ code: 'malformed', heard: true })
    await until(() => server.open() === 0)
  })

  test('takes the place of a connection that is idle, and waits for one that is not', async () => {
    const held: Served[] = []
    const server = await startWireServer((served) => {
      if (asks(served)) served.socket.write(switching)
      else held.push(served)
    })
    const pool = startPool(server.origin)
    const first = send(pool)
    const second = send(pool, { upgrade })
    const third = send(pool)
    await until(() => held.length === 1)
    await pause(30)

    const before = [...second.events]
    held[0]?.socket.write(ok)
    await Promise.all([first.over, second.over])
    await until(() => held.length === 2)
    held[1]?.socket.write(ok)
    await third.over
    // Its connection is idle now.
    const fourth = await send(pool, { upgrade }).over

    expect(before).toEqual([])
    expect(second.events).toEqual(['sent', 'upgraded'])
    expect(third.body()).toBe('ok')
    expect(fourth.events).toEqual(['sent', 'upgraded'])
    for (const call of [second, fourth]) call.socket()?.destroy()
    await until(() => server.open() === 0)
  })

  test('that nobody waits for any more is not sent, and its connection goes at once', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin)

    const call = send(pool, { upgrade })
    pool.abort(call.call)
    const next = send(pool, { upgrade })
    await until(() => next.events.includes('sent'))
    pool.abort(next.call)

    expect(call.events).toEqual([])
    await until(() => server.open() === 0)
    expect(server.sockets.map((_, at) => server.received(at)).join('')).toMatch(
      /^GET \/ HTTP\/1\.1\r\n(?:(?!GET)[\s\S])*$/,
    )
  })

  test('whose tunnel breaks ends nothing else', async () => {
    const server = await startWireServer(({ socket }) => {
      socket.write(switching, () => setTimeout(() => socket.resetAndDestroy(), 20))
    })
    const pool = startPool(server.origin)

    const call = await send(pool, { upgrade }).over
    call.socket()?.resume()
    await until(() => call.socket()?.destroyed === true)

    expect(call.events).toEqual(['sent', 'upgraded'])
  })

  test('whose handler cannot go on with it fails, and the tunnel with it', async () => {
    const server = await startWireServer(({ socket }) => socket.write(switching))
    const pool = startPool(server.origin)
    const mistake = new Error('a mistake')

    const call = send(
      pool,
      { upgrade },
      {
        upgraded() {
          throw mistake
        },
      },
    )
    await until(() => call.events.includes('failed'))

    expect(call.error()).toBe(mistake)
    await until(() => server.open() === 0)
  })
})

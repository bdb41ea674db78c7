import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Upload } from '../../src/wire/request-head.ts'
import { gatherCrowd, leaveCrowd } from '../support/crowd.ts'
import { until } from '../support/until.ts'
import { type RecordedCall, send, startPool } from '../support/wire-call.ts'
import { startWireServer } from '../support/wire-server.ts'

const sized = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** A pool with one connection that has been idle for a while. */
async function startIdle(settings = {}) {
  const server = await startWireServer(({ socket }) => socket.write(sized('ok')))
  const pool = startPool(server.origin, { connections: 4, ...settings })
  await send(pool).over
  await pause(20)
  return { server, pool }
}

function howFar(call: RecordedCall) {
  const { sent, heard, reused } = call.error() ?? {}
  return { sent, heard, reused }
}

/** A body of one byte, and whether it was asked for. */
function oneByte() {
  let started = false
  const upload: Upload = {
    length: 1,
    start(sink) {
      started = true
      sink.data(Buffer.from('a'))
      sink.end()
    },
    resume() {},
    stop() {},
  }
  return { upload, isStarted: () => started }
}

describe('an idle connection that the server has just closed', () => {
  // The kernel knows, the event loop does not: the server closes and the request comes in one turn.
  test.each(['destroy', 'resetAndDestroy'] as const)(
    'is not used for a request that could not be repeated (%s)',
    async (close) => {
      const { server, pool } = await startIdle()
      server.sockets[0]?.[close]()
      const call = await send(pool, { method: 'POST' }).over

      expect(howFar(call)).toEqual({ sent: false, heard: false, reused: true })
    },
  )

  test('takes nothing of a body', async () => {
    const { server, pool } = await startIdle()
    const { upload, isStarted } = oneByte()
    server.sockets[0]?.destroy()
    const call = await send(pool, { method: 'POST', upload }).over

    expect(howFar(call)).toEqual({ sent: false, heard: false, reused: true })
    expect(isStarted()).toBe(false)
    expect((await send(pool, { method: 'POST', upload }, {}).over).body()).toBe('ok')
  })

  test('is not used for a request that may be repeated either', async () => {
    const { server, pool } = await startIdle()
    server.sockets[0]?.destroy()
    const call = await send(pool).over

    expect(howFar(call)).toEqual({ sent: false, heard: false, reused: true })
  })

  test('says so too when it was used just before', async () => {
    const server = await startWireServer(({ socket, turn }) =>
      turn === 0 ? socket.write(sized('ok')) : socket.destroy(),
    )
    const pool = startPool(server.origin)
    let second: RecordedCall | undefined
    await send(pool, {}, { complete: () => setImmediate(() => (second = send(pool))) }).over
    await until(() => second?.error() !== undefined)

    expect(second && howFar(second)).toEqual({ sent: true, heard: false, reused: true })
    expect(server.sockets).toHaveLength(1)
  })

  // A server that shuts down closes connections that it has just accepted too.
  test.each(['GET', 'POST'])('is not used for a first %s either', async (method) => {
    const server = await startWireServer(({ socket }) => socket.write(sized('ok')))
    const pool = startPool(server.origin)
    const close = () => server.sockets[0]?.destroy()
    const call = await send(pool, { method }, { sent: close }).over

    expect(server.sockets).toHaveLength(1)
    expect(howFar(call)).toEqual({ sent: false, heard: false, reused: true })
  })

  test('does not end the ones that are not', async () => {
    const { server, pool } = await startIdle()
    for (let turn = 0; turn < 3; turn++) {
      await pause(5)
      expect((await send(pool, { method: 'POST' }).over).body()).toBe('ok')
    }

    expect(server.sockets).toHaveLength(1)
  })
})

describe('a fresh connection', () => {
  // A turn can be long, and a server may close what it has accepted meanwhile.
  test('gets its first request at once, whatever else is under way', async () => {
    gatherCrowd()
    onTestFinished(leaveCrowd)
    const server = await startWireServer(({ socket }) => socket.write(sized('ok')))
    const pool = startPool(server.origin)
    const closeNext = () => process.nextTick(() => server.sockets[0]?.destroy())
    const call = await send(pool, { method: 'POST' }, { sent: closeNext }).over

    expect(server.sockets).toHaveLength(1)
    expect(howFar(call).sent).toBe(true)
  })

  test('is made although there are idle ones, and is kept afterwards', async () => {
    const { server, pool } = await startIdle()
    const first = send(pool, {}, {}, true)
    expect((await first.over).body()).toBe('ok')
    expect(server.sockets).toHaveLength(2)
    await Promise.all([send(pool).over, send(pool).over])

    expect(server.sockets).toHaveLength(2)
  })

  test('takes the place of an idle one where there may be no more', async () => {
    const { server, pool } = await startIdle({ connections: 1 })
    expect((await send(pool, {}, {}, true).over).body()).toBe('ok')

    expect(server.sockets).toHaveLength(2)
    await until(() => server.open() === 1)
  })

  test('is waited for while all are in use', async () => {
    const server = await startWireServer(({ socket }) =>
      setTimeout(() => socket.write(sized('ok')), 50),
    )
    const pool = startPool(server.origin, { connections: 1 })
    const calls = [send(pool), send(pool, {}, {}, true), send(pool), send(pool, {}, {}, true)]

    const bodies = (await Promise.all(calls.map(({ over }) => over))).map((call) => call.body())
    expect(bodies).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  test('that cannot be made fails the request it was for, and no other', async () => {
    const { server, pool } = await startIdle({ connections: 2 })
    server.server.close()
    const [fresh, other] = [send(pool, {}, {}, true), send(pool)]

    expect((await fresh.over).error()?.code).toBe('ECONNREFUSED')
    expect(howFar(fresh)).toEqual({ sent: false, heard: false, reused: false })
    expect((await other.over).body()).toBe('ok')
  })
})

test('connections are closed before the time after which the server was seen to close them', async () => {
  const closedFirst: string[] = []
  const server = await startWireServer(({ socket }) => {
    socket.write(sized('ok'))
    const timer = setTimeout(() => {
      closedFirst.push('server')
      socket.end()
    }, 800)
    socket.on('end', () => {
      clearTimeout(timer)
      if (!socket.writableEnded) closedFirst.push('client')
    })
  })
  const pool = startPool(server.origin, { connectTimeoutMs: 500 })

  const byClient = () => closedFirst.filter((who) => who === 'client').length
  // On a busy machine the timer of the client may be late for once.
  for (let turn = 1; turn <= 20 && byClient() < 2; turn++) {
    await send(pool).over
    await until(() => closedFirst.length === turn && server.open() === 0)
  }
  expect(closedFirst[0]).toBe('server')
  expect(byClient()).toBe(2)
})

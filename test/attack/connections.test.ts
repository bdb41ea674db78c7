import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import { loginLogRows } from '../support/login-log-rows.ts'
import { parseAnswers, request, sendRaw } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function open(postern: TestPostern, bytes = ''): Promise<Socket> {
  const socket = connect({ port: postern.publicPort, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

/** Sends these bytes and is gone, without a goodbye. */
async function sendAndLeave(postern: TestPostern, bytes: string): Promise<void> {
  const socket = await open(postern, bytes)
  socket.resetAndDestroy()
}

/** Whether a client that does not read finds out, by sending, that it has been cut off. */
function isGone(socket: Socket, bytes = 'x'): boolean {
  if (!socket.destroyed) socket.write(bytes)
  return socket.destroyed
}

const get = (token = tokenOf('editor')) =>
  request('GET /api/v1/public/a', [`Authorization: Bearer ${token}`])
const outcomes = (postern: TestPostern) =>
  [...postern.logText().matchAll(/"outcome":"([^"]+)"/g)].map(([, outcome]) => outcome)

describe('a client that begins and never ends', () => {
  test('is cut off, even when it keeps its side of the connection open', async () => {
    const postern = await startPostern({
      config: { limits: { connections: 5, headersTimeoutMs: 300, requestTimeoutMs: 500 } },
    })
    const slow = await Promise.all(Array.from({ length: 5 }, () => open(postern, 'GET / HT')))

    await Promise.all(slow.map((socket) => once(socket.resume(), 'end')))
    await pause(100)

    expect((await postern.call('GET /api/v1/public/a', { as: 'editor' })).status).toBe(200)
  })
})

describe('a client that leaves', () => {
  test('while its token is being checked holds nothing of the upstream', async () => {
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: ['http://127.0.0.1:9'], connections: 2 } } },
    })
    postern.upstream.answerWith(() => {})
    const own = await startPostern({
      config: { upstreams: { backend: { targets: [postern.upstream.origin], connections: 2 } } },
    })

    // Another token each time: the signature of a known one is checked without a pause.
    for (let turn = 0; turn < 40; turn++) {
      await sendAndLeave(own, get(tokenOf('editor', { nice: `user-${turn}` })))
    }
    await until(() => outcomes(own).length >= 1)
    await pause(200)
    postern.upstream.answerWith((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    )

    expect((await own.call('GET /api/v1/public/a', { as: 'editor' })).body).toBe('ok')
  })

  test.each([
    ['before the answer', ''],
    ['within the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'],
  ])('%s is said to have left, and not the upstream to be broken', async (_, answer) => {
    const postern = await startPostern()
    let closed = 0
    postern.upstream.answerWith((socket) => {
      socket.on('close', () => closed++)
      socket.write(answer)
    })
    const socket = await open(postern, get())
    await until(() => postern.upstream.requests.length === 1)
    if (answer !== '') await once(socket, 'data')

    socket.resetAndDestroy()
    await until(() => outcomes(postern).length === 1)

    expect(outcomes(postern)).toEqual(['cut-by-client'])
    await until(() => closed === 1)
  })

  test('in the middle of an upload leaves the upstream with an unfinished request', async () => {
    const postern = await startPostern()
    const head = request('POST /api/v1/articles', [
      `Authorization: Bearer ${tokenOf('editor')}`,
      'Content-Length: 200000',
    ])
    const socket = await open(postern, `${head}${'a'.repeat(100_000)}`)
    await until(() => postern.upstream.bytes() > 0)

    socket.resetAndDestroy()
    await until(() => outcomes(postern).length === 1)

    expect(postern.upstream.requests).toEqual([])
    expect(outcomes(postern)).toEqual(['cut-by-client'])
  })

  test('in the middle of a login is recorded like any other attempt, and is no bug of ours', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })
    const head = request('POST /api/v1/login', [
      'Content-Type: application/json',
      'Content-Length: 90',
    ])

    await sendAndLeave(postern, `${head}{"username":`)
    const rows = await loginLogRows(postern, 1)

    expect(rows.map(({ msg }) => msg)).toEqual(['malformed login request'])
    expect(outcomes(postern)).toEqual(['bad-login-request'])
  })
})

describe('a client that does not read its answer', () => {
  const endless = `HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n${'a'.repeat(1_000_000)}`

  test('is cut off, and gives the connection to the upstream back', async () => {
    const postern = await startPostern({ config: { limits: { stallTimeoutMs: 300 } } })
    let closed = false
    postern.upstream.answerWith((socket) => {
      socket.on('close', () => {
        closed = true
      })
      for (let part = 0; part < 20; part++) socket.write(endless)
    })

    const socket = await open(postern, get())
    socket.pause()

    await until(() => closed)
    expect(outcomes(postern)).toEqual(['cut-by-gateway'])
    await until(() => isGone(socket))
  })

  test('is cut off as well when only the last of it is left', async () => {
    const postern = await startPostern({ config: { limits: { stallTimeoutMs: 300 } } })
    const small = `HTTP/1.1 200 OK\r\nContent-Length: 12000\r\n\r\n${'a'.repeat(12_000)}`
    postern.upstream.answerWith((socket) => socket.write(small))
    const socket = await open(postern)
    socket.pause()

    // Each answer is over for its upstream; sooner or later one stays in the gateway unread.
    await until(() => isGone(socket, get().repeat(20)))
  })

  test('does not keep others waiting longer than the queue allows', async () => {
    const postern = await startPostern({
      config: { limits: { stallTimeoutMs: 20_000 } },
    })
    const busy = await startPostern({
      config: {
        upstreams: {
          backend: { targets: [postern.upstream.origin], connections: 1, queueTimeoutMs: 200 },
        },
      },
    })
    postern.upstream.answerWith(() => {})
    await open(busy, get())
    await until(() => postern.upstream.requests.length === 1)

    const answer = await busy.call('GET /api/v1/public/a', { as: 'editor' })

    expect([answer.status, (answer.json() as { code: number }).code]).toEqual([503, 503])
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

describe('an upgrade', () => {
  test('that comes before the answer to another request waits for its turn', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith(() => {})
    const upgrade = request('GET /api/v1/public/a', [
      `Authorization: Bearer ${tokenOf('editor')}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
    ])

    const { answers, closed } = await sendRaw(postern.publicPort, [get(), upgrade, get()], {
      firstByteMs: 1500,
    })

    expect([answers.length, closed]).toEqual([0, false])
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

describe('a request behind one that ends the connection', () => {
  test.each([
    ['an ambiguous path', request('GET /api/v1/../x')],
    ['two Host headers', request('GET /api/v1/public/a', ['Host: other.test'])],
    ['a client that says close', request('GET /api/v1/sys-user', ['Connection: close'])],
  ])('is not run: %s', async (_, first) => {
    const postern = await startPostern()

    for (let turn = 0; turn < 20; turn++) {
      const { answers } = await sendRaw(postern.publicPort, first + get(), {
        expected: 2,
        quietMs: 300,
      })
      expect(answers).toHaveLength(1)
    }
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('and garbage behind a good request is not answered in its place', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith(() => {})

    const { bytes } = await sendRaw(postern.publicPort, `${get()}\0\0garbage\r\n\r\n`, {
      firstByteMs: 300,
    })

    expect(parseAnswers(bytes)).toEqual([])
  })
})

describe('a login while the accounts are away', () => {
  test('does not count against the account', async () => {
    let away = true
    const postern = await startPostern({
      config: { ...dev, login: { failuresPerAccount: 3 } },
      verifyPassword: async ({ username }) => {
        if (away) throw new Fault('database')
        return {
          userId: '1',
          roleId: '1',
          roleKey: 'editor',
          roleName: '',
          username,
          dataScope: '',
        }
      },
    })

    for (let turn = 0; turn < 6; turn++) {
      expect((await postLogin(postern, goodLogin(postern))).status).toBe(503)
    }
    away = false

    expect((await postLogin(postern, goodLogin(postern))).json()).toMatchObject({ code: 200 })
  })

  test('and spellings that a database takes for one name share one count', async () => {
    const postern = await startPostern({
      config: { ...dev, login: { failuresPerAccount: 3 } },
      verifyPassword: async () => undefined,
    })

    for (const username of ['sam', 'Sam', 'sam  ']) {
      await postLogin(postern, { ...goodLogin(postern), username, password: 'x' })
    }
    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      username: 'SAM',
      password: 'x',
    })

    expect(answer.json()).toMatchObject({ code: 429 })
  })
})

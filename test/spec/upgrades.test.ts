import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFrameTrack } from '../../src/gateway/exchange/websocket-frames.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing, textFrame } from '../support/websocket-upstream.ts'

const path = '/api/v1/public/socket'

async function startEchoing(options: PosternOptions = {}) {
  const postern = await startPostern(options)
  const opened: Socket[] = []
  postern.upstream.answerWith(echoing((socket) => opened.push(socket)))
  return { postern, opened }
}

/** A WebSocket of the platform, as a browser has it: it cannot set a header. */
function openSocket({ publicPort }: TestPostern, token: string): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${publicPort}${path}?token=${token}&room=7`)
  onTestFinished(() => socket.close())
  return socket
}

async function echo(socket: WebSocket, text: string): Promise<unknown> {
  const answer = once(socket, 'message')
  socket.send(text)
  const [{ data }] = (await answer) as [MessageEvent]
  return data
}

/** An upgrade as text, with these headers besides those that one has. */
function upgrade(headers: readonly string[], protocol = 'websocket', line = `GET ${path}`): string {
  return request(line, [
    'Connection: Upgrade',
    `Upgrade: ${protocol}`,
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  ])
}

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`

describe('a WebSocket', () => {
  test('goes both ways once its caller is known and permitted', async () => {
    const { postern } = await startEchoing()
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')

    expect(await echo(socket, 'hello')).toBe('hello')
    expect(await echo(socket, 'again')).toBe('again')
  })

  test('reaches the upstream with the identity, and without the token', async () => {
    const { postern } = await startEchoing()
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')

    const [sent] = postern.upstream.requests
    expect(sent?.values('x-user-id')).toEqual(['42'])
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect(sent?.values('upgrade')).toEqual(['websocket'])
    expect(sent?.target).toBe(`${path}?room=7`)
    expect(JSON.stringify(sent)).not.toContain(tokenOf('editor').slice(-24))
  })

  test('does not tell the client what is for the upstream only', async () => {
    const { postern } = await startEchoing()

    const { bytes } = await sendRaw(postern.publicPort, upgrade([asEditor]), { quietMs: 300 })

    expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /)
    expect(bytes.toString('latin1')).not.toMatch(/x-user-id|leaked/i)
  })

  test('gets what the client sent without waiting', async () => {
    const { postern } = await startEchoing()
    const masked = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])

    const { bytes } = await sendRaw(postern.publicPort, [upgrade([asEditor]), masked], {
      quietMs: 300,
    })

    expect(bytes.toString('latin1')).toContain('hi')
  })

  test.each([
    ['without a token', [], 401],
    ['with a token that is none', ['Authorization: Bearer x.y.z'], 401],
    ['of a role without a rule', [`Authorization: Bearer ${tokenOf('viewer')}`], 401],
  ])('%s is refused before any byte reaches the upstream', async (_, headers, code) => {
    const { postern } = await startEchoing()

    const { answers, closed } = await sendRaw(postern.publicPort, upgrade(headers))

    expect(answers[0]?.status).toBe(200)
    expect(answers[0]?.json()).toMatchObject({ code })
    expect(closed).toBe(true)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('with a cookie from another site is refused, as a POST would be', async () => {
    const { postern } = await startEchoing()
    const headers = [`Cookie: jwt=${tokenOf('editor')}`, 'Origin: https://evil.example']

    const { answers } = await sendRaw(postern.publicPort, upgrade(headers))

    expect(answers[0]?.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('that the upstream does not want gets its answer', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => {
      socket.write('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 4\r\n\r\nnope')
    })

    const { answers, closed } = await sendRaw(postern.publicPort, upgrade([asEditor]))

    expect([answers[0]?.status, answers[0]?.body]).toEqual([426, 'nope'])
    expect(closed).toBe(true)
  })

  test('that the upstream leaves is over for the client, and the other way round', async () => {
    const { postern, opened } = await startEchoing()
    const first = openSocket(postern, tokenOf('editor'))
    await once(first, 'open')
    const closed = once(first, 'close')
    opened[0]?.destroy()
    await closed

    const raw = connect(postern.publicPort, '127.0.0.1')
    raw.write(upgrade([asEditor]))
    await until(() => opened.length === 2)
    const gone = once(opened[1] as Socket, 'close')
    raw.destroy()
    await gone
  })

  test('that is silent for too long is closed', async () => {
    const { postern } = await startEchoing({ config: { upgrades: { idleTimeoutMs: 100 } } })
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')

    await once(socket, 'close')
  })

  test('is closed with code 1008 when its token is over', async () => {
    const { postern } = await startEchoing({ config: { revocation: { sweepMs: 100 } } })
    const token = tokenOf('editor')
    const socket = openSocket(postern, token)
    await once(socket, 'open')

    const closed = once(socket, 'close')
    await postern.call('POST /api/v1/logout', { token })
    const [{ code }] = (await closed) as [CloseEvent]

    expect(code).toBe(1008)
    await until(() => postern.logText().includes('"outcome":"cut-by-token"'))
  })

  // T220
  test.each<[string, (postern: TestPostern, ahead: (seconds: number) => void) => unknown]>([
    ['its token expires', (_, ahead) => ahead(100_000)],
    [
      'a new policy no longer allows it',
      ({ policyDirectory }) =>
        writeFile(join(policyDirectory, 'policy.csv'), 'p, editor, /api/v1/articles, POST\n'),
    ],
  ])('is closed with code 1008 when %s', async (_, happen) => {
    let ahead = 0
    const { postern } = await startEchoing({
      config: { revocation: { sweepMs: 100 } },
      now: () => Date.now() / 1000 + ahead,
    })
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')

    const closed = once(socket, 'close')
    await happen(postern, (seconds) => {
      ahead = seconds
    })
    const [{ code }] = (await closed) as [CloseEvent]

    expect(code).toBe(1008)
  })

  test('is closed with code 1001 when the gateway goes away', async () => {
    const { postern } = await startEchoing()
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')

    const closed = once(socket, 'close')
    await postern.close()
    const [{ code }] = (await closed) as [CloseEvent]

    expect(code).toBe(1001)
  })

  test('is one line in the log, with status 101', async () => {
    const { postern } = await startEchoing()
    const socket = openSocket(postern, tokenOf('editor'))
    await once(socket, 'open')
    socket.close()

    await until(() => postern.logText().includes('"status":101'))
    expect(postern.logText()).toContain('"outcome":"passed"')
  })
})

describe('another protocol than those listed', () => {
  test.each(['h2c', 'websocket, h2c', 'TLS/1.0', 'foo'])(
    'is passed over, and the request is a plain one: %s',
    async (protocol) => {
      const postern = await startPostern()

      const { answers, closed } = await sendRaw(
        postern.publicPort,
        [upgrade([asEditor], protocol), request('GET /api/v1/public/b', [asEditor])],
        { expected: 2 },
      )

      expect(answers.map((answer) => answer.json())).toEqual([{ ok: true }])
      // Who sent more behind it has to know that it was not read.
      expect([answers[0]?.header('connection'), closed]).toEqual(['close', true])
      expect(postern.upstream.requests).toHaveLength(1)
      expect(postern.upstream.requests[0]?.values('upgrade')).toEqual([])
    },
  )

  // RFC 9110 7.8.
  test('is passed over in HTTP/1.0, whatever it is', async () => {
    const postern = await startPostern()
    const bytes = upgrade([asEditor]).replace('HTTP/1.1', 'HTTP/1.0')

    const { answers } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]?.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('upgrade')).toEqual([])
  })

  test('is passed over with a body as well', async () => {
    const postern = await startPostern()
    const line = 'POST /api/v1/articles'
    const bytes = `${upgrade([asEditor, 'Content-Length: 2'], 'websocket', line)}{}`

    const { answers } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]?.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.body).toBe('{}')
  })
})

describe('the frames of a WebSocket', () => {
  const long = Buffer.concat([Buffer.from([0x82, 126, 1, 0]), Buffer.alloc(256)])
  const huge = Buffer.concat([
    Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    Buffer.alloc(65_536),
  ])

  test.each([
    ['a short one', textFrame('hello')],
    ['an empty one', textFrame('')],
    ['one with two bytes of length', long],
    ['one with eight', huge],
    ['a masked one', Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])],
    ['several', Buffer.concat([textFrame('a'), long, textFrame(''), textFrame('b')])],
  ])('are followed through any cut: %s', (_, bytes) => {
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const track = createFrameTrack()
      const states: boolean[] = []
      for (let at = 0; at < bytes.length; at += size) {
        track.follow(bytes.subarray(at, at + size))
        states.push(track.isBetweenFrames())
      }
      expect(states.at(-1)).toBe(true)
      if (size === 1) expect(states[0]).toBe(false)
    }
  })
})

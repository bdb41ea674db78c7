import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { parseAnswers, type RawAnswer, request } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { type PosternOptions, startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const get = (path = 'a', headers: readonly string[] = []) =>
  request(`GET /api/v1/public/${path}`, [asEditor, ...headers])
const post = (body: string, headers: readonly string[] = []) =>
  request('POST /api/v1/articles', [asEditor, `Content-Length: ${body.length}`, ...headers], body)

const handshake = request('GET /api/v1/public/socket', [
  asEditor,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
])

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

interface Client {
  readonly socket: Socket
  send(bytes: string): void
  /** Waits for so many answers in all, and gives them. */
  answers(count: number, bodiless?: boolean): Promise<readonly RawAnswer[]>
  text(): string
  closed(): boolean
}

async function open({ publicPort }: TestPostern, tls = false): Promise<Client> {
  const there = { port: publicPort, host: '127.0.0.1' }
  const trust = { ca: certificates.authorityText, servername: 'localhost' }
  const socket = tls ? connectTls({ ...there, ...trust }) : connect(there)
  onTestFinished(() => void socket.destroy())
  const chunks: Buffer[] = []
  let closed = false
  socket.setNoDelay()
  socket.on('error', () => {})
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('close', () => {
    closed = true
  })
  await once(socket, tls ? 'secureConnect' : 'connect')
  const bytes = () => Buffer.concat(chunks)
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    async answers(count, bodiless = false) {
      await until(() => parseAnswers(bytes(), bodiless).length >= count || closed)
      return parseAnswers(bytes(), bodiless)
    },
    text: () => bytes().toString('latin1'),
    closed: () => closed,
  }
}

/** How many answers on the public port Node's own object has written since. */
function countNodes({ publicPort }: TestPostern): () => number {
  let count = 0
  const original = ServerResponse.prototype.assignSocket
  const spy = vi.spyOn(ServerResponse.prototype, 'assignSocket').mockImplementation(function (
    this: ServerResponse,
    socket: Socket,
  ) {
    if (socket.localPort === publicPort) count++
    original.call(this, socket)
  })
  onTestFinished(() => spy.mockRestore())
  return () => count
}

function startReading(plainRequests: boolean, tls: boolean): Promise<TestPostern> {
  const files = { certFile: certificates.certificate, keyFile: certificates.key }
  const config = { application: { plainRequests }, ...(tls && { tls: files }) }
  return startPostern({ config })
}

describe('an answer', () => {
  const answered = (headers: readonly string[], body = '') =>
    ['HTTP/1.1 200 OK', ...headers, '', body].join('\r\n')
  const chunked = answered(['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n')
  const long = 'x'.repeat(200_000)
  const cors = { cors: { origins: ['https://app.test'] } }

  test.each<[string, { ask: string; says?: string; options?: PosternOptions; bodiless?: boolean }]>(
    [
      ['of an upstream', { ask: get() }],
      ['to a POST', { ask: post('{"a":1}') }],
      ['to HEAD', { ask: get().replace('GET', 'HEAD'), bodiless: true }],
      ['to OPTIONS', { ask: get().replace('GET', 'OPTIONS') }],
      ['without a body', { ask: get(), says: answered(['Content-Length: 0']) }],
      ['in chunks', { ask: get(), says: chunked }],
      ['with trailers', { ask: get('a', ['TE: trailers']), says: chunked }],
      ['that is long', { ask: get(), says: answered(['Content-Length: 200000'], long) }],
      ['204', { ask: get(), says: 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n' }],
      ['304', { ask: get(), says: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n' }],
      [
        'with an odd status',
        { ask: get(), says: 'HTTP/1.1 299 Odd\r\nContent-Length: 1\r\n\r\na' },
      ],
      [
        'with bytes beyond ASCII',
        { ask: get(), says: answered(['X-A: \xe9\xff', 'Content-Length: 2'], '\xe9\0') },
      ],
      [
        'with a name twice',
        {
          ask: get(),
          says: answered(['Set-Cookie: a=b', 'set-cookie: c=d', 'Content-Length: 1'], 'a'),
        },
      ],
      ['to somebody without a token', { ask: request('GET /api/v1/public/a') }],
      ['to somebody who may not', { ask: request('GET /api/v1/secret', [asEditor]) }],
      ['to a path with two readings', { ask: get('..%2fsecret') }],
      ['without a Host', { ask: `GET /api/v1/public/a HTTP/1.1\r\n${asEditor}\r\n\r\n` }],
      ['of our own', { ask: request('GET /api/v1/login') }],
      ['of our own, in UTF-8', { ask: request('GET /api/v1/user/profile', [asEditor]) }],
      ['to a page', { ask: get('a', ['Origin: https://app.test']), options: { config: cors } }],
      ['to another page', { ask: get('a', ['Origin: https://x.test']), options: { config: cors } }],
      [
        'to the question of a browser',
        {
          ask: request('OPTIONS /api/v1/public/a', [
            'Origin: https://app.test',
            'Access-Control-Request-Method: GET',
          ]),
          options: { config: cors },
        },
      ],
      [
        'to a page, of an upstream that varies',
        {
          ask: get('a', ['Origin: https://app.test']),
          says: answered(['Vary: Accept', 'Content-Length: 1'], 'a'),
          options: { config: cors },
        },
      ],
    ],
  )('%s is the same, whoever has read the request', async (_, { ask, bodiless, ...given }) => {
    const { says, options = {} } = given
    const application = { plainRequests: true }
    const postern = await startPostern({ config: { ...options.config, application } })
    if (says !== undefined) postern.upstream.answerWith((socket) => socket.write(says, 'latin1'))
    const byUs = await open(postern)
    const byNode = await open(postern)

    byUs.send(ask)
    const [ours] = await byUs.answers(1, bodiless)
    byNode.send(ask.slice(0, 1))
    await pause(20)
    byNode.send(ask.slice(1))
    const [nodes] = await byNode.answers(1, bodiless)

    expect(ours?.body.length).toBe(nodes?.body.length)
    expect(alike(byUs.text())).toEqual(alike(byNode.text()))
  })

  /** Without what no two answers have in common. Only the place of Keep-Alive may differ. */
  function alike(text: string): readonly string[] {
    const end = text.indexOf('\r\n\r\n')
    const [line = '', ...fields] = text
      .slice(0, end)
      .replace(/\r\nDate: [^\r]+/, '\r\nDate: …')
      .split('\r\n')
    const isKept = (field: string) => field.startsWith('Keep-Alive')
    const body = text.slice(end).replace(/"requestId":"[^"]+"/, '"requestId":"…"')
    return [line, ...fields.filter((field) => !isKept(field)), ...fields.filter(isKept), body]
  }
})

describe.each([
  ['in the clear', false],
  ['over TLS', true],
])('a connection %s', (_, tls) => {
  const start = () => startReading(true, tls)

  test('that asks plainly is not read by Node', async () => {
    const postern = await start()
    const nodes = countNodes(postern)
    const client = await open(postern, tls)

    for (let asked = 1; asked <= 5; asked++) {
      client.send(asked % 2 === 0 ? post(`body ${asked}`) : get(String(asked)))
      expect(await client.answers(asked)).toHaveLength(asked)
    }

    expect(nodes()).toBe(0)
    expect(postern.upstream.requests.map(({ target, body }) => [target, body])).toEqual([
      ['/api/v1/public/1', ''],
      ['/api/v1/articles', 'body 2'],
      ['/api/v1/public/3', ''],
      ['/api/v1/articles', 'body 4'],
      ['/api/v1/public/5', ''],
    ])
  })

  test('goes on plainly after an answer in pieces', async () => {
    const postern = await start()
    const nodes = countNodes(postern)
    const client = await open(postern, tls)
    const body = 'x'.repeat(300_000)
    postern.upstream.answerWith((socket, { target }) => {
      if (!target.endsWith('/long')) socket.write(ok)
      else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    })

    for (const path of ['a', 'long', 'b', 'long', 'c']) {
      const before = parseAnswers(Buffer.from(client.text(), 'latin1')).length
      client.send(get(path))
      await client.answers(before + 1)
    }

    const lengths = (await client.answers(5)).map((answer) => answer.body.length)
    expect(lengths).toEqual([11, 300_000, 11, 300_000, 11])
    expect(nodes()).toBe(2)
  })
})

describe.each([
  ['in the clear', true, false],
  ['over TLS', true, true],
  ['that Node reads', false, false],
])('a connection %s', (_, plainRequests, tls) => {
  const start = () => startReading(plainRequests, tls)

  test('that asks again before it is answered is answered in turn', async () => {
    const postern = await start()
    const client = await open(postern, tls)
    const waiting: (() => void)[] = []
    postern.upstream.answerWith((socket, { target }) => {
      const body = target.slice(-1)
      waiting.push(() => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${body}`))
    })

    client.send(get('1'))
    await until(() => waiting.length === 1)
    client.send(get('2'))
    await pause(30)
    client.send(get('3') + get('4'))
    await pause(30)
    // The second is not begun while the first is under way.
    expect(waiting).toHaveLength(1)
    for (let answered = 0; answered < 4; answered++) {
      await until(() => waiting.length > answered)
      waiting[answered]?.()
    }

    expect((await client.answers(4)).map(({ body }) => body)).toEqual(['1', '2', '3', '4'])
  })

  test('is handed over with every byte, whatever follows', async () => {
    const postern = await start()
    const client = await open(postern, tls)

    client.send(get('first'))
    await client.answers(1)
    client.send(request('POST /api/v1/articles', [asEditor, 'Transfer-Encoding: chunked']))
    await pause(20)
    client.send('5\r\nhello\r\n')
    await pause(20)
    client.send('0\r\n\r\n')
    await client.answers(2)
    client.send(get('third') + get('fourth'))
    await client.answers(4)
    client.send('NONSENSE\r\n\r\n')

    const statuses = (await client.answers(5)).map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200, 200, 400])
    expect(postern.upstream.requests.map(({ target, body }) => target + body)).toEqual([
      '/api/v1/public/first',
      '/api/v1/articleshello',
      '/api/v1/public/third',
      '/api/v1/public/fourth',
    ])
    await until(client.closed)
  })

  test('may ask for a WebSocket after plain requests', async () => {
    const postern = await start()
    const client = await open(postern, tls)

    client.send(get())
    await client.answers(1)
    postern.upstream.answerWith(echoing(() => {}))
    client.send(handshake)
    await until(() => client.text().includes('101 Switching Protocols'))
    client.send('\x81\x85\0\0\0\0hello')

    await until(() => client.text().endsWith('hello'))
  })

  test('that does not read holds its next request back, and loses nothing', async () => {
    const postern = await start()
    const client = await open(postern, tls)
    const body = 'x'.repeat(16_000)
    postern.upstream.answerWith((socket, { target }) => {
      const text = target.slice(-4) + body
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
    })
    const begun = () => postern.upstream.requests.length
    let asked = 0

    client.socket.pause()
    // Until one is not begun, because the answer before it has not left.
    for (; asked === begun() && asked < 2000; asked++) {
      client.send(get(String(1000 + asked)))
      for (let turns = 0; turns < 200 && begun() === asked; turns++) await pause(1)
    }
    client.socket.resume()

    const answers = await client.answers(asked)
    expect(asked).toBeLessThan(2000)
    expect(answers.map((answer) => Number(answer.body.slice(0, 4)))).toEqual(
      Array.from({ length: asked }, (_, at) => 1000 + at),
    )
  })
})

describe('a client that does not wait for its answer', () => {
  async function startSilent(options: PosternOptions = {}) {
    const postern = await startPostern(options)
    let answer = () => {}
    postern.upstream.answerWith((socket) => {
      answer = () => void socket.write(ok)
    })
    const client = await open(postern)
    client.send(get())
    await until(() => postern.upstream.requests.length === 1)
    return { postern, client, answer: () => answer() }
  }
  const isCut = ({ logText }: TestPostern) => logText().includes('"outcome":"cut-by-client"')

  test.each<[string, (client: Client) => Promise<void>]>([
    ['at once', async () => {}],
    ['after empty lines', (client) => sendApart(client, ['\r\n', '\r\n', '\r\n'])],
    ['after another request', (client) => sendApart(client, [get('b')])],
    ['after half of two', (client) => sendApart(client, [get('b').slice(0, 9), 'x', 'y'])],
  ])('and leaves %s is seen to leave', async (_, ahead) => {
    const { postern, client } = await startSilent()

    await ahead(client)
    client.socket.end()

    await until(() => isCut(postern))
    await until(() => postern.upstream.connections() === 0)
  })

  test('and is far ahead with what cannot be answered is told so in its turn', async () => {
    const { client, answer } = await startSilent()

    client.send(get('b', [`X-A: ${'x'.repeat(70_000)}`]))
    await pause(100)
    answer()

    await until(client.closed)
    expect(parseAnswers(Buffer.from(client.text())).map(({ status }) => status)).toEqual([200, 431])
  })

  test('but asks for a WebSocket has it in its turn, with what it sent besides', async () => {
    const { postern, client, answer } = await startSilent()

    await sendApart(client, [handshake, '\x81\x83\0\0\0\0one', '\x81\x83\0\0\0\0two'])
    postern.upstream.answerWith(echoing(() => {}))
    answer()

    await until(() => client.text().includes('one'))
    await until(() => client.text().includes('two'))
  })

  async function sendApart(client: Client, pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      client.send(piece)
      await pause(20)
    }
  }
})

test('a request with more headers than may be is refused', async () => {
  const postern = await startPostern({ config: { limits: { headerCount: 10 } } })
  const more = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: a`)
  const [most, tooMany] = [await open(postern), await open(postern)]

  most.send(get('a', more(8)))
  tooMany.send(get('a', more(9)))

  expect((await most.answers(1))[0]?.status).toBe(200)
  expect((await tooMany.answers(1))[0]?.status).toBe(431)
})

describe('a connection on which nothing comes', () => {
  test('but an empty line is told nothing, and does not hold the end up', async () => {
    const postern = await startPostern({
      config: { limits: { headersTimeoutMs: 200 }, shutdown: { graceMs: 0, deadlineMs: 30_000 } },
    })
    const client = await open(postern)
    client.send(get())
    await client.answers(1)
    const before = client.text()
    client.send('\r\n')
    // Longer than it takes to look twice.
    await pause(2500)

    expect(client.closed()).toBe(false)
    await postern.close()
    expect(client.text()).toBe(before)
    expect(postern.logText()).not.toContain('were cut')
  })

  test('is told so, if nothing ever came', async () => {
    const postern = await startPostern({ config: { limits: { headersTimeoutMs: 200 } } })
    const client = await open(postern)

    await until(client.closed)

    expect(parseAnswers(Buffer.from(client.text()))[0]?.status).toBe(408)
  })

  test('is closed without a word, if it has been answered', async () => {
    const postern = await startPostern({ config: { limits: { keepAliveTimeoutMs: 200 } } })
    const client = await open(postern)
    client.send(get())
    await client.answers(1)
    const before = client.text()
    // What it sends at the last moment that it was told of is still to be answered.
    await pause(1000)
    expect(client.closed()).toBe(false)

    await until(client.closed)

    expect(client.text()).toBe(before)
  })

  test('is left alone while it waits for an answer', async () => {
    const postern = await startPostern({
      config: { limits: { keepAliveTimeoutMs: 100, headersTimeoutMs: 100 } },
    })
    const client = await open(postern)
    let answer = () => {}
    postern.upstream.answerWith((socket) => {
      answer = () => void socket.write(ok)
    })
    client.send(get())
    // Longer than it takes to look twice.
    await pause(2500)
    answer()

    expect((await client.answers(1)).map(({ status }) => status)).toEqual([200])
  })
})

test('what comes behind the last answer of a connection is not read', async () => {
  const postern = await startPostern()
  const client = await open(postern)

  client.send(get('..%2fa'))
  client.send(get('after'))
  await until(client.closed)

  expect((await client.answers(1)).map(({ status }) => status)).toEqual([400])
  expect(postern.upstream.requests).toEqual([])
})

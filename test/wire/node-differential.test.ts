import { once } from 'node:events'
import { Agent, type IncomingMessage, request as nodeRequest } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool } from '../../src/wire/pool.ts'
import { corpusLines } from '../support/corpora.ts'
import { send } from '../support/wire-call.ts'
import { type Played, readAnswer, spoiledAnswer, validAnswer } from './responses.ts'

/* What we accept, Node's own client (llhttp, strict) must accept as the same. */

/** What a client makes of an answer, and of the one that follows it. */
interface Outcome {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
  readonly trailers: readonly string[]
  readonly next: string
}

const next = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext'

let port = 0
let playing = ''
let closing = false
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (chunk) => answer(socket, chunk.toString('latin1')))
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

function answer(socket: Socket, asked: string): void {
  if (asked.includes(' /next ')) socket.write(next)
  else if (closing) socket.end(playing, 'latin1')
  else socket.write(playing, 'latin1')
}

async function askUs(method: string): Promise<Outcome | string> {
  const pool = createPool(`http://127.0.0.1:${port}`, undefined, {
    connections: 1,
    connectTimeoutMs: 5000,
    headersTimeoutMs: 5000,
    bodyTimeoutMs: 5000,
  })
  try {
    const call = await send(pool, { method }).over
    const error = call.error()
    if (error !== undefined) return error.code
    const { status = 0, headers = [] } = call.head() ?? {}
    const after = (await send(pool, { path: '/next' }).over).body()
    return { status, headers, body: call.body(), trailers: call.trailers(), next: after }
  } finally {
    pool.destroy()
  }
}

async function askNode(method: string): Promise<Outcome | string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const first = await oneOfNode(agent, method, '/')
    const second = await oneOfNode(agent, 'GET', '/next')
    return { ...first, next: second.body }
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    agent.destroy()
  }
}

async function oneOfNode(
  agent: Agent,
  method: string,
  path: string,
): Promise<Omit<Outcome, 'next'>> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const asked = nodeRequest({ agent, host: '127.0.0.1', port, method, path, timeout: 5000 })
  asked.on('response', resolve)
  asked.on('upgrade', (_, socket) => {
    socket.destroy()
    reject(Object.assign(new Error('upgraded'), { code: 'upgraded' }))
  })
  asked.on('error', reject)
  asked.on('timeout', () => asked.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })))
  asked.end()
  const response = await promise
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return {
    status: response.statusCode ?? 0,
    headers: response.rawHeaders,
    body: Buffer.concat(chunks).toString('latin1'),
    trailers: response.rawTrailers,
  }
}

/** Plays the same bytes to both. */
async function playToBoth({ method, text }: Played, isLast: boolean) {
  playing = text
  closing = isLast
  return { ours: await askUs(method), nodes: await askNode(method) }
}

/** Only what belongs to the answer by our reading: if Node's is another, it waits or wants less. */
async function agree(played: Played): Promise<void> {
  const read = readAnswer(played)
  fc.pre(read.how === 'over' || read.how === 'end')
  const { method } = played
  const text = played.text.slice(0, read.length)
  const { ours, nodes } = await playToBoth({ method, text }, read.how === 'end')

  expect(ours).toEqual({
    status: read.status,
    headers: read.headers,
    body: read.body,
    trailers: read.trailers,
    next: 'next',
  })
  expect(nodes).toEqual(ours)
}

describe('what we take for an answer', () => {
  test('is the same to Node, and so is what follows it', async () => {
    await fc.assert(fc.asyncProperty(validAnswer, agree), { numRuns: 250 })
  })

  test('is the same to Node after it was spoiled', async () => {
    await fc.assert(fc.asyncProperty(spoiledAnswer, agree), { numRuns: 250, maxSkipsPerRun: 500 })
  })

  test('is the same to Node with what is injected elsewhere as values and bodies', async () => {
    for (const line of corpusLines('payloads/CRLF_Injection_Files_crlfinjection.txt')) {
      const raw = decodeLoosely(line)
      const bytes = Buffer.from(raw, 'latin1').toString('latin1')
      const played = [
        `HTTP/1.1 200 OK\r\nLocation: ${bytes}\r\nContent-Length: 0\r\n\r\n`,
        `HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes}`,
      ]
      for (const text of played) {
        const read = readAnswer({ method: 'GET', text })
        if (read.how === 'over') await agree({ method: 'GET', text })
        else expect(read.how).toMatch(/malformed|end|unfinished/)
      }
    }
  })
})

function decodeLoosely(line: string): string {
  return line.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const ok = (...lines: readonly string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')
const chunks = 'Transfer-Encoding: chunked'

/** Where Node takes what we refuse. */
const stricter: readonly [string, string][] = [
  ['two transfer codings', `${ok('Transfer-Encoding: gzip', chunks)}0\r\n\r\n`],
  ['a coding under the chunks', `${ok('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
  ['chunks in HTTP/1.0', `HTTP/1.0 200 OK\r\n${chunks}\r\n\r\n0\r\n\r\n`],
  ['another version', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['an empty line before the status', `\r\n${ok('Content-Length: 0')}`],
  [
    'an interim answer with a length',
    `HTTP/1.1 103 A\r\nContent-Length: 5\r\n\r\n${ok('Content-Length: 0')}`,
  ],
  ['a long chunk extension', `${ok(chunks)}2;${'a'.repeat(300)}\r\nok\r\n0\r\n\r\n`],
  ['a chunk size of 16 digits', `${ok(chunks)}0000000000000002\r\nok\r\n0\r\n\r\n`],
]

/** Where both refuse. */
const refused: readonly [string, string][] = [
  ['two lengths', `${ok('Content-Length: 2', 'Content-Length: 2')}ok`],
  ['a list of lengths', `${ok('Content-Length: 2, 2')}ok`],
  ['a signed length', `${ok('Content-Length: +2')}ok`],
  ['a length of nothing', `${ok('Content-Length:')}ok`],
  ['a length beyond all bounds', ok(`Content-Length: ${'9'.repeat(30)}`)],
  ['both framings', `${ok('Content-Length: 2', chunks)}2\r\nok\r\n0\r\n\r\n`],
  ['LF alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['CR alone', 'HTTP/1.1 200 OK\r\nA: b\rContent-Length: 2\r\n\r\nok'],
  ['NUL in a value', ok('A: b\0', 'Content-Length: 0')],
  ['a blank before the colon', `${ok('Content-Length : 2')}ok`],
  ['a line without a colon', ok('A', 'Content-Length: 0')],
  ['a continued header', ok('A: b', ' c', 'Content-Length: 0')],
  ['a chunk extension with a blank', `${ok(chunks)}2; a\r\nok\r\n0\r\n\r\n`],
  ['a chunk size with a blank', `${ok(chunks)}2 \r\nok\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${ok(chunks)}0x2\r\nok\r\n0\r\n\r\n`],
  ['a chunk line with LF alone', `${ok(chunks)}2\nok\r\n0\r\n\r\n`],
  ['a chunk that is too long', `${ok(chunks)}2\r\nokk\r\n0\r\n\r\n`],
  ['a length in a trailer', `${ok(chunks)}0\r\nContent-Length: 5\r\n\r\n`],
  ['a chunk extension without a name', `${ok(chunks)}2;\r\nok\r\n0\r\n\r\n`],
  ['an interim answer of HTTP/1.0', `HTTP/1.0 100 A\r\n\r\n${ok('Content-Length: 0')}`],
  [
    'an interim answer that closes',
    `HTTP/1.1 103 A\r\nConnection: close\r\n\r\n${ok('Content-Length: 0')}`,
  ],
  ['a body that is cut off', `${ok('Content-Length: 5')}ok`],
  ['chunks that are cut off', `${ok(chunks)}5\r\nok`],
]

describe('what we refuse', () => {
  test.each(stricter)('is more than Node does: %s', async (_, text) => {
    const { ours, nodes } = await playToBoth({ method: 'GET', text }, false)

    expect(ours).toMatch(/malformed/)
    expect(nodes).toMatchObject({ status: 200, next: 'next' })
  })

  test.each(refused)('Node refuses too: %s', async (_, text) => {
    const { ours, nodes } = await playToBoth({ method: 'GET', text }, true)

    expect(ours).toMatch(/malformed|closed/)
    expect(nodes).toEqual(expect.any(String))
  })
})

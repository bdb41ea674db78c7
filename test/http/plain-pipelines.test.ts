import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createClientConnections } from '../../src/http/connections/client-connections.ts'
import type { PlainIncomingRequest } from '../../src/http/connections/incoming-request.ts'
import { readPlainRequests } from '../../src/http/plain/plain-connections.ts'
import type { PlainReply } from '../../src/http/plain/plain-reply.ts'
import { openByteClient } from '../support/byte-client.ts'

type Answer = (request: PlainIncomingRequest, reply: PlainReply) => void

/** The plain reader of a port, and which connections it left to Node's parser. */
async function startReader(answer: Answer) {
  const server = createServer()
  const given: string[] = []
  const sockets: Socket[] = []
  const limits = {
    headerBytes: 16_384,
    headerCount: 100,
    headersTimeoutMs: 60_000,
    keepAliveTimeoutMs: 60_000,
  }
  const faults = { requestRejected() {}, rejected() {}, closed() {} }
  const read = readPlainRequests(server, limits, {
    clients: createClientConnections({ most: 100 }, faults),
    faults,
    node: { readFrom: (_, bytes) => void given.push(bytes.toString('latin1')) },
  })
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    read(socket)
  })
  server.on('request', answer as never)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, given, sockets }
}

const echo: Answer = ({ url = '' }, reply) => {
  queueMicrotask(() => {
    reply.writeHead(200, ['Content-Length', String(url.length)])
    reply.end(url, 'latin1')
  })
}
const get = (at: number) => `GET /${at} HTTP/1.1\r\nHost: a\r\n\r\n`
const targets = (count: number) => Array.from({ length: count }, (_, at) => `/${at}`)

test('requests that are sent ahead are read without Node’s parser, and answered in order', async () => {
  const { port, given } = await startReader(echo)
  const client = await openByteClient(port)
  const count = 5000

  client.send(
    targets(count)
      .map((_, at) => get(at))
      .join(''),
  )
  const answers = await client.answers(count)

  expect(answers.map(({ body }) => body)).toEqual(targets(count))
  expect(given).toEqual([])
})

test('what is not plain behind them is left to Node’s parser, after their responses', async () => {
  const { port, given } = await startReader(echo)
  const client = await openByteClient(port)
  const head = 'HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n'

  client.send(get(0) + get(1) + get(2) + head + get(4))

  expect((await client.answers(3)).map(({ body }) => body)).toEqual(targets(3))
  expect(given).toEqual([head + get(4)])
})

test('their responses are written several at a time', async () => {
  let writes = 0
  const { port, sockets } = await startReader((request, reply) => {
    if (request.url === '/0') {
      const [socket] = sockets
      const handle = (
        socket as unknown as { _handle: Record<string, (...all: never[]) => unknown> }
      )._handle
      for (const name of ['writeLatin1String', 'writeUtf8String', 'writeBuffer', 'writev']) {
        const write = handle[name]
        handle[name] = (...all) => {
          writes++
          return write?.apply(handle, all)
        }
      }
    }
    echo(request, reply)
  })
  const client = await openByteClient(port)
  const count = 800

  client.send(
    targets(count)
      .map((_, at) => get(at))
      .join(''),
  )

  expect(await client.answers(count)).toHaveLength(count)
  expect(writes).toBeLessThan(count / 4)
})

test('a client with many requests does not delay another one until all are answered', async () => {
  const order: string[] = []
  const { port } = await startReader((request, reply) => {
    order.push(request.url ?? '')
    echo(request, reply)
  })
  const busy = await openByteClient(port)
  const other = await openByteClient(port)
  const count = 2000

  busy.send(
    targets(count)
      .map((_, at) => get(at))
      .join(''),
  )
  other.send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n')
  await busy.answers(count)
  await other.answers(1)

  expect(order.indexOf('/other')).toBeLessThan(count)
})

test('no more is read ahead than the limit while a response is missing', async () => {
  const replies: PlainReply[] = []
  const { port, sockets } = await startReader((_, reply) => void replies.push(reply))
  const client = await openByteClient(port)
  for (let at = 0; at < 400; at++) client.send(get(at).repeat(1000))
  while (replies.length === 0) await new Promise(setImmediate)
  const answerOne = () => {
    const reply = replies.shift()
    reply?.writeHead(200, ['Content-Length', '0'])
    reply?.end('', 'latin1')
  }

  for (let turn = 0; turn < 300; turn++) {
    answerOne()
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }

  // Some 30 requests are a kilobyte, so little more than the first reads has been needed.
  expect(sockets[0]?.bytesRead).toBeLessThan(300_000)
})

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { inParallel } from '../support/in-parallel.ts'
import { parseAnswers, request } from '../support/raw-client.ts'
import { freePort } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

/* Clients that leave at any moment, and a service that ends its connections at any other. */

type Answer = (incoming: IncomingMessage, reply: ServerResponse) => unknown

const whenWhole: Answer = async (incoming, reply) => {
  for await (const _ of incoming);
  // Said by hand, it keeps Node from announcing its timeout.
  reply.setHeader('Connection', 'keep-alive')
  reply.end(incoming.url)
}

const answers: readonly Answer[] = [
  whenWhole,
  whenWhole,
  async (incoming, reply) => {
    await pause(30)
    await whenWhole(incoming, reply)
  },
  // Large, with backpressure.
  async (incoming, reply) => {
    for await (const _ of incoming);
    reply.end(`${incoming.url}${' '.repeat(400_000)}`)
  },
  // Before it has read the body.
  (incoming, reply) => reply.writeHead(413).end(incoming.url),
  // After the head: reset, half-closed, closed.
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
  async ({ socket }) => {
    await pause(5)
    socket.destroy()
  },
  // An idle connection that is closed at once, or soon, without a word before.
  async (incoming, reply) => {
    await whenWhole(incoming, reply)
    setTimeout(() => incoming.socket.destroy(), Math.random() < 0.5 ? 0 : 10)
  },
]

async function startService() {
  const posts = new Map<string, number>()
  let answer: Answer = (incoming, reply) =>
    answers[Math.floor(Math.random() * answers.length)]?.(incoming, reply)
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, reply) => {
    const { method, url = '' } = incoming
    incoming.on('error', () => {})
    if (method === 'POST') posts.set(url, (posts.get(url) ?? 0) + 1)
    void Promise.resolve(answer(incoming, reply)).catch(() => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    answerWith(next: Answer) {
      answer = next
    },
  }
}

async function open({ publicPort }: TestPostern, from: string): Promise<Socket> {
  const socket = connect({ port: publicPort, host: '127.0.0.1', localAddress: from })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const oneOf = <T>(...all: readonly T[]) => all[Math.floor(Math.random() * all.length)] as T

/** The pieces of a request, which come one after the other. */
function pieces(path: string): readonly string[] {
  const body = 'x'.repeat(oneOf(1, 100, 65_536 - 256, 65_536, 100_000))
  const half = Math.floor(body.length / 2)
  const sized = `Content-Length: ${body.length}`
  const chunked = 'Transfer-Encoding: chunked'
  return oneOf(
    [request(`GET ${path}`)],
    [request(`POST ${path}`, ['Content-Length: 0'])],
    [request(`POST ${path}`, [sized], body)],
    [request(`POST ${path}`, [sized], body.slice(0, half)), body.slice(half)],
    [request(`POST ${path}`, [sized, 'Expect: 100-continue']), body],
    [request(`POST ${path}`, [chunked]), '0\r\n\r\n'],
    [request(`POST ${path}`, [chunked, 'Expect: 100-continue']), '5\r\nhello\r\n', '0\r\n\r\n'],
  )
}

/** Sends one request, and leaves at some moment or stays for the response: its status and body. */
async function call(postern: TestPostern, path: string): Promise<string | undefined> {
  const socket = await open(postern, oneOf('127.0.0.9', '127.0.0.10', '127.0.0.11'))
  const chunks: Buffer[] = []
  let isClosed = false
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('close', () => {
    isClosed = true
  })
  const leaver = Math.random() < 0.5
  if (leaver) setTimeout(() => socket.destroy(), Math.random() * 60)
  for (const piece of pieces(path)) {
    if (!isClosed) socket.write(piece)
    await pause(oneOf(0, 0, 10))
  }
  const first = () => parseAnswers(Buffer.concat(chunks))[0]
  await until(() => isClosed || first() !== undefined)
  const got = first()
  socket.destroy()
  return got && `${got.status} ${got.body.trim()}`
}

test('requests that are abandoned or broken anywhere leave nothing behind, and no POST is sent twice', async () => {
  const service = await startService()
  const postern = await startPostern({
    config: {
      upstreams: {
        backend: {
          targets: [service.origin, `http://127.0.0.1:${await freePort()}`],
          // A share is two of them.
          connections: 2,
          queueTimeoutMs: 150,
          breaker: { failures: 10_000 },
          outlier: { consecutiveBroken: 0 },
        },
      },
    },
    routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a test' }],
  })

  const paths = Array.from({ length: 400 }, (_, at) => `/r/${at}`)
  const mixedUp: string[] = []
  let served = 0
  await inParallel(paths, async (path) => {
    const got = await call(postern, path)
    if (got === `200 ${path}` || got === `413 ${path}`) served++
    else if (got?.startsWith('200')) mixedUp.push(`${path}: ${got}`)
  })

  expect(mixedUp).toEqual([])
  expect([...service.posts].filter(([, times]) => times > 1)).toEqual([])
  expect(served).toBeGreaterThan(50)

  // What is held now is held by these alone: two of each client, one target having refused.
  const held = new Set<ServerResponse>()
  service.answerWith((_, reply) => {
    held.add(reply)
    // The service may still end a connection from before: its GET is sent again on another.
    reply.on('close', () => held.delete(reply))
  })
  const clients = await Promise.all(
    ['127.0.0.9', '127.0.0.9', '127.0.0.9'].map((from) => open(postern, from)),
  )
  const refused: string[] = []
  for (const client of clients) {
    client.on('data', (chunk) => refused.push(String(chunk)))
    client.write(request('GET /held'))
  }
  // The third waits for its share, in vain.
  await until(() => held.size === 2 && refused.length > 0)
  expect(refused).toEqual([expect.stringContaining('HTTP/1.1 503 ')])
  for (const client of clients) client.destroy()
  service.answerWith(whenWhole)
  for (const from of ['127.0.0.9', '127.0.0.10', '127.0.0.11']) {
    expect((await postern.call('GET /after', { from })).status).toBe(200)
  }
  const text = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  const outstanding = [...text.matchAll(/^postern_upstream_outstanding\{.*\} (\d+)$/gm)]
  expect(outstanding.map(([, count]) => count)).toEqual(['0', '0'])
})

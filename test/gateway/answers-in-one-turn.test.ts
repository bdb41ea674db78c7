import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { exchange } from '../../src/gateway/exchange/exchange.ts'
import type { OpenExchange } from '../../src/gateway/exchange/open-exchanges.ts'
import type { Exchange } from '../../src/gateway/exchange/running-exchange.ts'
import { createUpstream, type Upstream } from '../../src/gateway/upstream/upstream.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { gatherCrowd, leaveCrowd } from '../support/crowd.ts'
import { until } from '../support/until.ts'

/* Between an answer that has come and its way to the client lies the end of the turn. */

beforeAll(gatherCrowd)
afterAll(leaveCrowd)

const connections = 8

function upstreamAt(port: number): Upstream {
  const upstream = createUpstream('backend', {
    targets: [`http://127.0.0.1:${port}`],
    host: 'target',
    balance: 'round-robin',
    connections,
    queueTimeoutMs: 5000,
    tunnels: 1,
    retries: 0,
    dnsSeconds: 0,
    connectTimeoutMs: 2000,
    headersTimeoutMs: 10_000,
    bodyTimeoutMs: 10_000,
    breaker: { failures: 3, openMs: 1000, maxOpenMs: 1000 },
  } as unknown as Parameters<typeof createUpstream>[1])
  onTestFinished(() => void upstream.close())
  return upstream
}

function partsOf(parts: Partial<Exchange> & Pick<Exchange, 'reply' | 'upstream'>): Exchange {
  const request = { method: 'GET', path: '/', host: undefined, headers: [] }
  return {
    request: { ...request, upload: undefined, upgrade: undefined },
    relayHeaders: () => ['Content-Length', '1'],
    takesTrailers: false,
    unread: { maxStallMs: 1000, busyStallMs: 1000 },
    carrier: undefined,
    token: undefined,
    upgrade: undefined,
    notes: {},
    ...parts,
  } as Exchange
}

test('a request has the place of one whose answer came in the same turn', async () => {
  const held: Socket[] = []
  const server = createSocketServer((socket) => void held.push(socket.on('data', () => {})))
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const upstream = upstreamAt((server.address() as AddressInfo).port)
  const outcomes: string[] = []
  let answered = 0
  const start = (onAnswer = () => {}) => {
    const reply = new ServerResponse(new IncomingMessage(new Socket()))
    const relayHeaders = () => {
      onAnswer()
      return ['Content-Length', '1']
    }
    exchange(partsOf({ reply, upstream, relayHeaders })).catch(() => {})
  }
  function comeLate(): void {
    // The last of those whose answers come together: others are read in the same turn.
    if (++answered === connections) queueMicrotask(() => outcomes.push(attempt(), attempt()))
  }
  function attempt(): string {
    try {
      start()
      return 'taken'
    } catch (error) {
      return String(error)
    }
  }

  for (let at = 0; at < 2 * connections; at++) start(comeLate)
  await until(() => held.length === connections)
  for (const socket of held) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx')
  await until(() => outcomes.length === 2)

  expect(outcomes).toEqual(['taken', 'taken'])
})

test('a client whose token ends before its answer has left is told so', async () => {
  const server = createServer((_, reply) => void reply.end('x')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const upstream = upstreamAt((server.address() as AddressInfo).port)
  let open: OpenExchange | undefined
  const ended = new Refusal('token-revoked')
  const front = createServer((_, reply) => {
    const parts = partsOf({
      reply,
      upstream,
      token: {} as Exchange['token'],
      openExchanges: {
        enter(entered) {
          open = entered
        },
        leave() {},
        close: async () => {},
      },
      relayHeaders() {
        queueMicrotask(() => open?.cut(ended))
        return ['Content-Length', '1']
      },
    })
    exchange(parts).catch((error: unknown) => {
      reply.end(error === ended ? 'ended' : String(error))
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const one of [server, front]) {
      one.closeAllConnections()
      one.close()
    }
  })
  await once(front, 'listening')

  const answer = await fetch(`http://127.0.0.1:${(front.address() as AddressInfo).port}`)

  expect(await answer.text()).toBe('ended')
  expect(upstream.targets()[0]?.outstanding()).toBe(0)
})

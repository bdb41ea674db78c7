import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Body } from '../../src/gateway/arrival/arrival.ts'
import { createClientConnections } from '../../src/http/connections/client-connections.ts'
import { createClientFaults } from '../../src/http/connections/client-faults.ts'
import { outcomes } from '../../src/http/ended-request.ts'
import { refusalEnvelopes } from '../../src/http/envelope.ts'
import type { Handling } from '../../src/http/handling.ts'
import { createOverload } from '../../src/http/port/overload.ts'
import { createPublicServer } from '../../src/http/public-server.ts'
import { createErrorReplies, createErrorResponses } from '../../src/http/reply-error.ts'
import { createUpgradeFinder } from '../../src/http/upgrades.ts'
import { createLog } from '../../src/log/log.ts'
import { createMessages } from '../../src/messages/messages.ts'
import { createConnectionMetrics } from '../../src/metrics/connection-metrics.ts'
import { createMetricRegistry } from '../../src/metrics/registry.ts'
import { createRequestMetrics } from '../../src/metrics/request-metrics.ts'

/** A request as one side has read it. */
interface ReadRequest {
  readonly line: string
  readonly headers: readonly string[]
  body: string
  /** Whether its end has come. */
  whole: boolean
}

/** What one side has made of a connection. */
interface Reading {
  readonly requests: readonly ReadRequest[]
  /** Whether it has read all that it wanted, and the connection is not to be read further. */
  readonly ended: boolean
}

const upgrades = ['websocket']
const limits = {
  headerBytes: 4096,
  headerCount: 20,
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
}

function recordInto(
  requests: ReadRequest[],
  of: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>,
) {
  const read: ReadRequest = {
    line: `${of.method} ${of.url}`,
    headers: [...of.rawHeaders],
    body: '',
    whole: false,
  }
  requests.push(read)
  return read
}

/** Reads all of the body; calls back at its end, and never if that does not come. */
function readInto(
  read: ReadRequest,
  body: Body | undefined,
  done: () => void = () => {},
  failed: (error: Error) => void = () => {},
): void {
  const whole = () => {
    read.whole = true
    done()
  }
  // Node brings no end of a body where there is no sign of one.
  if (body === undefined || !hasBody(read.headers)) {
    whole()
    return
  }
  body.on('error', failed)
  body.on('data', (chunk: Buffer) => {
    read.body += chunk.toString('latin1')
  })
  body.on('end', whole)
  // A request that waited for its turn may have a broken body by then; `request-body.ts` looks too.
  const { failure } = body
  if (failure !== undefined) setImmediate(() => failed(failure))
}

function hasBody(headers: readonly string[]): boolean {
  return headers.some(
    (name, at) => at % 2 === 0 && /^(content-length|transfer-encoding)$/i.test(name),
  )
}

/** How Node alone reads these bytes, all of them at once. */
async function startOracle() {
  const findUpgrade = createUpgradeFinder(upgrades)
  let requests: ReadRequest[] = []
  let ended = false
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    optimizeEmptyRequests: true,
    shouldUpgradeCallback(request: IncomingMessage) {
      if (findUpgrade(request) !== undefined) return true
      passedOver.add(request)
      return false
    },
  })
  const passedOver = new WeakSet<IncomingMessage>()
  let isLast = false
  server.maxHeadersCount = limits.headerCount
  function take(request: IncomingMessage, _: ServerResponse) {
    // A gateway closes the connection behind this one.
    if (isLast) return
    if (passedOver.has(request)) {
      isLast = true
      ended = true
    }
    readInto(recordInto(requests, request), request)
  }
  server.on('request', take).on('checkContinue', take).on('checkExpectation', take)
  server.on('upgrade', (request, socket) => {
    if (!isLast) recordInto(requests, request).whole = true
    ended = true
    socket.destroy()
  })
  server.on('connect', (_, socket) => {
    ended = true
    socket.destroy()
  })
  server.on('clientError', (_, socket) => {
    ended = true
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    async read(bytes: Buffer): Promise<Reading> {
      requests = []
      ended = false
      isLast = false
      const arrived = once(server, 'connection')
      const client = connect(port, '127.0.0.1')
      client.on('error', () => {})
      client.write(bytes)
      const [socket] = await arrived
      let seen = 0
      socket.on('data', (chunk: Buffer) => {
        seen += chunk.length
      })
      while (seen < bytes.length && !socket.destroyed) await nextTurn()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      ended ||= socket.destroyed
      client.destroy()
      socket.destroy()
      return { requests, ended }
    },
    close: () => void server.close(),
  }
}

/** The public port of a gateway, with something behind it that records what it is given. */
async function startReader(plainRequests: boolean) {
  const connections = new Map<number, ReadRequest[]>()
  const log = createLog('info', new Writable({ write: (_, __, done) => done() }))
  const registry = createMetricRegistry()
  const faults = createClientFaults(log, createConnectionMetrics(registry))
  const clients = createClientConnections({ most: 10_000 }, faults)
  const overload = createOverload({ loopDelayMs: 60_000, inFlight: 10_000 }, log)
  const messages = createMessages({ language: 'en', messages: {} }, { origins: [] })
  const envelopes = refusalEnvelopes({ status: 'envelope', notPermittedCode: 403 })
  const handling: Handling = {
    messages,
    replyError: createErrorReplies(createErrorResponses(envelopes, messages)),
    stallTimeoutMs: 60_000,
    pass(arrival, reply) {
      const port = reply.socket?.remotePort ?? 0
      const requests = connections.get(port) ?? []
      connections.set(port, requests)
      const { method, target: url, rawHeaders } = arrival
      const read = recordInto(requests, { method, url, rawHeaders: [...rawHeaders] })
      // Without it, Node closes the connection behind the response.
      if (rawHeaders.some((value) => value === '100-continue')) reply.writeContinue()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      reply.once('close', resolve)
      const answer = () => {
        reply.writeHead(200, ['Content-Length', '0'])
        reply.end()
        if (reply.closed) resolve()
      }
      const isEarly = url.startsWith('/early')
      const isSlow = url.startsWith('/slow')
      const whole = () => {
        if (isSlow) setTimeout(answer, 2)
        else if (!isEarly) answer()
      }
      readInto(read, arrival.body, whole, reject)
      if (isEarly) answer()
      return promise
    },
  }
  const server = createPublicServer({
    http2: { enabled: false, plain: false, maxStreams: 100 },
    log,
    faults,
    clients,
    limits,
    upgrades,
    overload,
    plainRequests,
    tracing: undefined,
    metrics: createRequestMetrics(registry, { outcomes, limitedRoutes: [], upstreams: [] }),
    current: () => handling,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    /** Sends these one after the other, until as much was read as is expected. */
    async read(pieces: readonly Buffer[], expected: Reading) {
      const client = connect(port, '127.0.0.1').setNoDelay()
      let answered = ''
      let closed = false
      client.on('error', () => {})
      client.on('close', () => {
        closed = true
      })
      client.on('data', (chunk) => {
        answered += chunk.toString('latin1')
      })
      await once(client, 'connect')
      const { localPort = 0 } = client
      const requests: ReadRequest[] = []
      connections.set(localPort, requests)
      for (const piece of pieces) {
        client.write(piece)
        await nextTurn()
        await nextTurn()
      }
      const whole = expected.requests.filter((request) => request.whole).length
      const deadline = performance.now() + 5000
      const isDone = () =>
        requests.length >= expected.requests.length &&
        requests.filter((request) => request.whole).length >= whole &&
        (!expected.ended || closed) &&
        statuses(answered).filter((status) => status === 200).length >= whole
      while (!isDone() && performance.now() < deadline) await pause(1)
      for (let turn = 0; turn < 4; turn++) await nextTurn()
      client.destroy()
      return { requests, statuses: statuses(answered), closed }
    },
    close() {
      overload.close()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** No answer here has a body that could be taken for the line of another. */
function statuses(answered: string): number[] {
  return [...answered.matchAll(/HTTP\/1\.1 (\d+) /g)]
    .map(([, status]) => Number(status))
    .filter((status) => status >= 200)
}

/** The two, to compare how they read the same bytes. */
export async function startBoth(plainRequests: boolean) {
  const oracle = await startOracle()
  const reader = await startReader(plainRequests)
  return {
    /** Fails when we read another request than Node does, or do not respond to one. */
    async compare(bytes: Buffer, pieces: readonly Buffer[]): Promise<void> {
      const expected = await oracle.read(bytes)
      const read = await reader.read(pieces, expected)
      expect(read.requests).toEqual(expected.requests)
      const answered = expected.requests.filter(
        ({ whole, line }) => whole || line.includes(' /early/'),
      )
      expect(read.statuses.filter((status) => status === 200)).toHaveLength(answered.length)
      // What was rejected is rejected once, and last.
      expect(read.statuses.findIndex((status) => status !== 200)).toBeOneOf([-1, answered.length])
      expect(read.statuses.length - answered.length).toBeLessThanOrEqual(1)
      if (expected.ended) expect(read.closed).toBe(true)
    },
    close() {
      oracle.close()
      reader.close()
    },
  }
}

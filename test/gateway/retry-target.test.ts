import { expect, onTestFinished, test } from 'vitest'
import { type Retryable, retryTarget } from '../../src/gateway/exchange/retry-target.ts'
import { createUpstream } from '../../src/gateway/upstream/upstream.ts'
import { WireError } from '../../src/wire/wire-error.ts'
import { plainGet } from '../support/wire-call.ts'

/** A request to an upstream of so many targets, none of which is ever called here. */
function requestTo(count: number, method: string): Retryable {
  const upstream = createUpstream('backend', {
    targets: Array.from({ length: count }, (_, at) => `http://127.0.0.1:${at + 1}`),
    host: 'target',
    keepAlive: true,
    requestBufferBytes: 65_536,
    connections: 10,
    maxShare: 100,
    balance: 'round-robin',
    queueTimeoutMs: 5000,
    tunnels: 1,
    retries: 0,
    dnsSeconds: 0,
    connectTimeoutMs: 1000,
    headersTimeoutMs: 1000,
    bodyTimeoutMs: 1000,
  })
  onTestFinished(upstream.close)
  return {
    parts: {
      request: { ...plainGet, method },
      upstream,
      upgrade: undefined,
      sticky: undefined,
      notes: {},
    },
    target: upstream.choose(false),
    responding: false,
    tried: undefined,
    stale: undefined,
    counted: 0,
  }
}

/** How often it is retried if every attempt fails in this way, without retries that count. */
function retriesOf(it: Retryable, error: WireError): number {
  let retries = 0
  while (retries < 100 && retryTarget(it, error) !== undefined) {
    retries++
    it.parts.notes.retries = retries
  }
  return retries
}

const foundClosed = new WireError('closed', 'closed', { sent: false, heard: false, reused: true })
const refused = new WireError('ECONNREFUSED', 'refused', {
  ...{ sent: false, heard: false, reused: false },
})
const neverReady = new WireError('ECONNRESET', 'reset in the handshake of TLS', {
  ...{ sent: false, heard: false, reused: false },
})
const refusedStream = new WireError('refused-stream', 'refused', {
  ...{ sent: false, heard: false, reused: true },
})
const crossed = new WireError('closed', 'closed', { sent: true, heard: false, reused: true })

test.each([
  ['GET', 1],
  ['POST', 1],
  ['POST', 20],
])(
  'a %s is sent ten times more, to %i targets that close connections before it',
  (method, count) => {
    expect(retriesOf(requestTo(count, method), foundClosed)).toBe(10)
  },
)

test('a request goes to three more targets when connections are refused', () => {
  expect(retriesOf(requestTo(20, 'POST'), refused)).toBe(3)
  expect(retriesOf(requestTo(1, 'POST'), refused)).toBe(0)
})

test('a POST that crossed the close of its connection is not sent again', () => {
  expect(retriesOf(requestTo(20, 'POST'), crossed)).toBe(0)
})

// Each attempt costs a target that cannot take more another handshake, another stream, or its process.
test.each([
  ['connections that break before they are ready', 'POST', neverReady, 20],
  ['refused streams', 'POST', refusedStream, 20],
  ['refused streams of the only target', 'POST', refusedStream, 1],
  ['connections that close after the request is sent', 'GET', crossed, 20],
  ['the same, of the only target', 'GET', crossed, 1],
])('after %s, a %s is sent three times more', (_, method, error, count) => {
  expect(retriesOf(requestTo(count, method), error)).toBe(3)
})

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { BodyMemory } from '../../src/gateway/exchange/body-memory.ts'
import { type RequestBody, requestBody } from '../../src/gateway/exchange/request-body.ts'
import { createTransferRates } from '../../src/gateway/exchange/transfer-rates.ts'
import { request } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

/** A body of which ten bytes of twenty have been read ahead, and the memory that it takes. */
async function gather({ most = 65_536, maxBytes = 1000, minBytesPerSecond = 0 } = {}) {
  const server = createServer()
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  client.on('error', () => {})
  client.write(request('POST /', ['Content-Length: 20'], 'x'.repeat(10)))
  const [incoming] = (await once(server, 'request')) as [IncomingMessage]

  let taken = 0
  const memory: BodyMemory = {
    take(bytes) {
      taken += bytes
    },
    give(bytes) {
      taken -= bytes
    },
    isFull: () => false,
  }
  const rates = createTransferRates({ minBytesPerSecond, minRateWindowMs: 100 })
  onTestFinished(rates.close)
  const body = requestBody(incoming, { maxBytes, rates, memory }, { length: 20, isCall: false })
  const heard: string[] = []
  body.gather(most, {
    ready: () => heard.push('ready'),
    failed: (error) => heard.push(error.message),
  })
  await until(() => taken > 0 || heard.length > 0)
  return { client, body, heard, taken: () => taken }
}

function send(body: RequestBody): string[] {
  const sent: string[] = []
  body.start({
    data: (chunk) => sent.push(String(chunk)) > 0,
    end: () => sent.push('end'),
    fail: (error) => sent.push(error.message),
  })
  return sent
}

test('what was read ahead is given back when the body is sent', async () => {
  const { client, body, heard, taken } = await gather()
  client.write('y'.repeat(10))
  await until(() => heard.length > 0)
  expect([heard, taken() > 20]).toEqual([['ready'], true])

  const sent = send(body)

  expect(taken()).toBe(0)
  await until(() => sent.at(-1) === 'end')
  expect(sent.join('')).toBe(`${'x'.repeat(10)}${'y'.repeat(10)}end`)
  body.stop()
  expect(taken()).toBe(0)
})

test('what was read ahead is given back when its client leaves', async () => {
  const { client, heard, taken } = await gather()

  client.destroy()

  await until(() => taken() === 0)
  expect(heard).toEqual(['client closed the connection before the end of its body'])
})

test('what was read ahead is given back when its client leaves while it waits for a connection', async () => {
  const { client, body, heard, taken } = await gather({ most: 1 })
  expect([heard, taken() > 0]).toEqual([['ready'], true])

  client.destroy()

  await until(() => taken() === 0)
  expect(send(body)).toEqual(['client closed the connection before the end of its body'])
  expect(taken()).toBe(0)
})

test('what was read ahead is given back, once, when the request ends before it is sent', async () => {
  const { client, body, taken } = await gather({ most: 1 })

  body.stop()
  body.stop()
  client.write('y'.repeat(10))
  client.destroy()

  expect(taken()).toBe(0)
})

test.each([
  ['too long', { maxBytes: 15 }, 'body-too-large', 'y'.repeat(10)],
  ['too slow', { minBytesPerSecond: 1000 }, 'body-too-slow', ''],
])('what was read ahead is given back when the body is %s', async (_, limits, why, rest) => {
  const { client, heard, taken } = await gather(limits)

  client.write(rest)

  await until(() => heard.length > 0)
  expect([heard, taken()]).toEqual([[why], 0])
})

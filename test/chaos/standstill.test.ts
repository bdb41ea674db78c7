import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectFrames, headers, requestFields } from '../support/frame-client.ts'
import { request } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const token = `Bearer ${tokenOf('admin')}`
const get = request('GET /api/a', [`Authorization: ${token}`])
const chunked = request(
  'POST /api/a',
  [`Authorization: ${token}`, 'Transfer-Encoding: chunked'],
  '1\r\na\r\n0\r\n\r\n',
)
const frame = (stream: number) =>
  headers(stream, requestFields('GET /api/a', [['authorization', token]]))

/** Beyond every timeout, the second that is granted after it, and the next check. */
const standsStillMs = 3000

/** Sends, then stands still as a paused container does, and a process that gets no CPU. */
async function standStillAfter(send: () => void): Promise<void> {
  // Here timers are next; anywhere else, what has arrived would be read first.
  await turn()
  send()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, standsStillMs)
}

async function start(h2c: boolean): Promise<number> {
  const { publicPort } = await startPostern({
    config: {
      application: { h2c },
      limits: { headersTimeoutMs: 500, keepAliveTimeoutMs: 500 },
    },
  })
  return publicPort
}

/** The status of each response on a connection. */
async function open(port: number): Promise<{ send(text: string): void; statuses(): string[] }> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('error', ({ message }) => {
    text += `HTTP/1.1 ${message} `
  })
  socket.on('data', (bytes) => {
    text += bytes
  })
  await once(socket, 'connect')
  return {
    send: (bytes) => void socket.write(bytes),
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (.+?) /g)].map(([, status]) => status ?? ''),
  }
}

describe('a request that arrives while the process stands still is answered, not timed out', () => {
  test.each([
    ['by the plain request reader', get],
    ["by Node's parser", chunked],
  ])('on an idle connection that is read %s', async (_, first) => {
    const client = await open(await start(false))
    client.send(first)
    await until(() => client.statuses().length === 1)
    await standStillAfter(() => client.send(get))

    await until(() => client.statuses().length === 2)
    expect(client.statuses()).toEqual(['200', '200'])
  })

  test.each([
    ['that knows HTTP/1.1 only', false],
    ['that knows HTTP/2 too', true],
  ])('also on a new connection to a port %s', async (_, h2c) => {
    const client = await open(await start(h2c))
    // Until it has been accepted: an earlier standstill would prove nothing.
    await pause(100)
    await standStillAfter(() => client.send(get))

    await until(() => client.statuses().length === 1)
    expect(client.statuses()).toEqual(['200'])
  })

  test('on an idle connection of HTTP/2', async () => {
    const client = await connectFrames(await start(true))
    client.send(frame(1))
    expect(await client.fields(1)).toMatchObject({ ':status': '200' })
    await standStillAfter(() => client.send(frame(3)))

    expect(await client.fields(3)).toMatchObject({ ':status': '200' })
  })

  test('on a new connection of HTTP/2', async () => {
    const client = await connectFrames(await start(true))
    await pause(100)
    await standStillAfter(() => client.send(frame(1)))

    expect(await client.fields(1)).toMatchObject({ ':status': '200' })
  })
})

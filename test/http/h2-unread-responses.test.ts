import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { defaultWindow, FrameType, maxWindow, numberFrame, Setting } from '../../src/h2/frames.ts'
import { connectFrames, type FrameClient, headers, requestFields } from '../support/frame-client.ts'
import { openClient } from '../support/open-client.ts'
import { request } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const authorization = `Bearer ${tokenOf('admin')}`
const get = (id: number, path: string) =>
  headers(id, requestFields(`GET ${path}`, [['authorization', authorization]]))

const block = Buffer.alloc(65_536)

/** Much more than a kernel keeps for a client that does not read. */
function sendLarge(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n')
  socket.on('drain', more)
  more()
}

/** `/api/large` has a response without end, `/api/empty` one without a body. */
async function start(config: Sections): Promise<TestPostern> {
  const postern = await startPostern({ config: { ...config, application: { h2c: true } } })
  postern.upstream.answerWith((socket, { target }) => {
    if (target === '/api/large') sendLarge(socket)
    else if (target === '/api/empty') socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    else socket.write(ok)
  })
  return postern
}

/** Opens every window, so that only the socket keeps the response back, and does not read. */
async function leaveLargeUnread(postern: TestPostern): Promise<FrameClient> {
  const client = await connectFrames(postern.publicPort, [[Setting.initialWindowSize, maxWindow]])
  client.send(
    numberFrame(FrameType.windowUpdate, 0, maxWindow - defaultWindow),
    get(1, '/api/large'),
  )
  await client.next(FrameType.data, 1)
  client.socket.pause()
  return client
}

test('a response head that waits for a client that does not read is timed out', async () => {
  const postern = await start({ limits: { stallTimeoutMs: 300 } })
  const client = await leaveLargeUnread(postern)
  const hasCut = async () =>
    /_closed_total\{reason="unread-response"\} [1-9]/.test(
      await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text(),
    )
  // The heads of the first ones may leave before the buffers are full.
  let id = 1
  await until(async () => {
    id += 2
    client.send(get(id, '/api/empty'))
    await pause(100)
    return hasCut()
  })
  client.socket.resume()

  const waited = () =>
    client.frames.find(
      ({ type, streamId }) =>
        type === FrameType.rstStream && streamId > 1 && client.blocks(streamId).length === 0,
    )
  await until(() => waited() !== undefined)
  expect(waited()?.payload.readUInt32BE(0)).toBe(ErrorCode.internalError)
  client.send(get(id + 2, '/api/small'))
  expect(await client.fields(id + 2)).toMatchObject({ ':status': '200' })
})

describe('a client that does not read', () => {
  const openers: [string, (postern: TestPostern) => Promise<Socket>][] = [
    [
      'HTTP/1.1',
      async ({ publicPort }) => {
        const client = await openClient(publicPort, '')
        client.socket.once('data', () => client.socket.pause())
        client.socket.write(request('GET /api/large', [`Authorization: ${authorization}`]))
        await client.got('HTTP/1.1 200')
        return client.socket
      },
    ],
    ['HTTP/2', async (postern) => (await leaveLargeUnread(postern)).socket],
  ]
  test.each(openers)(
    'is a request in progress while its response comes, over %s',
    async (_, open) => {
      const postern = await start({ overload: { inFlight: 1 } })
      const small = async () => (await postern.call('GET /api/small', { as: 'admin' })).status
      const socket = await open(postern)

      expect(await small()).toBe(503)
      socket.destroy()
      await until(async () => (await small()) === 200)
    },
  )

  test('is none when the response is complete, although it has not left', async () => {
    const postern = await start({ overload: { inFlight: 1 } })
    const client = await connectFrames(postern.publicPort, [[Setting.initialWindowSize, 0]])
    client.send(get(1, '/api/small'))
    await client.next(FrameType.headers, 1)

    const { status } = await postern.call('GET /api/small', { as: 'admin' })
    expect(status).toBe(200)
    client.send(numberFrame(FrameType.windowUpdate, 1, 1000))
    expect((await client.next(FrameType.data, 1)).payload.toString()).toBe('{"ok":true}')
  })
})

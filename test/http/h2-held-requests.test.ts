import { expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const
const start = (config: Sections = {}) =>
  startPostern({ config: { ...config, application: { h2c: true } } })

test.each([
  ['our own endpoint', 'POST /api/v1/login'],
  ['a service of HTTP/1.1', 'POST /api/a'],
])('the type of gRPC is no way around the timeout of a body for %s', async (_, line) => {
  const postern = await start({ limits: { headersTimeoutMs: 500, requestTimeoutMs: 500 } })
  const client = await connectFrames(postern.publicPort)
  const grpc = ['content-type', 'application/grpc'] as const
  client.send(headers(1, requestFields(line, [bearer, grpc]), { body: true }), data(1, 'x', false))

  expect(await client.fields(1)).toMatchObject({ ':status': '200' })
  await until(() => postern.logText().includes('"outcome":"body-too-slow"'))
})

test('a response without a body is complete, and its connection is used again', async () => {
  const postern = await start()
  let connections = 0
  postern.upstream.answerWith((socket) => {
    connections = Math.max(connections, postern.upstream.connections())
    socket.write('HTTP/1.1 204 No Content\r\n\r\n')
  })
  const client = await connectFrames(postern.publicPort)
  for (let id = 1; id < 20; id += 2) {
    client.send(headers(id, requestFields('GET /api/a', [bearer])))
    expect(await client.fields(id)).toMatchObject({ ':status': '204' })
  }
  await until(() => postern.logText().split('"outcome":"passed"').length === 11)
  expect(connections).toBe(1)
  expect(postern.logText()).not.toContain('cut-by-client')
})

test('one address has no more requests in progress than it may have connections', async () => {
  const postern = await start({ limits: { connectionsPerAddress: 3 } })
  const waiting: (() => void)[] = []
  postern.upstream.answerWith((socket) => {
    waiting.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  })
  const client = await connectFrames(postern.publicPort)
  client.send(...[1, 3, 5, 7].map((id) => headers(id, requestFields('GET /api/a', [bearer]))))

  expect((await client.next(FrameType.rstStream, 7)).payload.readUInt32BE(0)).toBe(
    ErrorCode.refusedStream,
  )
  await until(() => waiting.length === 3)
  for (const answer of waiting) answer()
  await Promise.all([1, 3, 5].map((id) => client.fields(id)))
  client.send(headers(9, requestFields('GET /api/a', [bearer])))
  await until(() => waiting.length === 4)
})

test('a shutdown waits for a client that reads slowly', async () => {
  const postern = await start({ shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 60_000 } })
  const body = Buffer.alloc(1_000_000, 'x')
  postern.upstream.answerWith((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
  })
  const client = await connectFrames(postern.publicPort, [[0x4, 2 ** 30]])
  // A window for the whole connection.
  client.send(Buffer.from([0, 0, 4, FrameType.windowUpdate, 0, 0, 0, 0, 0, 0x3f, 0, 0, 0]))
  client.send(headers(1, requestFields('GET /api/a', [bearer])))
  await client.fields(1)
  client.socket.pause()
  const closed = postern.close()
  for (let pauses = 0; pauses < 5; pauses++) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    client.socket.resume()
    await new Promise((resolve) => setTimeout(resolve, 1))
    client.socket.pause()
  }
  client.socket.resume()
  await client.closed()
  await closed
  const bytes = client.frames
    .filter(({ type }) => type === FrameType.data)
    .reduce((sum, { payload }) => sum + payload.length, 0)
  expect(bytes).toBe(body.length)
})

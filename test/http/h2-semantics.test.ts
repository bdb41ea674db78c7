import { expect, test } from 'vitest'
import { Flag, FrameType } from '../../src/h2/frames.ts'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const

const responses: Readonly<Record<string, string>> = {
  '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n',
  '/unchanged': 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
  '/empty': 'HTTP/1.1 204 No Content\r\n\r\n',
  '/close': 'HTTP/1.1 200 OK\r\nConnection: close\r\nKeep-Alive: timeout=5\r\n\r\nto the end',
  '/body': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Upper: A\r\n\r\nbody',
}

async function start() {
  const postern = await startPostern({ config: { application: { h2c: true } } })
  postern.upstream.answerWith((socket, { target }) => {
    socket.write(responses[target] ?? '')
    if (target === '/close') socket.end()
  })
  return { postern, client: await connectFrames(postern.publicPort) }
}

test('HEAD, 204 and 304 end with their head, and keep the length that they announce', async () => {
  const { client } = await start()
  client.send(
    headers(1, requestFields('HEAD /head', [bearer])),
    headers(3, requestFields('GET /unchanged', [bearer])),
    headers(5, requestFields('GET /empty', [bearer])),
  )

  expect(await client.fields(1)).toMatchObject({ ':status': '200', 'content-length': '1000' })
  expect(await client.fields(3)).toMatchObject({ ':status': '304', etag: '"a"' })
  expect(await client.fields(5)).toMatchObject({ ':status': '204' })
  const ended = (id: number) =>
    client.frames.some(({ streamId, flags }) => streamId === id && (flags & Flag.endStream) !== 0)
  await until(() => [1, 3, 5].every(ended))
  const bytes = client.frames
    .filter(({ type }) => type === FrameType.data)
    .map(({ payload }) => payload.length)
  expect(bytes.every((length) => length === 0)).toBe(true)
})

test('headers of a connection of HTTP/1.1 do not pass, and names are in lower case', async () => {
  const { client } = await start()
  client.send(
    headers(1, requestFields('GET /close', [bearer])),
    headers(3, requestFields('GET /body', [bearer])),
  )

  const closing = await client.fields(1)
  expect(Object.keys(closing)).not.toContain('connection')
  expect(Object.keys(closing)).not.toContain('keep-alive')
  expect((await client.next(FrameType.data, 1)).payload.toString()).toBe('to the end')
  expect(await client.fields(3)).toMatchObject({ 'x-upper': 'A', 'content-length': '4' })
})

test('a client that expects 100 Continue gets it before its body is sent', async () => {
  const { client, postern } = await start()
  const fields = requestFields('POST /body', [
    bearer,
    ['expect', '100-continue'],
    ['content-length', '3'],
  ])
  client.send(headers(1, fields, { body: true }))
  expect(await client.fields(1)).toEqual({ ':status': '100' })

  client.send(data(1, 'abc', true))
  await until(() => client.blocks(1).length === 2)
  expect(client.blocks(1)[1]).toContainEqual([':status', '200'])
  expect(postern.upstream.requests[0]?.body).toBe('abc')
})

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType, numberFrame } from '../../src/h2/frames.ts'
import { startEndlessEvents } from '../support/endless-events.ts'
import {
  connectFrames,
  data,
  type FrameClient,
  headers,
  requestFields,
} from '../support/frame-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const startStreaming = (now?: () => number) =>
  startEndlessEvents({
    config: { application: { h2c: true }, revocation: { sweepMs: 50 } },
    routes: [
      { path: '/', upstream: 'backend' },
      {
        path: '/brief',
        upstream: 'backend',
        access: 'public',
        reason: 'for everybody',
        timeouts: { totalMs: 500 },
      },
    ],
    ...(now && { now }),
  })

const ofStream = (client: FrameClient, id: number, type: number) =>
  client.frames.filter((frame) => frame.streamId === id && frame.type === type)

/** Opens streams of events on one connection, each with its token, and waits until something has come on each. */
async function openStreams(
  postern: TestPostern,
  ...requests: readonly (readonly [target: string, token: string])[]
): Promise<FrameClient> {
  const client = await connectFrames(postern.publicPort)
  const ids = requests.map((_, at) => 2 * at + 1)
  requests.forEach(([target, token], at) => {
    const fields = requestFields(`GET ${target}`, [['authorization', `Bearer ${token}`]])
    client.send(headers(2 * at + 1, fields))
  })
  await until(() => ids.every((id) => ofStream(client, id, FrameType.data).length > 0))
  return client
}

/** The stream ends with a reset, so that it does not look complete, and the other one goes on. */
async function expectCut(client: FrameClient, cut: number, other: number): Promise<void> {
  const { payload } = await client.next(FrameType.rstStream, cut)
  expect(payload.readUInt32BE(0)).toBe(ErrorCode.internalError)
  expect(ofStream(client, cut, FrameType.data).every(({ flags }) => flags === 0)).toBe(true)
  const { length } = ofStream(client, other, FrameType.data)
  await until(() => ofStream(client, other, FrameType.data).length > length + 5)
  expect(ofStream(client, other, FrameType.rstStream)).toEqual([])
}

const events = '/api/v1/public/events'

describe('an open stream of HTTP/2', () => {
  test('is cut when its token is revoked', async () => {
    const { postern, upstream } = await startStreaming()
    const token = tokenOf('editor')
    const client = await openStreams(postern, [events, token], [events, tokenOf('editor')])

    await postern.call('POST /api/v1/logout', { token, body: '' })

    await expectCut(client, 1, 3)
    await until(() => upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-token"'))
  })

  test('is cut when its token expires', async () => {
    let ahead = 0
    const { postern, upstream } = await startStreaming(() => Date.now() / 1000 + ahead)
    const brief = tokenOf('editor', { exp: nowSeconds() + 600 })
    const client = await openStreams(postern, [events, brief], [events, tokenOf('editor')])

    ahead = 601

    await expectCut(client, 1, 3)
    await until(() => upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-token"'))
  })

  test('is cut when a new policy no longer allows it', async () => {
    const { postern, upstream } = await startStreaming()
    const token = tokenOf('editor')
    const client = await openStreams(postern, [events, token], ['/api/v1/articles/7', token])

    await writeFile(
      join(postern.policyDirectory, 'policy.csv'),
      'p, editor, /api/v1/articles/:id, GET\n',
    )

    await expectCut(client, 1, 3)
    await until(() => upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-policy"'))
  })

  test('is cut at the total timeout of its route', async () => {
    const { postern, upstream } = await startStreaming()
    const token = tokenOf('editor')
    const client = await openStreams(postern, ['/brief/events', token], [events, token])

    await expectCut(client, 1, 3)
    await until(() => upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-gateway"'))
  })

  test('that its client resets is aborted at the upstream', async () => {
    const { postern, upstream } = await startStreaming()
    const token = tokenOf('editor')
    const client = await openStreams(postern, [events, token], [events, token])

    client.send(numberFrame(FrameType.rstStream, 1, ErrorCode.cancel))

    await until(() => upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-client"'))
    const { length } = ofStream(client, 3, FrameType.data)
    await until(() => ofStream(client, 3, FrameType.data).length > length + 5)
  })

  test('that its client resets before the response, or within its body, is aborted too', async () => {
    const postern = await startPostern({ config: { application: { h2c: true } } })
    postern.upstream.answerWith(() => {})
    const client = await connectFrames(postern.publicPort)
    const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const
    client.send(
      headers(1, requestFields('GET /api/v1/a', [bearer])),
      headers(3, requestFields('POST /api/v1/a', [bearer]), { body: true }),
      data(3, 'a'.repeat(16_000), false),
    )
    await until(() => postern.upstream.requests.length === 1)

    client.send(
      numberFrame(FrameType.rstStream, 1, ErrorCode.cancel),
      numberFrame(FrameType.rstStream, 3, ErrorCode.cancel),
    )

    const cuts = () => postern.logText().split('"outcome":"cut-by-client"').length - 1
    await until(() => cuts() === 2)
    await until(() => postern.upstream.connections() === 0)
    expect(postern.logText().match(/"status":499/g)).toHaveLength(2)
    // A body that was never complete never looks so.
    expect(postern.upstream.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('is cut with all others when the connection closes', async () => {
    const { postern, upstream } = await startStreaming()
    const token = tokenOf('editor')
    const client = await openStreams(postern, [events, token], [events, token])

    client.socket.destroy()

    await until(() => upstream.cut === 2)
    await until(() => postern.logText().split('"outcome":"cut-by-client"').length === 3)
  })
})

test('a client that resets its stream in the middle of a body is no fault of the service', async () => {
  const postern = await startPostern({
    config: { application: { h2c: true } },
    routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a test' }],
  })
  const count = 60

  for (let at = 0; at < count; at++) {
    const session = connect(`http://127.0.0.1:${postern.publicPort}`)
    session.on('error', () => {})
    const stream = session.request({
      ':method': 'POST',
      ':path': '/upload',
      'content-length': '10',
    })
    stream.on('error', () => {})
    stream.write('12345')
    await pause(at % 4)
    stream.close(ErrorCode.cancel)
    await once(stream, 'close')
    session.destroy()
  }

  const outcomes = () =>
    [...postern.logText().matchAll(/"outcome":"([^"]*)"/g)].map(([, one]) => one)
  await until(() => postern.logText().includes('"path":"/upload"'))
  await pause(200)
  expect(new Set(outcomes())).toEqual(new Set(['cut-by-client']))
})

import { describe, expect, onTestFinished, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType, preface, settingsFrame } from '../../src/h2/frames.ts'
import { Session } from '../../src/h2/session.ts'
import { StreamBody } from '../../src/http/h2/stream-body.ts'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { openClient } from '../support/open-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const
const get = (id: number, path = '/api/a') => headers(id, requestFields(`GET ${path}`, [bearer]))

const start = (config: Sections = {}) =>
  startPostern({ config: { ...config, application: { h2c: true, ...config['application'] } } })

const metricsOf = async ({ opsPort }: TestPostern) =>
  (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()

/** Waits until the metric has this line. */
const counted = (postern: TestPostern, line: string) =>
  until(async () => (await metricsOf(postern)).includes(`\n${line}\n`))

describe('a connection on a port with h2c', () => {
  test.each([
    ['nothing', ''],
    ['the first bytes of the preface', 'PR'],
  ])('that sends %s gets 408 in time, as one of HTTP/1.1 does', async (_, bytes) => {
    const postern = await start({ limits: { headersTimeoutMs: 300 } })
    const client = await openClient(postern.publicPort, bytes)

    await until(client.closed)
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 /)
    await counted(postern, 'postern_requests_rejected_total{reason="timeout"} 1')
  })

  test('that sends only the preface is closed in time', async () => {
    const postern = await start({ limits: { headersTimeoutMs: 300 } })
    const client = await connectFrames(postern.publicPort)

    await client.closed()
    await counted(postern, 'postern_requests_rejected_total{reason="timeout"} 1')
  })

  test('still speaks HTTP/1.1, in any pieces', async () => {
    const postern = await start()
    const client = await openClient(postern.publicPort, 'P')
    await until(async () => (await metricsOf(postern)).includes('state="idle"} 1'))
    const length = 'Content-Length: 0'
    client.socket.write(
      `OST /api/a HTTP/1.1\r\nHost: a\r\n${length}\r\nAuthorization: ${bearer[1]}\r\n\r\n`,
    )
    await client.got('{"ok":true}')
  })

  test('goes idle, and makes room for a new one', async () => {
    const postern = await start({ limits: { connections: 2 } })
    const [first, second] = [
      await connectFrames(postern.publicPort),
      await connectFrames(postern.publicPort),
    ]
    postern.upstream.answerWith((socket, { target }) => {
      if (target === '/api/a') socket.write(ok)
    })
    first.send(get(1))
    second.send(get(1, '/api/waits'))
    expect(await first.fields(1)).toMatchObject({ ':status': '200' })
    await until(() => postern.upstream.requests.length === 2)

    // A connection that has just become idle is not evicted, so the first attempts are rejected.
    await until(async () => {
      const third = await openClient(postern.publicPort, '').catch(() => undefined)
      await until(() => first.isClosed || third?.closed() !== false)
      return first.isClosed
    })

    expect(second.isClosed).toBe(false)
    await counted(postern, 'postern_connections_closed_total{reason="connections"} 1')
  })
})

describe('streams of one connection', () => {
  test('above the limit are refused, and counted', async () => {
    const postern = await start({ limits: { streamsPerConnection: 2 } })
    const answers: (() => void)[] = []
    postern.upstream.answerWith((socket) => void answers.push(() => socket.write(ok)))
    const client = await connectFrames(postern.publicPort)
    client.send(get(1), get(3), get(5))

    const { payload } = await client.next(FrameType.rstStream, 5)
    expect(payload.readUInt32BE(0)).toBe(ErrorCode.refusedStream)
    await counted(postern, 'postern_requests_rejected_total{reason="refused"} 1')
    expect(postern.logText()).toContain('"reason":"refused"')
    await until(() => answers.length === 2)
    for (const answer of answers) answer()
    expect((await client.fields(1))[':status']).toBe('200')
    expect((await client.fields(3))[':status']).toBe('200')
    client.send(get(7))
    await until(() => answers.length === 3)
    answers[2]?.()
    expect((await client.fields(7))[':status']).toBe('200')
  })

  test('cannot take all connections to an upstream from another client', async () => {
    const upstream = await startRecordingUpstream()
    onTestFinished(upstream.close)
    const postern = await startPostern({
      config: {
        application: { h2c: true },
        upstreams: {
          backend: { targets: [upstream.origin], connections: 4, maxShare: 50 },
        },
      },
    })
    upstream.answerWith((socket, { target }) => {
      if (target === '/api/good') socket.write(ok)
    })
    const hog = await connectFrames(postern.publicPort)
    hog.send(...Array.from({ length: 100 }, (_, at) => get(2 * at + 1, '/api/hangs')))
    await until(() => upstream.requests.length === 2)

    const other = await connectFrames(postern.publicPort)
    const token = tokenOf('admin', { identity: 7 })
    const fields = [['authorization', `Bearer ${token}`]] as const
    other.send(headers(1, requestFields('GET /api/good', fields)))

    expect((await other.fields(1))[':status']).toBe('200')
    expect(upstream.requests).toHaveLength(3)
  })

  test('with a slow body are refused each for itself', async () => {
    const postern = await start({ limits: { minBytesPerSecond: 1000, minRateWindowMs: 200 } })
    const client = await connectFrames(postern.publicPort)
    const post = requestFields('POST /api/a', [bearer, ['content-length', '20000']])
    client.send(headers(1, post, { body: true }), data(1, 'a', false), get(3))

    expect((await client.fields(3))[':status']).toBe('200')
    expect((await client.fields(1))[':status']).toBe('408')
    await until(() => postern.logText().includes('"outcome":"body-too-slow"'))
    client.send(get(5))
    expect((await client.fields(5))[':status']).toBe('200')
  })

  test('with a body that is too large are refused each for itself', async () => {
    const postern = await start({ limits: { bodyBytes: 10_000 } })
    const client = await connectFrames(postern.publicPort)
    client.send(
      headers(1, requestFields('POST /api/a', [bearer]), { body: true }),
      data(1, 'a'.repeat(10_001), false),
      get(3),
    )

    expect((await client.fields(1))[':status']).toBe('413')
    expect((await client.fields(3))[':status']).toBe('200')
    expect(postern.upstream.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('are shed under overload, and the connection goes on', async () => {
    const postern = await start({ overload: { inFlight: 1 } })
    const answers: (() => void)[] = []
    postern.upstream.answerWith((socket) => void answers.push(() => socket.write(ok)))
    const client = await connectFrames(postern.publicPort)
    client.send(get(1))
    await until(() => answers.length === 1)
    client.send(get(3))

    expect(await client.fields(3)).toMatchObject({ ':status': '503', 'retry-after': '1' })
    answers[0]?.()
    expect((await client.fields(1))[':status']).toBe('200')
    expect(await metricsOf(postern)).toMatch(/postern_requests_total\{.*outcome="overloaded"\} 1\n/)
  })
})

test('a small frame of a body does not keep all that was read with it', () => {
  const bodies: StreamBody[] = []
  const session = new Session(
    'server',
    { write: () => true },
    {
      maxStreams: 10,
      streamWindow: 131_072,
      connectionWindow: 1_048_576,
      headerBytes: 16_384,
      headerCount: 100,
    },
    {
      request(stream) {
        const body = new StreamBody(stream)
        bodies.push(body)
        const ignore = () => {}
        return {
          head: ignore,
          data: (chunk) => body.arrived(chunk),
          end: ignore,
          drain: ignore,
          closed: ignore,
        }
      },
      rejected() {},
      idle() {},
      goaway() {},
      settings() {},
      ended() {},
    },
  )
  const post = (id: number) => headers(id, requestFields('POST /'), { body: true })
  const small = [post(1), post(3), data(1, 'small', false), data(3, 'a'.repeat(16_384), false)]
  const filler = Array.from({ length: 2 }, () => data(3, 'a'.repeat(16_384), false))
  session.receive(Buffer.concat([preface, settingsFrame([]), ...small, ...filler]))

  const chunk = bodies[0]?.read() as Buffer
  expect(chunk.toString()).toBe('small')
  expect(chunk.buffer.byteLength).toBe(5)
})

import { expect, onTestFinished, test } from 'vitest'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const
const post = headers(1, requestFields('POST /api/a', [bearer, ['content-length', '16000']]), {
  body: true,
})

test('a part of a frame reaches the upstream before its rest', async () => {
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const backend = { targets: [upstream.origin], requestBufferBytes: 0 }
  const postern = await startPostern({
    config: { application: { h2c: true }, upstreams: { backend } },
  })
  const client = await connectFrames(postern.publicPort)
  const body = data(1, 'a'.repeat(16_000), true)
  client.send(post, body.subarray(0, 10_000))

  await until(() => upstream.bytes() > 9991)
  expect(upstream.requests).toEqual([])
  client.send(body.subarray(10_000))

  expect(await client.fields(1)).toMatchObject({ ':status': '200' })
  expect(upstream.requests[0]?.body).toBe('a'.repeat(16_000))
})

test('a frame that never ends is timed out like any body, and its connection as an idle one', async () => {
  const postern = await startPostern({
    config: {
      application: { h2c: true },
      limits: { headersTimeoutMs: 500, requestTimeoutMs: 500, keepAliveTimeoutMs: 500 },
    },
  })
  const client = await connectFrames(postern.publicPort)
  client.send(post, data(1, 'a'.repeat(16_000), true).subarray(0, 10_000))

  expect(await client.fields(1)).toMatchObject({ ':status': '408' })
  await client.closed()
  expect(postern.upstream.requests).toEqual([])
})

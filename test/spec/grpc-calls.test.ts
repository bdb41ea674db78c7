import { once } from 'node:events'
import { Metadata, status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import {
  connectEcho,
  type EchoClient,
  type EchoService,
  endOf,
  startEchoService,
  unary,
} from '../support/grpc-service.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

interface Started {
  readonly postern: TestPostern
  readonly service: EchoService
  readonly client: EchoClient
}

async function start(
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<Started> {
  const service = await startEchoService()
  const postern = await startPostern({
    rules: ['editor, /test.Echo/*, POST'],
    config: {
      limits: {
        bodyBytes: 2 ** 32,
        minBytesPerSecond: 1000,
        minRateWindowMs: 400,
        ...config['limits'],
      },
      application: { h2c: true },
      upstreams: { backend: { targets: [`http://127.0.0.1:${service.port}`], protocol: 'h2c' } },
    },
  })
  return { postern, service, client: connectEcho(postern.publicPort) }
}

function caller(role = 'editor'): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${tokenOf(role)}`)
  return metadata
}

test('a unary call passes with its metadata, and identity that no client can forge', async () => {
  const { client, service } = await start()
  const metadata = caller()
  metadata.set('x-user-id', '1')
  metadata.set('x-role-key', 'admin')
  metadata.set('x-custom', 'kept')
  metadata.set('x-trace-bin', Buffer.from([0, 1, 2, 255, 10, 13]))

  const message = Buffer.from('hello')
  expect((await unary(client, message, metadata)).equals(message)).toBe(true)
  const [seen] = service.metadata
  expect(seen?.get('x-role-key')).toEqual(['editor'])
  expect(seen?.get('x-user-id')).not.toContain('1')
  expect(seen?.get('x-custom')).toEqual(['kept'])
  expect(seen?.get('x-trace-bin')).toEqual([Buffer.from([0, 1, 2, 255, 10, 13])])
  expect(seen?.get('authorization')).toEqual([])
})

test('messages of 20 MB pass both ways, compressed or not', async () => {
  const { client } = await start()
  const message = Buffer.alloc(20_000_000, 'abc')

  expect((await unary(client, message, caller())).equals(message)).toBe(true)
  const compressed = { 'grpc.default_compression_algorithm': 2 }
  expect((await unary(client, message, caller(), compressed)).equals(message)).toBe(true)
})

test('the status and message of a service arrive, as trailers or trailers only', async () => {
  const { client } = await start()
  const metadata = caller()
  metadata.set('fail-with', '5')

  await expect(unary(client, Buffer.from('x'), metadata)).rejects.toMatchObject({
    code: status.NOT_FOUND,
    details: 'as you wish: ü%',
  })
})

test('trailing metadata arrives under every name but those of the identity', async () => {
  const { client } = await start()
  const names = [
    ...['retry-after', 'link', 'set-cookie', 'location', 'www-authenticate', 'cache-control'],
    ...['date', 'expires', 'vary', 'warning', 'age', 'via', 'authorization', 'content-language'],
    ...['if-match', 'x-forwarded-user', 'access-control-allow-origin', 'x-custom', 'refresh'],
  ]
  const metadata = caller()
  const identity = ['x-user-id', 'x-role-key', 'x-postern-assertion']
  metadata.set('trail-with', [...names, ...identity].join(' '))

  const call = client.unary(Buffer.from('x'), metadata, {}, () => {})
  const { code, details, metadata: trailers } = await endOf(call)

  expect([code, details]).toEqual([status.OK, 'OK'])
  expect(Object.keys(trailers.getMap()).sort()).toEqual(names.sort())
})

test('a service streams to its client', async () => {
  const { client } = await start()
  const message = Buffer.alloc(100_000, 7)
  message.writeUInt32BE(200, 0)
  const stream = client.download(message, caller())
  const end = endOf(stream)
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })

  expect((await end).code).toBe(status.OK)
  expect(bytes).toBe(200 * 100_000)
})

test('a client streams to its service', async () => {
  const { client } = await start()
  const answered = Promise.withResolvers<string>()
  const stream = client.upload(caller(), (error, value) =>
    error === null ? answered.resolve(String(value)) : answered.reject(error),
  )
  for (let sent = 0; sent < 100; sent++) {
    if (!stream.write(Buffer.alloc(100_000))) await once(stream, 'drain')
  }
  stream.end()

  expect(await answered.promise).toBe('10000000')
})

test('both stream at once, each message when the one before was answered, with pauses', async () => {
  const { client } = await start()
  const stream = client.chat(caller())
  const end = endOf(stream)
  for (let round = 0; round < 5; round++) {
    stream.write(Buffer.from(`message ${round}`))
    const [answer] = (await once(stream, 'data')) as [Buffer]
    expect(answer.toString()).toBe(`message ${round}`)
    // Longer than the window of the minimum rate.
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  stream.end()

  expect((await end).code).toBe(status.OK)
})

test('a call without messages ends in a frame of its own, which servers of gRPC wait for', async () => {
  const { client } = await start()
  const stream = client.chat(caller())
  const end = endOf(stream)
  stream.on('data', () => {})
  stream.end()

  expect((await end).code).toBe(status.OK)
})

test('a client that cancels, and one whose deadline passes, end the call of the service', async () => {
  const { client, service, postern } = await start()
  const cancelled = client.hang(Buffer.from('x'), caller())
  const ends = [endOf(cancelled)]
  await once(cancelled, 'data')
  cancelled.cancel()
  const late = client.hang(Buffer.from('x'), caller(), { deadline: Date.now() + 300 })
  late.on('data', () => {})
  ends.push(endOf(late))

  expect((await Promise.all(ends)).map(({ code }) => code)).toEqual([
    status.CANCELLED,
    status.DEADLINE_EXCEEDED,
  ])
  await until(() => service.cancelled.length === 2)
  await until(() => postern.logText().split('cut-by-client').length === 3)
})

test('a call without a token, and one that no rule allows, are refused with their codes', async () => {
  const { client, service } = await start()

  await expect(unary(client, Buffer.from('x'), new Metadata())).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
  })
  await expect(unary(client, Buffer.from('x'), caller('reader'))).rejects.toMatchObject({
    code: status.PERMISSION_DENIED,
  })
  expect(service.metadata).toEqual([])
})

test('the shutdown of the gateway ends a call that lasts', async () => {
  const { client, postern } = await start()
  const stream = client.hang(Buffer.from('x'), caller())
  const end = endOf(stream)
  await once(stream, 'data')
  await postern.close()

  expect((await end).code).not.toBe(status.OK)
})

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { metricOf, watchMemory } from '../support/gateway-metrics.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { inParallel } from '../support/in-parallel.ts'
import { request } from '../support/raw-client.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { download, startStreamUpstream, upload } from '../support/streams.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const MIB = 1_048_576

async function startGateway(origin: string): Promise<GatewayProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-streams-'))
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
    application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data') },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    // None: in the half gigabyte of the embedded one, growth would not be seen.
    database: { url: 'postgres://nobody@127.0.0.1:9/none', migrate: 'never' },
    policy: { directory: join(process.cwd(), 'policies') },
    upstreams: { backend: { targets: [origin] } },
    routes: [{ path: '/', upstream: 'backend' }],
  })
  onTestFinished(async () => {
    await gateway.stop()
    await rm(directory, { recursive: true, force: true })
  })
  return gateway
}

/** Only Linux tells. */
async function openFilesOf({ opsPort }: GatewayProcess): Promise<number> {
  return process.platform === 'linux' ? metricOf(opsPort, 'process_open_fds') : 0
}

// T209, T210, small: `npm run soak:streams` is the same with 50 streams of a gibibyte.
describe('bodies to and from slow peers', () => {
  const parallel = Array.from({ length: 8 }, (_, stream) => stream)

  test('arrive whole, and wait where they come from instead of in the gateway', async () => {
    const upstream = await startStreamUpstream()
    onTestFinished(upstream.close)
    const { publicPort: port, opsPort } = await startGateway(upstream.origin)
    const both = (bytes: number, bytesPerSecond: number) =>
      Promise.all(
        parallel.flatMap((stream) => {
          const options = { port, stream, bytes, bytesPerSecond }
          return [download(upstream, options), upload(options)]
        }),
      )
    await both(8 * MIB, 1000 * MIB)
    const atRest = await metricOf(opsPort, 'process_resident_memory_bytes')

    const memory = watchMemory(opsPort, 50)
    const streams = await both(32 * MIB, 16 * MIB)
    await memory.stop()

    expect(streams.map(({ received }) => received.bytes)).toEqual(streams.map(() => 32 * MIB))
    expect(streams.map(({ received }) => received)).toEqual(streams.map(({ sent }) => sent))
    // 512 MiB went through. Held back in the gateway, an eighth of them would be too many.
    expect((memory.peak() - atRest) / MIB).toBeLessThan(64)
  })
})

// T207
describe('a client that leaves again and again', () => {
  const times = Number(process.env['STREAM_ABORTS'] ?? 1000)
  const asAdmin = `Authorization: Bearer ${tokenOf('admin')}`
  const kinds = [
    [
      'within an upload of a known length',
      request('POST /up', [asAdmin, 'Content-Length: 1000'], 'half'),
    ],
    [
      'within an upload in chunks',
      request('POST /up', [asAdmin, 'Transfer-Encoding: chunked'], '4\r\nhalf\r\n'),
    ],
    ['while it waits for an answer', request('GET /wait', [asAdmin])],
    ['within an answer', request('GET /begin', [asAdmin])],
  ] as const

  test(`leaves no connection, no request and no file behind, ${times} times`, {
    timeout: 300_000 + times * 20,
  }, async () => {
    const upstream = await startRecordingUpstream()
    onTestFinished(upstream.close)
    upstream.answerWith((socket, { target }) => {
      if (target === '/begin') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\npart')
    })
    const gateway = await startGateway(upstream.origin)
    const openFiles = await openFilesOf(gateway)

    await inParallel(
      Array.from({ length: times }, (_, turn) => turn),
      async (turn) => {
        const [, bytes] = kinds[turn % kinds.length] ?? kinds[0]
        const before = upstream.bytes()
        const socket = connect(gateway.publicPort, '127.0.0.1')
        socket.on('error', () => {})
        socket.write(bytes)
        if (bytes.startsWith('GET /begin')) await once(socket, 'data')
        else await until(() => upstream.bytes() > before)
        if (turn % 2 === 0) socket.resetAndDestroy()
        else socket.destroy()
      },
    )

    await until(async () => (await metricOf(gateway.opsPort, 'postern_upstream_outstanding')) === 0)
    await until(() => upstream.connections() === 0)
    await until(async () => (await openFilesOf(gateway)) <= openFiles + 2)
    // What was never finished by a client was never finished towards the upstream.
    expect(upstream.requests.filter(({ method }) => method === 'POST')).toEqual([])
    expect(upstream.requests.length).toBeGreaterThan(0)
  })
})

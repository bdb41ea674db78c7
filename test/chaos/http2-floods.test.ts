import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import { createCertificates } from '../support/certificates.ts'
import { createFloods, type Flood } from '../support/floods.ts'
import { connectFrames, type FrameClient, headers, requestFields } from '../support/frame-client.ts'
import { metricOf, watchMemory } from '../support/gateway-metrics.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { ok } from '../support/recording-upstream.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const MIB = 1_048_576
const bearer = ['authorization', `Bearer ${tokenOf('admin')}`] as const
const hangs = requestFields('GET /hangs', [bearer])
const post = requestFields('POST /hangs', [bearer])

const floods = createFloods(hangs, post)

/** Sends until the gateway closes the connection, and returns the code of its GOAWAY. */
async function flood({ first = [], again }: Flood, client: FrameClient): Promise<number> {
  client.send(...first)
  for (let id = first.length === 0 ? 1 : 3; !client.isClosed; ) {
    const batch: Buffer[] = []
    for (let turn = 0; turn < 100; turn++, id += 2) batch.push(...again(id))
    client.send(...batch)
    await pause(1)
    // What is not read any more must not collect in this process.
    await until(() => client.isClosed || client.socket.writableLength < MIB)
  }
  return (await client.next(FrameType.goaway)).payload.readUInt32BE(4)
}

/** Good callers, one on a connection that stays and one on a new one each time, until `stop`. */
function startGoodCallers(port: number, tls: ConnectionOptions | undefined) {
  const there = { port, host: '127.0.0.1', localAddress: '127.0.0.2' }
  const open = () =>
    connectHttp2(`${tls === undefined ? 'http' : 'https'}://gateway.test:${port}`, {
      createConnection: () =>
        tls === undefined
          ? connect(there)
          : connectTls({ ...there, ...tls, ALPNProtocols: ['h2'] }),
    })
  const authorization = `Bearer ${tokenOf('admin', { identity: 7 })}`
  const outcomes: unknown[] = []
  let isOver = false

  async function call(session: ReturnType<typeof open>): Promise<void> {
    const outcome = await new Promise((resolve) => {
      const stream = session.once('error', resolve).request({ ':path': '/good', authorization })
      stream.on('response', (head) => resolve(head[':status']))
      stream.on('close', () => session.off('error', resolve))
      stream.on('error', resolve).resume()
    })
    outcomes.push(outcome)
  }
  async function onOneConnection(): Promise<void> {
    const session = open()
    while (!isOver) {
      await call(session)
      await pause(10)
    }
    session.destroy()
  }
  async function onNewConnections(): Promise<void> {
    while (!isOver) {
      const session = open()
      await call(session)
      session.destroy()
      await pause(10)
    }
  }
  const calling = Promise.all([onOneConnection(), onNewConnections()])
  return {
    outcomes,
    async stop() {
      isOver = true
      await calling
    },
  }
}

async function startGateway(withTls: boolean) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-floods-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const application = { host: '127.0.0.1', port: 0, dataDirectory: directory }
  const limits = { stallTimeoutMs: 2000 }
  if (!withTls) {
    const started = await startLoneGateway({ limits, application: { ...application, h2c: true } })
    return { ...started, tls: undefined }
  }
  const certificates = await createCertificates('gateway.test')
  onTestFinished(certificates.remove)
  const tls = { certFile: certificates.certificate, keyFile: certificates.key }
  const started = await startLoneGateway({ limits, application, tls })
  const ca = readFileSync(certificates.authority)
  return { ...started, tls: { servername: 'gateway.test', ca } }
}

test.each([
  ['in the clear', false],
  ['over TLS', true],
])(
  'floods of HTTP/2 frames %s end their connections, and good callers are served',
  async (_, withTls) => {
    const { gateway, upstream, tls } = await startGateway(withTls)
    const { publicPort: port, opsPort } = gateway
    upstream.answerWith((socket, { target }) => {
      if (target === '/good') socket.write(ok)
    })
    const good = startGoodCallers(port, tls)
    await until(() => good.outcomes.length > 20)
    const before = await metricOf(opsPort, 'process_resident_memory_bytes')
    const memory = watchMemory(opsPort)

    const each = 3
    for (const one of floods) {
      const clients = await Promise.all(
        Array.from({ length: each }, () => connectFrames(port, [], { tls })),
      )
      const served = good.outcomes.length
      const codes = await Promise.all(clients.map((client) => flood(one, client)))
      expect([one.name, codes]).toEqual([one.name, Array(each).fill(ErrorCode.enhanceYourCalm)])
      await until(() => good.outcomes.length > served + 4)
    }

    const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
    const counted = each * floods.length
    expect(text).toContain(`postern_connections_closed_total{reason="flood"} ${counted}\n`)
    await good.stop()
    await memory.stop()
    expect(good.outcomes.filter((outcome) => outcome !== 200)).toEqual([])
    expect((memory.peak() - before) / MIB).toBeLessThan(200)
    // Nothing of them is left.
    await until(async () => (await metricOf(opsPort, 'postern_open_requests')) === 0)
    await until(async () => (await metricOf(opsPort, 'postern_client_connections')) === 0)
  },
)

test('responses that nobody takes, with windows of zero, are bounded and end', async () => {
  const { gateway, upstream, tls } = await startGateway(false)
  const { publicPort: port, opsPort } = gateway
  const body = 'a'.repeat(4 * MIB)
  upstream.answerWith((socket, { target }) => {
    if (target === '/good') socket.write(ok)
    else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const good = startGoodCallers(port, tls)
  await until(() => good.outcomes.length > 20)
  const before = await metricOf(opsPort, 'process_resident_memory_bytes')
  const memory = watchMemory(opsPort)

  const clients = await Promise.all(Array.from({ length: 4 }, () => connectFrames(port, [[4, 0]])))
  const ids = Array.from({ length: 50 }, (_, at) => 2 * at + 1)
  for (const client of clients) client.send(...ids.map((id) => headers(id, hangs)))
  for (const client of clients) {
    await until(() => ids.every((id) => isReset(client, id)))
  }

  await good.stop()
  await memory.stop()
  expect(good.outcomes.filter((outcome) => outcome !== 200)).toEqual([])
  // 800 MiB wait at the upstream.
  expect((memory.peak() - before) / MIB).toBeLessThan(250)
  await until(async () => (await metricOf(opsPort, 'postern_open_requests')) === 0)
})

function isReset({ frames }: FrameClient, id: number): boolean {
  return frames.some(({ type, streamId }) => type === FrameType.rstStream && streamId === id)
}

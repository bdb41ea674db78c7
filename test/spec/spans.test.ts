import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startCollector } from '../support/collector.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { type ExportedSpan, writeTracingSdk } from '../support/tracing-sdk.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

type Exported = Omit<ExportedSpan, 'pid'>

interface Source {
  readonly preload?: string
  readonly tracing?: Readonly<Record<string, unknown>>
  /** Every span that was exported. */
  readonly exported: () => Promise<readonly Exported[]>
}

/** Both ways to get spans give the same ones. */
const sources: Readonly<Record<string, (directory: string) => Promise<Source>>> = {
  async 'an SDK loaded'(directory) {
    const { module, exported } = await writeTracingSdk(directory)
    return { preload: module, exported }
  },
  async 'tracing.otlp'() {
    const collector = await startCollector()
    onTestFinished(collector.close)
    return {
      tracing: { otlp: collector.origin },
      exported: async () =>
        collector.spans().map(({ resource, flags, startMs, endMs, traceState, ...span }) => span),
    }
  },
}

async function startTraced(open: (directory: string) => Promise<Source>) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-spans-'))
  const upstream = await startRecordingUpstream()
  const { preload, tracing = {}, exported } = await open(directory)
  const config = {
    tracing,
    application: { host: '127.0.0.1', port: 0, dataDirectory: inject('sharedData') },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    policy: { directory: resolve('policies') },
    shutdown: { graceMs: 0, deadlineMs: 2000 },
    upstreams: {
      backend: { targets: [upstream.origin] },
      dead: { targets: ['http://127.0.0.1:1'] },
    },
    routes: [
      { path: '/', upstream: 'backend' },
      { path: '/dead', upstream: 'dead' },
    ],
  }
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), config, {
    ...(preload !== undefined && { preload }),
  })
  onTestFinished(async () => {
    await gateway.kill()
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })
  return { gateway, upstream, spans: () => spansOf(gateway, exported) }
}

/** Ends the gateway in order; what it had not sent yet, it sends then. */
async function spansOf(
  gateway: GatewayProcess,
  exported: Source['exported'],
): Promise<readonly Exported[]> {
  expect(await gateway.stop()).toBe(0)
  const spans = await exported()
  // Each ends once.
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  return spans
}

async function call(gateway: GatewayProcess, line: string, headers: readonly string[] = []) {
  await sendRaw(gateway.publicPort, request(line, headers))
}

const asAdmin = `Authorization: Bearer ${tokenOf('admin')}`
const traced = `traceparent: 00-${traceId}-${parentId}-01`

describe.each(Object.entries(sources))('with %s', (_, open) => {
  test('a request is a SERVER span in its trace, and its exchange a CLIENT span below', async () => {
    const { gateway, upstream, spans } = await startTraced(open)

    await call(gateway, `GET /orders/7?token=${tokenOf('admin')}`, [traced, 'tracestate: rojo=1'])

    const all = await spans()
    const server = all.find(({ kind }) => kind === 'SERVER')
    const client = all.find(({ kind }) => kind === 'CLIENT')
    expect(all).toHaveLength(2)
    expect(server).toMatchObject({ name: 'GET /', traceId, parentId, status: 0 })
    expect(server?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/orders/7',
      'http.route': '/',
      'http.response.status_code': 200,
      'client.address': '127.0.0.1',
      'postern.outcome': 'passed',
      'postern.revision': expect.stringMatching(/^r-/),
      'postern.request_id': expect.any(String),
    })
    expect(client).toMatchObject({ name: 'GET', traceId, parentId: server?.spanId, status: 0 })
    expect(client?.attributes).toEqual({
      'postern.upstream': 'backend',
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'url.full': `${upstream.origin}/orders/7`,
    })
    const [sent] = upstream.requests
    expect(sent?.values('traceparent')).toEqual([`00-${traceId}-${client?.spanId}-01`])
    expect(sent?.values('tracestate')).toEqual(['rojo=1'])
    expect(gateway.log.at(-2)).toMatchObject({ trace_id: traceId, span_id: server?.spanId })
    expect(JSON.stringify(all)).not.toMatch(/token|eyJ/)
  })

  test('a request without a trace begins one, and the upstream is told', async () => {
    const { gateway, upstream, spans } = await startTraced(open)

    await call(gateway, 'GET /orders/7', [asAdmin])

    const all = await spans()
    const client = all.find(({ kind }) => kind === 'CLIENT')
    expect(all.find(({ kind }) => kind === 'SERVER')).not.toHaveProperty('parentId')
    expect(upstream.requests[0]?.values('traceparent').join()).toMatch(
      new RegExp(`^00-${client?.traceId}-${client?.spanId}-0[13]$`),
    )
  })

  test('every way in which a request can end ends its spans', async () => {
    const { gateway, upstream, spans } = await startTraced(open)
    await call(gateway, 'GET /orders/refused')
    await call(gateway, 'GET /%2e%2e/ambiguous', [asAdmin])
    await call(gateway, 'GET /dead', [asAdmin])
    upstream.answerWith((socket) =>
      socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\nX-Own: 1\r\n\r\n'),
    )
    await call(gateway, 'GET /orders/failing', [asAdmin])
    upstream.answerWith((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this'),
    )
    await call(gateway, 'GET /orders/cut', [asAdmin])
    upstream.answerWith(() => {})
    await abandon(gateway, request('GET /orders/left', [asAdmin]), upstream.requests)
    upstream.answerWith(echoing())
    await upgradeAndLeave(gateway)
    await until(() => gateway.log.filter(({ msg }) => msg === 'request').length === 7)

    const all = await spans()
    const told = (kind: string) =>
      all
        .filter((span) => span.kind === kind)
        .map(({ status, attributes }) => [
          attributes['postern.outcome'] ?? attributes['url.full']?.toString().split('/').at(-1),
          attributes['http.response.status_code'],
          status === 2 ? attributes['error.type'] : undefined,
        ])
    expect(told('SERVER')).toEqual([
      ['token-missing', 200, undefined],
      ['ambiguous-path', 400, undefined],
      ['upstream-unreachable', 502, 'upstream-unreachable'],
      ['passed', 500, '500'],
      ['cut-by-upstream', 200, 'cut-by-upstream'],
      ['cut-by-client', 499, undefined],
      ['passed', 101, undefined],
    ])
    expect(told('CLIENT')).toEqual([
      ['dead', undefined, 'upstream-unreachable'],
      ['failing', 500, '500'],
      ['cut', 200, 'cut-by-upstream'],
      ['left', undefined, undefined],
      ['socket', 101, undefined],
    ])
  })
})

/** Sends a request, and leaves when the upstream has it. */
async function abandon(
  gateway: GatewayProcess,
  text: string,
  arrived: readonly unknown[],
): Promise<void> {
  const before = arrived.length
  const socket = connect(gateway.publicPort, '127.0.0.1')
  socket.write(text)
  await until(() => arrived.length > before)
  socket.destroy()
}

async function upgradeAndLeave({ publicPort }: GatewayProcess): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${publicPort}/socket?token=${tokenOf('admin')}`)
  await once(socket, 'open')
  socket.close()
  await once(socket, 'close')
}

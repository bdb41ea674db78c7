import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/kernel/version.ts'
import { startCollector } from '../support/collector.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { startPostern } from '../support/start-postern.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const call = 'GET /api/v1/public/x'

/** A gateway that exports spans, and what the collector has when the gateway has ended. */
async function startExporting(settings: Readonly<Record<string, unknown>> = {}) {
  const collector = await startCollector()
  onTestFinished(collector.close)
  const postern = await startPostern({
    config: { tracing: { otlp: collector.origin, ...settings } },
  })
  const collected = async () => {
    await postern.close()
    return collector.spans()
  }
  return { postern, collector, collected }
}

describe('tracing.otlp', () => {
  test('exports spans with the service, its version and the process', async () => {
    const { postern, collector, collected } = await startExporting()

    const before = Date.now()
    await postern.call(call, {
      as: 'editor',
      headers: [`traceparent: 00-${traceId}-${parentId}-01`, 'tracestate: rojo=1'],
    })

    const [client, server] = await collected()
    const now = Date.now()
    expect(collector.exports.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(server).toMatchObject({ kind: 'SERVER', traceId, parentId, traceState: 'rojo=1' })
    // Sampled, and its parent is another process.
    expect(server?.flags).toBe(0x301)
    expect(client).toMatchObject({ kind: 'CLIENT', traceId, traceState: 'rojo=1', flags: 0x101 })
    expect(server?.resource).toEqual({
      'service.name': 'postern',
      'service.version': version,
      'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    })
    const times = [before, server?.startMs, client?.startMs, client?.endMs, server?.endMs, now]
    // Nanoseconds since 1970 have more digits than a number.
    const rounded = times.map((time = 0) => Math.floor(time))
    expect(rounded).toEqual(rounded.toSorted((a, b) => a - b))
  })

  test('takes a URL with a path as it is', async () => {
    const collector = await startCollector()
    onTestFinished(collector.close)
    const postern = await startPostern({
      config: { tracing: { otlp: `${collector.origin}/otlp/custom` } },
    })
    await postern.call(call, { as: 'editor' })
    await postern.close()

    expect(collector.exports.map(({ path }) => path)).toEqual(['/otlp/custom'])
  })

  test('samples new traces by samplePercent, and follows the decision of others', async () => {
    const { postern, collected } = await startExporting({ samplePercent: 0 })
    const sent = () => postern.upstream.requests.at(-1)?.values('traceparent').join()

    await postern.call(call, { as: 'editor' })
    expect(sent()).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-02$/)
    await postern.call(call, {
      as: 'editor',
      headers: [`traceparent: 00-${traceId}-${parentId}-00`],
    })
    expect(sent()).toMatch(new RegExp(`^00-${traceId}-(?!${parentId})[\\da-f]{16}-00$`))
    await postern.call(call, {
      as: 'editor',
      headers: [`traceparent: 00-${traceId}-${parentId}-01`],
    })
    expect(sent()).toMatch(/-01$/)

    const spans = await collected()
    expect(spans.map(({ kind, traceId }) => [kind, traceId])).toEqual([
      ['CLIENT', traceId],
      ['SERVER', traceId],
    ])
  })

  test('has no effect on requests while the collector is down', async () => {
    const { postern, collector } = await startExporting()
    await collector.close()

    for (let count = 0; count < 5; count++) {
      expect((await postern.call(call, { as: 'editor' })).status).toBe(200)
    }
    expect(await metricOf(postern.opsPort, 'postern_spans_dropped_total')).toBe(0)
    await postern.close()

    const lines = postern.logText().split('\n')
    const line = lines.find((text) => text.includes('span export failed')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', reason: 'ECONNREFUSED' })
    expect(lines.some((text) => text.includes('"spans":10,"msg":"spans dropped at'))).toBe(true)
  })

  test('exports neither tokens nor queries', async () => {
    const { postern, collected } = await startExporting()

    const answer = await postern.call(`${call}?secret=hunter2`, {
      as: 'editor',
      headers: ['Cookie: jwt=hunter2', 'X-Api-Key: hunter2'],
    })

    expect(answer.status).toBe(200)
    const spans = await collected()
    expect(spans).toHaveLength(2)
    expect(JSON.stringify(spans)).not.toMatch(/hunter2|eyJ|\?/)
  })

  test('loads its code only where it is set', async () => {
    const collector = await startCollector()
    onTestFinished(collector.close)
    const directory = await mkdtemp(join(tmpdir(), 'postern-loaded-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))

    async function loadedWith(tracing: Readonly<Record<string, unknown>>) {
      const file = join(directory, String(Object.keys(tracing).length))
      const { gateway } = await startLoneGateway(
        { tracing },
        { preload: 'loaded-modules.mjs', env: { LOADED_MODULES: file } },
      )
      expect(await gateway.stop()).toBe(0)
      const urls = (await readFile(file, 'utf8')).split('\n')
      expect(urls.some((url) => url.endsWith('/tracing/tracing.ts'))).toBe(true)
      return urls.filter((url) => /tracing\/otlp|opentelemetry\/(?!api)/.test(url))
    }

    expect(await loadedWith({})).toEqual([])
    const files = await loadedWith({ otlp: collector.origin })
    expect(files.length).toBeGreaterThan(3)
    expect(files.every((url) => url.includes('/src/tracing/otlp/'))).toBe(true)
  })
})

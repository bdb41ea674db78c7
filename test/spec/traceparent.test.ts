import { describe, expect, test } from 'vitest'
import { ask, asked, contracts } from '../support/forward-auth.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const traceparent = `traceparent: 00-${traceId}-${parentId}-01`
const call = 'GET /api/v1/public/x'

function lastSent({ upstream }: TestPostern) {
  const sent = upstream.requests.at(-1)
  return { traceparent: sent?.values('traceparent'), tracestate: sent?.values('tracestate') }
}

async function lastLine(postern: TestPostern): Promise<Record<string, unknown>> {
  const lines = () =>
    postern
      .logText()
      .split('\n')
      .filter((line) => line.includes('"request"'))
  await until(() => lines().length > 0)
  return JSON.parse(lines().at(-1) ?? '')
}

describe('traceparent', () => {
  test('goes on with the same trace and flag, under a span of ours', async () => {
    const postern = await startPostern()

    await postern.call(call, { as: 'editor', headers: [traceparent, 'tracestate: rojo=1'] })

    const { traceparent: sent, tracestate } = lastSent(postern)
    const [, spanId] =
      new RegExp(`^00-${traceId}-([\\da-f]{16})-01$`).exec(sent?.join() ?? '') ?? []
    expect(spanId).toMatch(/^(?!b7ad6b7169203331)/)
    expect(tracestate).toEqual(['rojo=1'])
    expect(await lastLine(postern)).toMatchObject({ trace_id: traceId, span_id: spanId })
  })

  test('keeps the word that a trace is not sampled', async () => {
    const postern = await startPostern()

    await postern.call(call, {
      as: 'editor',
      headers: [`Traceparent: 00-${traceId}-${parentId}-00`],
    })

    expect(lastSent(postern).traceparent?.join()).toMatch(/-00$/)
  })

  test('has one line of tracestate made of several', async () => {
    const postern = await startPostern()

    await postern.call(call, {
      as: 'editor',
      headers: [traceparent, 'tracestate: a=1', 'TraceState: b=2'],
    })

    expect(lastSent(postern).tracestate).toEqual(['a=1,b=2'])
  })

  test.each([
    ['malformed', ['traceparent: 00-abc-def-01', 'tracestate: rojo=1']],
    ['there twice', [traceparent, traceparent, 'tracestate: rojo=1']],
    ['absent', ['tracestate: rojo=1']],
    ['all zero', [`traceparent: 00-${'0'.repeat(32)}-${parentId}-01`, 'tracestate: rojo=1']],
  ])('that is %s leaves the upstream to begin a trace of its own', async (_, headers) => {
    const postern = await startPostern()

    await postern.call(call, { as: 'editor', headers })

    expect(lastSent(postern)).toEqual({ traceparent: [], tracestate: [] })
    expect(await lastLine(postern)).not.toHaveProperty('trace_id')
  })

  test('goes on as it came, by choice', async () => {
    const postern = await startPostern({ config: { tracing: { propagate: 'same' } } })

    await postern.call(call, { as: 'editor', headers: [traceparent] })

    expect(lastSent(postern).traceparent).toEqual([`00-${traceId}-${parentId}-01`])
  })

  test('does not go on at all, by choice', async () => {
    const postern = await startPostern({ config: { tracing: { propagate: 'off' } } })

    await postern.call(call, { as: 'editor', headers: [traceparent, 'tracestate: rojo=1'] })

    expect(lastSent(postern)).toEqual({ traceparent: [], tracestate: [] })
    expect(await lastLine(postern)).not.toHaveProperty('trace_id')
  })

  test('counts from trusted proxies only, by choice', async () => {
    const postern = await startPostern({
      config: {
        tracing: { from: 'trusted-proxies' },
        application: { trustedProxies: ['127.0.0.1'] },
      },
    })

    await postern.call(call, { as: 'editor', headers: [traceparent], from: '127.0.0.9' })
    expect(lastSent(postern).traceparent).toEqual([])

    await postern.call(call, { as: 'editor', headers: [traceparent] })
    expect(lastSent(postern).traceparent?.join()).toContain(traceId)
  })

  test('stands in the line of a refusal too', async () => {
    const postern = await startPostern()

    await postern.call('GET /%2e%2e/etc', { headers: [traceparent] })

    expect(await lastLine(postern)).toMatchObject({
      outcome: 'ambiguous-path',
      trace_id: traceId,
    })
  })

  test('stands in the line of a question by another proxy', async () => {
    const postern = await startPostern({ config: asked() })
    const { line, headers } = contracts.nginx('GET', '/api/v1/public/x')

    await ask(postern, line, { as: 'editor', headers: [...headers, traceparent] })

    expect(await lastLine(postern)).toMatchObject({ contract: 'nginx', trace_id: traceId })
  })
})

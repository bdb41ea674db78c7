import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLogSample } from '../../src/http/connections/sampled-log.ts'
import { openByteClient } from '../support/byte-client.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

const count = ({ opsPort }: TestPostern, reason: string) =>
  metricOf(opsPort, `postern_requests_rejected_total{reason="${reason}"}`)

describe.each([
  ['in the clear', false],
  ['over TLS', true],
])('a request %s that is rejected while it is read', (_, encrypted) => {
  test.each<[string, number, string]>([
    ['malformed', 400, 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['malformed', 400, '\0\x1b[2J{"level":"fatal"}\r\n\r\n'],
    ['headers-too-large', 431, request('GET /', [`X-A: ${'a'.repeat(20_000)}`])],
    ['timeout', 408, ''],
    ['timeout', 408, 'GET / HTTP/1.1\r\nHost: '],
    ['incomplete', 400, 'GET / HTTP/1.1\r\nHost: \x04'],
    ['http2', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['method', 405, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('is counted as %s, logged and answered with %i', async (reason, status, bytes) => {
    const files = { certFile: certificates.certificate, keyFile: certificates.key }
    const config = { limits: { headersTimeoutMs: 300 }, ...(encrypted && { tls: files }) }
    const postern = await startPostern({ config })
    const tls = encrypted ? certificates : undefined
    const client = await openByteClient(postern.publicPort, { tls, from: '127.0.0.7' })
    expect(await count(postern, reason)).toBe(0)

    client.send(bytes.replace('\x04', ''))
    if (bytes.endsWith('\x04')) {
      await pause(50)
      client.socket.end()
    }
    const [answer] = await client.answers(1)
    await until(client.closed)

    expect(answer?.status).toBe(status)
    expect(await count(postern, reason)).toBe(1)
    const lines = postern
      .logText()
      .split('\n')
      .filter((line) => line.includes('request rejected'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ reason, client: '127.0.0.7' }])
    expect(postern.logText()).not.toContain('[2J')
  })
})

describe('a path that can be read in two ways', () => {
  const token = tokenOf('editor')

  test.each([
    ['/api/v1/../secret', '/api/v1/../secret'],
    ['/api/v1/%2e%2e/x?token=secret-token', '/api/v1/%2e%2e/x'],
    ['/api/v1/..%2fx%3Ftoken=secret-token', '/api/v1/..%2fx'],
    ['/a/%2e%2e/%253ftoken=secret-token', '/a/%2e%2e/'],
    [`/a/../${token}/b`, '/a/../[redacted]/b'],
    [`/a/../x=${token.replaceAll('.', '%2E')}/b`, '/a/../x=[redacted]/b'],
    [`/${'a'.repeat(600)}/../b`, `/${'a'.repeat(511)}…`],
    ['/fine?a#secret-token', '/fine'],
  ])('is in the log with its client, without query and token: %s', async (target, rawPath) => {
    const postern = await startPostern()

    const answer = await postern.call(`GET ${target}`, { from: '127.0.0.8' })

    expect(postern.logText()).not.toContain('secret-token')
    expect(postern.logText()).not.toContain(token.slice(10))
    expect(answer.status).toBe(400)
    const [line] = postern
      .logText()
      .split('\n')
      .filter((text) => text.includes('ambiguous-path'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ client: '127.0.0.8', rawPath })
  })

  test('is logged with the client that a trusted proxy names', async () => {
    const postern = await startPostern({
      config: { application: { trustedProxies: ['127.0.0.1'] } },
    })

    await postern.call('GET /a/../b', { headers: ['X-Forwarded-For: 203.0.113.9'] })

    expect(postern.logText()).toMatch(/"rawPath":"\/a\/\.\.\/b","client":"203\.0\.113\.9"/)
  })
})

describe('gauges', () => {
  test('show the open connections of clients and to upstreams', async () => {
    const postern = await startPostern()
    const { opsPort } = postern
    const active = () => metricOf(opsPort, 'postern_client_connections{state="active"}')
    const idle = () => metricOf(opsPort, 'postern_client_connections{state="idle"}')
    const upstream = () => metricOf(opsPort, 'postern_upstream_connections')
    expect([await active(), await idle(), await upstream()]).toEqual([0, 0, 0])
    let answer = () => {}
    postern.upstream.answerWith((socket) => {
      answer = () => socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    })

    const client = await openByteClient(postern.publicPort)
    await until(async () => (await idle()) === 1)
    const authorization = `Authorization: Bearer ${tokenOf('editor')}`
    client.send(request('GET /api/v1/public/a', [authorization]))
    await until(() => postern.upstream.requests.length === 1)
    expect([await active(), await idle(), await upstream()]).toEqual([1, 0, 1])

    answer()
    await client.answers(1)
    expect([await active(), await idle(), await upstream()]).toEqual([0, 1, 1])
    client.socket.destroy()
    await until(async () => (await idle()) === 0)
  })
})

describe('a sampled log', () => {
  test('has one line a second for each kind, and says how many had none', async () => {
    const lines: object[] = []
    const write = (fields: object) => void lines.push(fields)
    const sample = createLogSample({ info: write, warn: write } as never)
    const fields = (reason: string) => ({ reason, client: '10.0.0.1' })

    for (let at = 0; at < 100; at++) sample('info', fields('a'), 'happened')
    sample('warn', fields('b'), 'happened')
    expect(lines).toEqual([fields('a'), fields('b')])

    await pause(1050)
    sample('info', fields('a'), 'happened')
    expect(lines.at(-1)).toEqual({ ...fields('a'), suppressed: 99 })
  })
})

import { describe, expect, test } from 'vitest'
import { createNameLookups } from '../../src/gateway/upstream/name-lookups.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

function start() {
  let time = 0
  const reports: string[] = []
  const lookups = createNameLookups(
    'orders',
    {
      failed: ({ upstream, host, failures }, { message }) =>
        reports.push(`${upstream} ${host} failed ${failures}: ${message}`),
      recovered: ({ host, failures }) => reports.push(`${host} recovered after ${failures}`),
    },
    () => time,
  )
  return { ...lookups, reports, wait: (ms: number) => (time += ms) }
}

describe('lookups of names', () => {
  test('that fail are all counted, and reported at first and once a minute', () => {
    const { ended, failures, reports, wait } = start()
    for (let turn = 0; turn < 5; turn++) ended('a.test', new Error('ENOTFOUND'))
    wait(59_999)
    ended('a.test', new Error('ENOTFOUND'))
    wait(1)
    ended('a.test', new Error('EAI_AGAIN'))
    ended('a.test', new Error('EAI_AGAIN'))

    expect(failures()).toBe(8)
    expect(reports).toEqual([
      'orders a.test failed 1: ENOTFOUND',
      'orders a.test failed 7: EAI_AGAIN',
    ])
  })

  test('are reported for each name, and when they succeed again, once', () => {
    const { ended, failures, reports } = start()
    ended('b.test', null)
    ended('a.test', new Error('ENOTFOUND'))
    ended('b.test', new Error('ENOTFOUND'))
    ended('a.test', new Error('ENOTFOUND'))
    ended('a.test', null)
    ended('a.test', null)
    ended('a.test', new Error('SERVFAIL'))

    expect(failures()).toBe(4)
    expect(reports).toEqual([
      'orders a.test failed 1: ENOTFOUND',
      'orders b.test failed 1: ENOTFOUND',
      'a.test recovered after 2',
      'orders a.test failed 1: SERVFAIL',
    ])
  })
})

describe('an upstream whose name cannot be looked up', () => {
  // RFC 6761: there is never anything under it.
  const host = 'orders.invalid'
  const upstreams = (dnsSeconds: number) => ({
    backend: { targets: [`http://${host}:80`], dnsSeconds },
  })
  const linesIn = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const counted = async (opsPort: number) => {
    const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
    return Number(
      /^postern_upstream_dns_failures_total\{upstream="backend"\} (\d+)$/m.exec(text)?.[1],
    )
  }

  test('is in the log once, with every request that failed for it, and in the metrics', async () => {
    const postern = await startPostern({ config: { upstreams: upstreams(0) } })
    expect(await counted(postern.opsPort)).toBe(0)
    for (let turn = 0; turn < 3; turn++) {
      expect((await postern.call('GET /api/v1/public/a', { as: 'editor' })).status).toBe(502)
    }

    const lines = linesIn(postern.logText())
    const reports = lines.filter(({ msg }) => msg === 'upstream name lookup failed')
    expect(reports).toEqual([
      expect.objectContaining({
        level: 'warn',
        upstream: 'backend',
        host,
        failures: 1,
        reason: expect.stringContaining(host),
      }),
    ])
    const requests = lines.filter(({ outcome }) => outcome === 'upstream-unreachable')
    expect(requests.map(({ reason }) => reason)).toEqual(
      Array(3).fill(expect.stringMatching(/^name lookup failed \((?:ENOTFOUND|EAI_[A-Z]+)\): /)),
    )
    expect(await counted(postern.opsPort)).toBe(3)
  })

  test('is reported without a request, too', async () => {
    const postern = await startPostern({ config: { upstreams: upstreams(10) } })

    await until(() => postern.logText().includes('"msg":"upstream name lookup failed"'))
    expect(await counted(postern.opsPort)).toBe(1)
  })
})

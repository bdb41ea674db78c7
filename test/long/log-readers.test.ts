import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { startReadBy, type WatchedGateway, withoutColours } from '../support/log-readers.ts'
import { until } from '../support/until.ts'

/** Makes so many requests whose log lines have about 6 KB each, and returns their statuses. */
async function callLong({ publicPort }: WatchedGateway, count: number): Promise<Set<number>> {
  const url = `http://127.0.0.1:${publicPort}/${'x'.repeat(6000)}`
  const statuses = new Set<number>()
  for (let made = 0; made < count; made += 50) {
    const batch = Array.from({ length: 50 }, async () => {
      const answer = await fetch(url)
      await answer.arrayBuffer()
      statuses.add(answer.status)
    })
    await Promise.all(batch)
  }
  return statuses
}

function isClosed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

const dropped = ({ opsPort }: WatchedGateway) => metricOf(opsPort, 'postern_log_dropped_total')

/** How many lines were dropped, once none is under way any more. */
async function settledDrops(gateway: WatchedGateway): Promise<number> {
  for (let before = await dropped(gateway); ; ) {
    await pause(200)
    const now = await dropped(gateway)
    if (now === before) return now
    before = now
  }
}

describe('a log that nobody reads any more', () => {
  test.each(['pipe', 'socket', 'terminal'] as const)(
    'on a %s costs lines, which are counted, and no request',
    async (reader) => {
      const gateway = await startReadBy(reader, { logger: { format: 'json' } })
      gateway.stopReading()

      expect(await callLong(gateway, 800)).toEqual(new Set([200]))
      // A terminal takes what it still has room for a moment later.
      await until(async () => (await settledDrops(gateway)) > 0)
      const first = await settledDrops(gateway)
      expect(await callLong(gateway, 100)).toEqual(new Set([200]))

      // What waits has a bound: once it is reached, every further line is dropped.
      await until(async () => (await dropped(gateway)) > first)
      expect((await settledDrops(gateway)) - first).toBe(100)
    },
  )
})

describe('a log on a terminal', () => {
  test('is for people, in colours', async () => {
    const gateway = await startReadBy('terminal')

    await fetch(`http://127.0.0.1:${gateway.publicPort}/orders?token=secret`)
    await until(() => gateway.text().includes('token-'))

    const line =
      gateway
        .text()
        .split('\r\n')
        .find((text) => text.includes('/orders')) ?? ''
    expect(line).toContain('\u001b[33m200 token-invalid\u001b[0m')
    expect(withoutColours(line)).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET \/orders 200 token-invalid [\d.]+ms - requestId=/,
    )
    expect(gateway.text()).not.toContain('secret')
  })

  test('has no colours where NO_COLOR asks for none', async () => {
    const gateway = await startReadBy('terminal', { env: { NO_COLOR: '1' } })

    expect(gateway.text()).toMatch(/INFO {2}listening port=\d+/)
    expect(gateway.text()).not.toContain('\u001b')
  })

  test('is JSON by choice', async () => {
    const gateway = await startReadBy('terminal', { logger: { format: 'json' } })

    expect(gateway.text()).toContain('"msg":"listening"')
  })
})

describe('a log elsewhere', () => {
  test('is written to the end, although its reader is slow and the gateway told to end', async () => {
    const gateway = await startReadBy('socket')
    gateway.stopReading()
    await callLong(gateway, 200)

    gateway.end()
    // The last thing but one that it does; the last is to write what waits.
    await until(() => isClosed(gateway.opsPort))
    gateway.goOnReading()
    await gateway.ended

    const lines = gateway.text().split('\n').slice(0, -1)
    const paths = lines.map((line): unknown => JSON.parse(line).path)
    expect(paths.filter((path) => /^\/x+$/.test(String(path)))).toHaveLength(200)
    expect(lines.filter((line) => line.includes('"msg":"shutting down"'))).toHaveLength(1)
  })

  test('is JSON', async () => {
    const gateway = await startReadBy('socket')

    expect(gateway.text()).toContain('"msg":"listening"')
  })

  test('is for people by choice, without colours', async () => {
    const gateway = await startReadBy('socket', { logger: { format: 'text' } })

    expect(gateway.text()).toMatch(/INFO {2}listening port=\d+/)
    expect(gateway.text()).not.toContain('\u001b')
  })
})

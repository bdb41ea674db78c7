import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ConsoleSession } from '../../src/console/access/session.ts'
import { addLiveRoutes, type WatchDecisions } from '../../src/console/live/routes.ts'
import { createStreams } from '../../src/console/live/streams.ts'
import { Traffic } from '../../src/console/live/traffic.ts'
import { until } from '../support/until.ts'

const session = { id: 'c-1', userId: '1', username: 'ada' } as ConsoleSession
/** Another login of the same person. */
const again = { id: 'c-3', userId: '1', username: 'ada' } as ConsoleSession
const other = { id: 'c-2', userId: '2', username: 'ben' } as ConsoleSession
const limits = { perPerson: 2, all: 3, checkMs: 20, pingMs: 50 }

async function start(watchDecisions?: WatchDecisions) {
  const ended = new Set<string>()
  const streams = createStreams({
    problemOf: async ({ id }) => (ended.has(id) ? 'ended' : undefined),
    limits,
  })
  const traffic = new Traffic({
    readFleet: async () => ({ revision: 'r'.repeat(60_000), counts: {}, replicas: [] }),
  })
  const server = fastify({ forceCloseConnections: true })
  const guard = {
    sessionOf: ({ headers }) => (headers['x-other'] ? other : headers['x-again'] ? again : session),
  } as Parameters<typeof addLiveRoutes>[1]['guard']
  addLiveRoutes(server, { guard, streams, traffic, watchDecisions })
  const base = await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  return { base, streams, traffic, server, end: (id: string) => void ended.add(id) }
}

async function follow(url: string, headers = {}) {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const response = await fetch(url, { signal: controller.signal, headers })
  let text = ''
  let isOver = false
  void (async () => {
    try {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
    } catch {}
    isOver = true
  })()
  return { response, text: () => text, isOver: () => isOver, close: () => controller.abort() }
}

describe('a live stream', () => {
  test('begins with the history, goes on with points, and has the headers of the console', async () => {
    const { base, traffic } = await start()
    await traffic.sample()
    await traffic.sample()
    const stream = await follow(`${base}/live/traffic`)
    await until(() => stream.text().includes('event: history'))
    await traffic.sample()
    await until(() => stream.text().includes('event: point'))

    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/)
    expect(stream.response.headers.get('cache-control')).toBe('no-store')
    expect(stream.text()).toContain('"stepMs":10000,"points":[{"at":')
    await until(() => stream.text().includes(': still here'))
  })

  test('ends with its session, and only with its own', async () => {
    const { base, end, streams } = await start()
    const [own, others] = [
      await follow(`${base}/live/traffic`),
      await follow(`${base}/live/traffic`, { 'x-other': '1' }),
    ]
    end(session.id)
    await until(own.isOver)
    await streams.check()

    expect(others.isOver()).toBe(false)
    expect(streams.count()).toBe(1)
  })

  test('to a client that stopped reading is cut when its session ends, and keeps nothing for it', async () => {
    const { base, traffic, streams, end, server } = await start()
    const sockets: Socket[] = []
    server.server.on('connection', (socket) => sockets.push(socket))
    const client = connect(Number(new URL(base).port), '127.0.0.1')
    onTestFinished(() => void client.destroy())
    client.pause()
    client.write('GET /live/traffic HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => streams.count() === 1)
    const reader = await follow(`${base}/live/traffic`, { 'x-other': '1' })
    const pointsRead = () => reader.text().split('event: point').length - 1
    await traffic.sample()
    // Each point has about 60 KB.
    for (let turn = 1; turn <= 100; turn++) {
      await traffic.sample()
      await until(() => pointsRead() === turn)
    }

    expect(sockets[0]?.writableLength ?? 0).toBeLessThan(1_000_000)
    end(session.id)
    await until(() => sockets[0]?.destroyed === true)
  })

  test('beyond the limits of a person, over all their sessions, or of all is refused', async () => {
    const { base, streams } = await start()
    const first = await follow(`${base}/live/traffic`)
    await follow(`${base}/live/traffic`, { 'x-again': '1' })
    const third = await fetch(`${base}/live/traffic`)
    const [ofOther, beyond] = [
      await follow(`${base}/live/traffic`, { 'x-other': '1' }),
      await fetch(`${base}/live/traffic`, { headers: { 'x-other': '1' } }),
    ]

    expect([third.ok, ofOther.response.ok, beyond.ok]).toEqual([false, true, false])
    first.close()
    await until(() => streams.count() === 2)
    expect((await follow(`${base}/live/traffic`)).response.ok).toBe(true)
  })

  test('of decisions watches only while someone looks, once for all', async () => {
    const begun: Parameters<WatchDecisions>[0][] = []
    let ends = 0
    const { base, streams } = await start((listener) => {
      begun.push(listener)
      return () => void ends++
    })
    const [one, two] = [
      await follow(`${base}/live/decisions`),
      await follow(`${base}/live/decisions`),
    ]
    await until(() => two.text().includes('"available":true'))
    begun[0]?.onBatch({ decisions: [], leftOut: 7 })
    await until(() => one.text().includes('"leftOut":7') && two.text().includes('"leftOut":7'))
    begun[0]?.onConnected(true)
    await until(() => one.text().includes('"connected":true'))
    one.close()
    await until(() => streams.count() === 1)
    const late = await follow(`${base}/live/decisions`)
    await until(() => late.text().includes('"connected":true'))
    begun[0]?.onConnected(false)
    await until(
      () => late.text().lastIndexOf('"connected":false') > late.text().indexOf('"connected":true'),
    )

    expect(begun.length).toBe(1)
    late.close()
    two.close()
    await until(() => ends === 1)
  })

  test('says where no gateway can be heard', async () => {
    const { base } = await start()
    const stream = await follow(`${base}/live/decisions`)
    await until(() => stream.text().includes('"available":false'))
  })
})

describe('requests per step', () => {
  const at = (outcomes: Record<string, number>, startedAt = 's1', id = 'gw-1') => ({
    id,
    facts: { startedAt, outcomes },
  })

  test('are the growth of the totals; a restart counts from zero, a gap does not', async () => {
    const fleets = [
      [at({ passed: 100 })],
      [at({ passed: 110, 'not-permitted': 2 }), at({ passed: 5 }, 's1', 'gw-2')],
      undefined,
      [at({ passed: 120, 'not-permitted': 2 })],
      [at({ passed: 3 }, 's2'), at({ passed: 6 }, 's1', 'gw-2')],
    ]
    let turn = 0
    const traffic = new Traffic({
      now: () => turn,
      async readFleet() {
        const replicas = fleets[turn++]
        if (replicas === undefined) throw new Error('down')
        return { revision: 'r-1', counts: { current: 1 }, replicas }
      },
    })
    for (const _ of fleets) await traffic.sample()

    expect(traffic.points().map(({ outcomes }) => outcomes)).toEqual([
      { passed: 15, 'not-permitted': 2 },
      undefined,
      { passed: 10 },
      { passed: 4 },
    ])
  })

  test('are kept for an hour', async () => {
    const traffic = new Traffic({
      readFleet: async () => ({ revision: null, counts: {}, replicas: [] }),
    })
    for (let turn = 0; turn < 400; turn++) await traffic.sample()

    expect(traffic.points().length).toBe(360)
  })
})

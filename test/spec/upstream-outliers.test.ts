import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'
const failing = 'HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'

async function startTwo(settings: Readonly<Record<string, unknown>>, weights?: readonly number[]) {
  const both = [await startRecordingUpstream(), await startRecordingUpstream()] as const
  for (const one of both) onTestFinished(one.close)
  const targets = both.map(({ origin }, at) =>
    weights === undefined ? origin : { url: origin, weight: weights[at] },
  )
  const postern = await startPostern({
    config: { upstreams: { backend: { targets, ...settings } } },
  })
  return { bad: both[0], good: both[1], postern }
}

async function call(postern: TestPostern, times: number): Promise<number[]> {
  const found: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const answer = await postern.call(get, { as: 'editor' }).catch(() => ({ status: 0 }))
    found.push(answer.status)
  }
  return found
}

const breakOff = (socket: Socket) => {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy())
}

describe('a target that responds badly', () => {
  test('gets no requests after consecutive 5xx, is shown as ejected, and comes back', async () => {
    const outlier = { consecutive5xx: 3, baseEjectionMs: 300, rampMs: 0 }
    const { bad, good, postern } = await startTwo({ outlier })
    bad.answerWith((socket) => socket.write(failing))

    expect((await call(postern, 12)).filter((status) => status === 500)).toHaveLength(3)
    expect([bad.requests.length, good.requests.length]).toEqual([3, 9])
    expect(postern.logText()).toContain('upstream target ejected')
    expect(await metricOf(postern.opsPort, 'postern_upstream_ejections_total')).toBe(1)

    bad.answerWith((socket) => socket.write(ok))
    await until(async () => {
      await call(postern, 2)
      return bad.requests.length > 6
    })
  })

  test('gets no requests after consecutive responses that break off, by default', async () => {
    const { bad, good, postern } = await startTwo({ retries: 0 })
    bad.answerWith(breakOff)
    await call(postern, 20)

    expect(bad.requests.length).toBe(5)
    expect(good.requests.length).toBe(15)
  })

  test('keeps its requests by default if it answers 5xx: that is its own answer', async () => {
    const { bad, postern } = await startTwo({})
    bad.answerWith((socket) => socket.write(failing))
    await call(postern, 20)

    expect(bad.requests.length).toBe(10)
  })

  test('keeps its requests if it is the last one, or too many are ejected', async () => {
    const outlier = { consecutive5xx: 1 }
    const { bad, good, postern } = await startTwo({ outlier })
    for (const one of [bad, good]) one.answerWith((socket) => socket.write(failing))
    await call(postern, 10)

    expect(await metricOf(postern.opsPort, 'postern_upstream_ejections_total')).toBe(1)
    expect(bad.requests.length + good.requests.length).toBe(10)
  })
})

describe('weights', () => {
  test('divide the requests', async () => {
    const { bad, good, postern } = await startTwo({}, [1, 4])
    await call(postern, 20)
    expect([bad.requests.length, good.requests.length]).toEqual([4, 16])
  })

  test('of 0 mean no requests, not even a retry', async () => {
    const { bad, good, postern } = await startTwo({ retries: 3 }, [0, 1])
    good.answerWith((socket) => socket.destroy())
    await call(postern, 4)
    expect(bad.requests.length).toBe(0)
  })
})

test('idle connections are closed after idleTimeoutMs', async () => {
  const { postern } = await startTwo({ idleTimeoutMs: 300 })
  await call(postern, 2)
  expect(await metricOf(postern.opsPort, 'postern_upstream_connections')).toBe(2)
  await until(async () => (await metricOf(postern.opsPort, 'postern_upstream_connections')) === 0)
})

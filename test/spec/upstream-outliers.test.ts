import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
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

describe('a target is not ejected', () => {
  const half = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'
  const outlier = { consecutive5xx: 1, consecutiveBroken: 2 }

  test('by responses that time out, that break at once, or that clients leave', async () => {
    const { bad, good, postern } = await startTwo({ outlier, bodyTimeoutMs: 100, retries: 0 })
    const open = new Set<Socket>()
    for (const one of [bad, good]) {
      one.answerWith((socket) => {
        open.add(socket)
        socket.write(half)
      })
    }
    const token = tokenOf('editor')
    const url = `http://127.0.0.1:${postern.publicPort}/api/v1/public/a`
    const begin = async (signal?: AbortSignal) => {
      const headers = { authorization: `Bearer ${token}` }
      return fetch(url, { headers, ...(signal && { signal }) })
    }
    for (let turn = 0; turn < 6; turn++) {
      await expect((await begin()).text()).rejects.toThrow()
    }
    for (let turn = 0; turn < 6; turn++) {
      const leaving = new AbortController()
      await begin(leaving.signal)
      leaving.abort()
    }
    open.clear()
    const responses = await Promise.all(Array.from({ length: 8 }, () => begin()))
    expect(open.size).toBe(8)
    for (const socket of open) socket.destroy()
    await Promise.allSettled(responses.map((response) => response.text()))

    expect(await metricOf(postern.opsPort, 'postern_upstream_ejections_total')).toBe(0)
  })

  test('if it is the only one', async () => {
    const bad = await startRecordingUpstream()
    onTestFinished(bad.close)
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [bad.origin], outlier } } },
    })
    bad.answerWith((socket) => socket.write(failing))
    expect(await call(postern, 3)).toEqual([500, 500, 500])
  })
})

test('a target that returns has a small share, which grows', async () => {
  const outlier = { consecutive5xx: 1, baseEjectionMs: 10, rampMs: 600_000 }
  const { bad, good, postern } = await startTwo({ outlier })
  bad.answerWith((socket) => socket.write(failing))
  await call(postern, 2)
  bad.answerWith((socket) => socket.write(ok))
  const report = () => postern.ops.upstreams()[0]?.targets[0]
  await until(() => report()?.ejectedMs === 0)
  expect(report()).toMatchObject({ ejections: 1, sharePercent: 10 })
  const before = [bad.requests.length, good.requests.length] as const
  await call(postern, 22)

  expect(bad.requests.length - before[0]).toBe(2)
  expect(good.requests.length - before[1]).toBe(20)
})

describe('a target that fails a steady part of its requests', () => {
  const errorShare = { percent: 30, requests: 5, intervalMs: 200 }
  /** Every second response of the target is a failure. */
  const everySecond = (script: (socket: Socket) => void) => {
    let count = 0
    return (socket: Socket) => (++count % 2 === 0 ? script(socket) : void socket.write(ok))
  }

  test.each([
    ['with a 500', (socket: Socket) => void socket.write(failing)],
    ['breaking off', breakOff],
    ['without a response', (socket: Socket) => void socket.destroy()],
  ])('%s, is ejected by its share of errors, which is reported', async (_, script) => {
    const outlier = { consecutive5xx: 3, errorShare, baseEjectionMs: 60_000 }
    // On a connection that was idle, a close without a response says nothing about the target.
    const { bad, postern } = await startTwo({ outlier, retries: 0, keepAlive: false })
    bad.answerWith(everySecond(script))
    const report = () => postern.ops.upstreams()[0]?.targets ?? []

    await until(async () => {
      await call(postern, 4)
      return report().some(({ ejectedMs }) => ejectedMs > 0)
    })
    const before = bad.requests.length
    await call(postern, 10)
    expect(bad.requests.length).toBe(before)
    expect(postern.logText()).toContain('error-share')
    expect(report()[0]).toMatchObject({ target: bad.origin, ejections: 1 })
    await until(async () => {
      await call(postern, 4)
      return (report()[1]?.recentRequests ?? 0) > 0
    })
    expect(report()[1]).toMatchObject({ recentFailures: 0 })
  })

  test('keeps its requests by default, and if the others fail as often', async () => {
    const off = await startTwo({ outlier: { errorShare: { requests: 1, intervalMs: 100 } } })
    off.bad.answerWith(everySecond((socket) => void socket.write(failing)))
    const both = await startTwo({ outlier: { errorShare: { ...errorShare, percent: 20 } } })
    for (const one of [both.bad, both.good]) {
      one.answerWith(everySecond((socket) => void socket.write(failing)))
    }
    const begin = performance.now()
    await until(async () => {
      for (const { postern } of [off, both]) await call(postern, 4)
      return performance.now() - begin > 700
    })

    for (const { postern } of [off, both]) {
      expect(await metricOf(postern.opsPort, 'postern_upstream_ejections_total')).toBe(0)
    }
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

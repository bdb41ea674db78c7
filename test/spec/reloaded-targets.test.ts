import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Config } from '../../src/config/schema/schema.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

type Settings = Config['upstreams'][string]

const day = 86_400_000
const failing = (socket: Socket) => {
  socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n')
}

async function startTarget() {
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  return target
}

/** A gateway whose upstream `backend` can be changed while it runs. */
async function start(targets: readonly string[], settings: Readonly<Record<string, unknown>>) {
  const postern = await startPostern({
    config: { upstreams: { backend: { targets, ...settings } } },
  })
  let active = postern.config
  async function reload(change: Partial<Settings>): Promise<void> {
    const backend = { ...(active.upstreams['backend'] as Settings), ...change }
    active = { ...active, upstreams: { ...active.upstreams, backend } }
    await postern.apply(active)
  }
  async function call(times: number): Promise<void> {
    for (let turn = 0; turn < times; turn++) {
      await postern.call('GET /api/v1/public/a', { as: 'editor' })
    }
  }
  function report(target: string) {
    const backend = postern.ops.upstreams().find(({ name }) => name === 'backend')
    const found = backend?.targets.find((one) => one.target === target)
    if (found === undefined) throw new Error(`no target ${target}`)
    return found
  }
  const backend = () => active.upstreams['backend'] as Settings
  return { postern, reload, call, report, backend }
}

describe('after a reload, a target with the same address', () => {
  test('stays ejected when a weight, a timeout or a threshold changes, until its detection is off', async () => {
    const [bad, good] = [await startTarget(), await startTarget()]
    bad.answerWith(failing)
    const outlier = { consecutive5xx: 2, baseEjectionMs: day, maxEjectionMs: day, rampMs: day }
    const { reload, call, report, backend } = await start([bad.origin, good.origin], { outlier })
    await call(6)
    expect(report(bad.origin)).toMatchObject({ ejections: 1, ejectedMs: expect.any(Number) })
    const before = bad.requests.length

    await reload({ targets: [bad.origin, { url: good.origin, weight: 3 }] })
    await call(6)
    await reload({ headersTimeoutMs: 1234 })
    await call(6)
    await reload({ outlier: { ...backend().outlier, consecutive5xx: 9 } })
    await call(6)
    expect(report(bad.origin)).toMatchObject({ ejections: 1 })
    expect(report(bad.origin).ejectedMs).toBeGreaterThan(day / 2)
    expect(bad.requests.length).toBe(before)

    await reload({ outlier: { ...backend().outlier, maxEjectionMs: 60_000 } })
    expect(report(bad.origin).ejectedMs).toBeLessThanOrEqual(60_000)
    await reload({ outlier: { ...backend().outlier, consecutive5xx: 0, rampMs: 0 } })
    expect(report(bad.origin)).toMatchObject({ ejectedMs: 0, sharePercent: 100 })
    await call(8)
    expect(bad.requests.length).toBeGreaterThan(before)
  })

  test('keeps its open circuit and last error, and is still tried until it is reachable', async () => {
    const good = await startTarget()
    const server = createServer((socket) => socket.on('data', () => socket.write(ok)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    const origin = `http://127.0.0.1:${port}`
    const breaker = { failures: 1, openMs: day, maxOpenMs: day }
    const { reload, call, report } = await start([origin, good.origin], { breaker })
    await call(4)
    expect(report(origin).circuit).toBe('open')

    // Other connection settings, and so another pool.
    await reload({ connectTimeoutMs: 1234, breaker: { ...breaker, failures: 3 } })
    expect(report(origin)).toMatchObject({
      circuit: 'open',
      lastError: { message: expect.stringContaining('ECONNREFUSED') },
    })
    server.listen(port, '127.0.0.1')
    onTestFinished(() => void server.close())
    await until(() => report(origin).circuit !== 'open')
    await until(async () => {
      await call(2)
      return report(origin).circuit === 'closed'
    })
    await reload({ breaker: { ...breaker, openMs: 10 } })
  })

  test('stays unhealthy, and the new thresholds decide when it is healthy', async () => {
    const [bad, good] = [await startTarget(), await startTarget()]
    bad.answerWith(failing)
    const healthCheck = { path: '/up', intervalMs: 100, unhealthyAfter: 1, healthyAfter: 100 }
    const { reload, report, backend } = await start([bad.origin, good.origin], { healthCheck })
    await until(() => !report(bad.origin).healthy)

    const slower = { ...backend().healthCheck, path: '/up', unhealthyAfter: 100, intervalMs: day }
    await reload({ healthCheck: { ...slower, timeoutMs: 500, healthyAfter: 1 } })
    expect(report(bad.origin).healthy).toBe(false)
    bad.answerWith((socket) => socket.write(ok))
    await reload({ bodyTimeoutMs: 1234 })
    await until(() => report(bad.origin).healthy)
  })

  test('does not start slowly again, and a new one does', async () => {
    const [one, other] = [await startTarget(), await startTarget()]
    const { reload, report } = await start([one.origin], { slowStartMs: 50 })
    await until(() => report(one.origin).sharePercent === 100)

    await reload({ slowStartMs: day })
    expect(report(one.origin).sharePercent).toBe(100)
    await reload({ targets: [one.origin, other.origin] })
    expect(report(one.origin).sharePercent).toBe(100)
    expect(report(other.origin).sharePercent).toBeLessThan(50)
    await reload({ headersTimeoutMs: 1234 })
    expect(report(other.origin).sharePercent).toBeLessThan(50)
  })

  test('still counts the requests that began before', async () => {
    const target = await startTarget()
    let answer = () => {}
    target.answerWith((socket) => {
      answer = () => socket.write(ok)
    })
    const { reload, call, report } = await start([target.origin], {})
    const waiting = call(1)
    await until(() => target.requests.length === 1)

    await reload({ headersTimeoutMs: 12_345 })
    expect(report(target.origin).outstanding).toBe(1)
    answer()
    await waiting
    await until(() => report(target.origin).outstanding === 0)
  })
})

test('a target that a reload removes finishes its responses, and closes idle connections at once', async () => {
  const [removed, kept] = [await startTarget(), await startTarget()]
  let stream: Socket | undefined
  removed.answerWith((socket, { target }) => {
    if (target.endsWith('/idle')) return void socket.write(ok)
    stream = socket
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n')
  })
  const { postern, reload } = await start([removed.origin], {})
  const get = (name: string) => postern.call(`GET /api/v1/public/${name}`, { as: 'editor' })
  const events = get('events')
  await until(() => stream !== undefined)
  await get('idle')
  expect(removed.connections()).toBe(2)

  await reload({ targets: [kept.origin] })
  await until(() => removed.connections() === 1)
  await get('other')
  expect([removed.requests.length, kept.requests.length]).toEqual([2, 1])
  stream?.write('data: 2\n\n')
  stream?.end('data: 3\n\n')
  expect((await events).body).toMatch(/data: 1\n\n.*data: 2\n\n.*data: 3\n\n/s)
  await until(() => removed.connections() === 0)
})

test('a target that a reload removed and another brought back is a new one', async () => {
  const [bad, good] = [await startTarget(), await startTarget()]
  bad.answerWith(failing)
  const outlier = { consecutive5xx: 1, baseEjectionMs: day, maxEjectionMs: day }
  const { reload, call, report } = await start([bad.origin, good.origin], { outlier })
  await call(4)
  expect(report(bad.origin).ejections).toBe(1)

  await reload({ targets: [good.origin] })
  await reload({ targets: [bad.origin, good.origin] })
  expect(report(bad.origin)).toMatchObject({ ejections: 0, ejectedMs: 0, lastError: null })
})

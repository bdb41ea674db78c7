import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** A gateway that has as much to do as it may: two requests that their service does not answer. */
async function fullGateway(
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
) {
  const postern = await startPostern({ config: { ...config, overload: { inFlight: 2 } } })
  const answers: (() => void)[] = []
  postern.upstream.answerWith((socket) => void answers.push(() => void socket.write(ok)))
  const inFlight = [1, 2].map((id) => postern.call(`GET /slow/${id}`, { as: 'admin' }))
  await until(() => answers.length === 2)
  return { postern, inFlight, release: () => answers.forEach((answer) => void answer()) }
}

const metric = async ({ opsPort }: TestPostern) =>
  (await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()).match(
    /postern_requests_total\{.*outcome="overloaded"\} (\d+)/,
  )?.[1]

describe('a gateway with more in flight than it may have', () => {
  test.each([
    ['a call', 'GET /api/v1/orders', { as: 'admin' }],
    ['a call of nobody', 'GET /api/v1/orders', {}],
    ['an upload', 'POST /api/v1/orders', { as: 'admin', body: 'x'.repeat(1000) }],
    ['a login', 'POST /api/v1/login', { body: '{"username":"admin"}' }],
    [
      'an upgrade',
      'GET /socket',
      { as: 'admin', headers: ['Connection: Upgrade', 'Upgrade: websocket'] },
    ],
  ])('refuses %s with 503 and finishes what it has', async (_, line, options) => {
    const { postern, inFlight, release } = await fullGateway()

    const refused = await postern.call(line, options)

    expect(refused.status).toBe(503)
    expect(refused.json()).toEqual({
      code: 503,
      msg: 'too much to do, try again later',
      requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    })
    expect(refused.header('retry-after')).toBe('1')
    expect(postern.upstream.requests).toHaveLength(2)
    release()
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual([200, 200])
    postern.upstream.answerWith((socket) => socket.write(ok))
    expect((await postern.call('GET /again', { as: 'admin' })).status).toBe(200)
  })

  test('keeps the connection of what it refuses, and reads on behind its body', async () => {
    const { postern, release } = await fullGateway()
    const post = request('POST /x', ['Content-Length: 4'], 'body')

    const { answers, closed } = await sendRaw(postern.publicPort, [post, post], { expected: 2 })

    expect({ statuses: answers.map(({ status }) => status), closed }).toEqual({
      statuses: [503, 503],
      closed: false,
    })
    release()
  })

  test('refuses the questions of proxies too', async () => {
    const { postern, release } = await fullGateway({
      forwardAuth: { enabled: true, port: 0 },
      application: { trustedProxies: ['127.0.0.1'] },
    })

    const { answers } = await sendRaw(postern.forwardAuthPort ?? 0, request('GET /'))

    expect(answers.map(({ status }) => status)).toEqual([503])
    release()
  })

  test('lets a page read the refusal that may read its other answers', async () => {
    const { postern, release } = await fullGateway({ cors: { origins: ['https://shop.test'] } })

    const refused = await postern.call('GET /x', { headers: ['Origin: https://shop.test'] })

    expect(refused.status).toBe(503)
    expect(refused.header('access-control-allow-origin')).toBe('https://shop.test')
    release()
  })

  test('counts what it refuses, says how many once a second, and stays ready', async () => {
    const { postern, release } = await fullGateway()

    const calls = Array.from({ length: 20 }, () => postern.call('GET /x', { as: 'admin' }))
    await Promise.all(calls)
    const ready = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz`)
    release()
    await until(() => postern.logText().includes('no longer overloaded'))

    expect(ready.status).toBe(200)
    expect(await metric(postern)).toBe('20')
    const lines = postern
      .logText()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter(({ outcome }) => outcome === 'overloaded')).toEqual([])
    const told = lines.filter(({ msg }) => msg === 'overloaded')
    expect(told.length).toBeLessThan(20)
    expect(told.reduce((sum, { refused }) => sum + refused, 0)).toBe(20)
  })
})

describe('a gateway whose event loop is late all the time', () => {
  test('refuses some of what is new, answers on the ops port, and serves again afterwards', async () => {
    const { gateway } = await startLoneGateway(
      { overload: { loopDelayMs: 100 } },
      { preload: 'misbehaves.ts', env: { MISBEHAVE: 'hold' } },
    )
    const get = request('GET /x', [`Authorization: Bearer ${tokenOf('admin')}`])
    const status = async () =>
      (await sendRaw(gateway.publicPort, get, { quietMs: 60_000 })).answers[0]?.status
    expect(await status()).toBe(200)

    gateway.signal('SIGUSR2')
    await until(async () => (await status()) === 503)
    const ratio = await metricOf(gateway.opsPort, 'postern_shed_ratio')

    expect(ratio).toBeGreaterThan(0)
    expect(ratio).toBeLessThanOrEqual(0.9)
    gateway.signal('SIGUSR2')
    await until(async () => (await metricOf(gateway.opsPort, 'postern_shed_ratio')) === 0)
    expect(await status()).toBe(200)
  })
})

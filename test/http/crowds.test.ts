import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ArrivalRate } from '../../src/http/connections/arrival-rate.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = request('GET /api/v1/public/a', [`Authorization: Bearer ${tokenOf('editor')}`])

/** In a process of its own, which goes on while our loop stands still. */
function startFlood(port: number, count: number) {
  const file = join(import.meta.dirname, '..', 'support', 'flood.mjs')
  const args = JSON.stringify({ port, count, atATime: count, request: get })
  const flood = spawn(process.execPath, [file, args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void flood.kill())
  return once(flood, 'exit')
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test.each([
  ['the plain request reader', true],
  ['the parser of Node', false],
])(
  '%s runs no request of a crowd that has left, and answers those who stay',
  async (_, plainRequests) => {
    const postern = await startPostern({ config: { application: { plainRequests } } })
    const count = 400
    const { opsPort, publicPort, upstream } = postern
    const left = () => metricOf(opsPort, 'postern_requests_rejected_total{reason="client-left"}')

    const over = startFlood(publicPort, count)
    // All of them come and leave meanwhile, on a machine that is not too busy.
    standStill(2000)
    const staying = Promise.all(
      Array.from({ length: 20 }, () => sendRaw(publicPort, get, { quietMs: 60_000 })),
    )

    expect((await staying).map(({ answers }) => answers[0]?.status)).toEqual(Array(20).fill(200))
    await over
    await until(async () => (await left()) + upstream.requests.length >= count / 2)
    expect(await left()).toBeGreaterThan(count / 4)
    expect(await left()).toBeGreaterThan(upstream.requests.length)
  },
)

test('many connections within a short time are a crowd, and after a while none', async () => {
  const rate = new ArrivalRate()
  for (let at = 0; at < 15; at++) rate.arrived()
  expect(rate.isCrowd()).toBe(false)
  for (let at = 0; at < 16; at++) rate.arrived()
  expect(rate.isCrowd()).toBe(true)

  await until(() => !rate.isCrowd())
  rate.arrived()
  expect(rate.isCrowd()).toBe(false)
})

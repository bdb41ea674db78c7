import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ArrivalRate } from '../../src/http/connections/arrival-rate.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = request('GET /api/v1/public/a', [`Authorization: Bearer ${tokenOf('editor')}`])

/** All of them come and leave while our loop stands still, however busy the machine is. */
function flood(port: number, count: number): void {
  const file = join(import.meta.dirname, '..', 'support', 'flood.mjs')
  const args = JSON.stringify({ port, count, atATime: count, request: get })
  const { status } = spawnSync(process.execPath, [file, args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`the flood ended with ${status}`)
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

    flood(publicPort, count)
    const staying = Promise.all(
      Array.from({ length: 20 }, () => sendRaw(publicPort, get, { quietMs: 60_000 })),
    )

    expect((await staying).map(({ answers }) => answers[0]?.status)).toEqual(Array(20).fill(200))
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

import { expect, test } from 'vitest'
import { rollingRestarts } from '../support/rolling-restarts.ts'

// T230: ten restarts; `npm test` has three, `npm run soak:restarts` as many as you ask for.
test('two gateways restarted in turn, ten times under load, fail no request', async () => {
  const restarts = 10
  const { exitCodes, calls, failed, reasons } = await rollingRestarts({
    restarts,
    perSecond: 100,
    workers: 1,
  })

  expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
  expect(exitCodes).toEqual(Array(restarts).fill(0))
  expect(calls['POST']).toBeGreaterThan(50)
})

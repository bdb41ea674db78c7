import { expect, test } from 'vitest'
import { rollingRestarts } from '../support/rolling-restarts.ts'

// T230; `npm run soak:restarts` restarts them as often as you ask for.
test.each([
  ['two gateways', 1, 10],
  ['two gateways of two workers each', 2, 2],
])('%s that are restarted in turn under load fail no request', async (_, workers, restarts) => {
  const { exitCodes, calls, failed, reasons } = await rollingRestarts({
    restarts,
    perSecond: 100,
    workers,
  })

  expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
  expect(exitCodes).toEqual(Array(restarts).fill(0))
  expect(calls['POST']).toBeGreaterThan(50)
})

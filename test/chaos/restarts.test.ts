import { expect, test } from 'vitest'
import { rollingRestarts } from '../support/rolling-restarts.ts'

// T230, in short; `npm run soak:restarts` is the long form.
test('two gateways that are restarted in turn under load fail no request', async () => {
  const { exitCodes, calls, failed, reasons } = await rollingRestarts({
    restarts: 3,
    perSecond: 100,
  })

  expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
  expect(exitCodes).toEqual([0, 0, 0])
  expect(calls['POST']).toBeGreaterThan(50)
}, 90_000)

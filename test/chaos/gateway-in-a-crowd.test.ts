import { expect, test } from 'vitest'
import { atEndOfTurn, callBegan, callEnded } from '../../src/wire/end-of-turn.ts'
import { gatherCrowd } from '../support/crowd.ts'
import { until } from '../support/until.ts'

/*
 * What can go wrong on the way to an upstream and back, once more with so much else under way that
 * requests and answers leave at the end of their turn. Each test file has modules of its own: no
 * other one sees this crowd.
 */
gatherCrowd()

await import('../spec/streaming.test.ts')
await import('../spec/upgrades.test.ts')
await import('../gateway/continue.test.ts')
await import('../gateway/retries.test.ts')
await import('../gateway/upgrade-faults.test.ts')

test('whatever began has ended', async () => {
  const isCrowd = () => {
    let ran = false
    atEndOfTurn(() => {
      ran = true
    })
    return !ran
  }
  await until(() => {
    callEnded()
    const wasLast = !isCrowd()
    callBegan()
    return wasLast
  })

  expect(isCrowd()).toBe(true)
})

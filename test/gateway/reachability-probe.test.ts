import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createReachabilityProbe } from '../../src/gateway/upstream/state/reachability-probe.ts'
import { until } from '../support/until.ts'

/** A target that can be reached from the given connection on. */
function startProbe(reachableFrom: number) {
  const seen = { connects: 0, reachable: 0, isWanted: true }
  const probe = createReachabilityProbe({
    connect(settled) {
      seen.connects++
      if (seen.connects >= reachableFrom) {
        seen.reachable++
        seen.isWanted = false
      }
      setImmediate(settled)
    },
    isWanted: () => seen.isWanted,
  })
  onTestFinished(probe.close)
  return { seen, probe }
}

describe('a probe', () => {
  test('connects until it succeeds, and not again', async () => {
    const { seen, probe } = startProbe(3)
    probe.start()
    probe.start()
    await until(() => seen.reachable === 1)
    await pause(200)

    expect(seen).toMatchObject({ connects: 3, reachable: 1 })
  })

  test('begins anew after it has succeeded', async () => {
    const { seen, probe } = startProbe(1)
    probe.start()
    await until(() => seen.reachable === 1)
    await pause(20)
    seen.isWanted = true
    probe.start()

    await until(() => seen.reachable === 2)
  })

  test('ends when it is not wanted any more, and may begin anew', async () => {
    const { seen, probe } = startProbe(1)
    seen.isWanted = false
    probe.start()
    await pause(300)
    expect(seen.connects).toBe(0)
    seen.isWanted = true
    probe.start()

    await until(() => seen.reachable === 1)
  })

  test('connects no more once it is closed', async () => {
    const { seen, probe } = startProbe(1000)
    probe.start()
    await until(() => seen.connects === 2)
    probe.close()
    probe.start()
    await pause(500)

    expect(seen.connects).toBe(2)
  })
})

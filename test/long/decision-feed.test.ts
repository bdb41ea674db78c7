import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { DecisionBatch, WatchedDecision } from '../../src/fleet/decision-batch.ts'
import { policyKeys } from '../../src/stores/policies/document/policy-keys.ts'
import { createDecisionFeed } from '../../src/stores/policies/replicas/decision-feed.ts'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { watchDecisions } from '../../src/stores/policies/replicas/watch-decisions.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const decision: WatchedDecision = {
  ...{ at: '2026-11-17T08:00:00Z', gateway: 'gw-1', method: 'GET', path: '/orders' },
  ...{ result: 'deny', reason: 'no-rule', step: 'none' },
}
const keys = policyKeys(testPrefix)
const own = { revision: 'r-000000000000', sequence: 1, stale: false, version: '1.0.0', id: 'gw-1' }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => redis.client.flushall())

async function watch(port = redis.port) {
  const settings = {
    ...{ url: `redis://127.0.0.1:${port}`, prefix: testPrefix },
    ...{ connectTimeoutMs: 2000, commandTimeoutMs: 1000 },
  }
  const batches: DecisionBatch[] = []
  const states: boolean[] = []
  const end = watchDecisions(await connectRedis(redis), settings, {
    onBatch: (batch) => batches.push(batch),
    onConnected: (is) => states.push(is),
  })
  onTestFinished(end)
  return { batches, states, end }
}

const say = (text: string) => redis.client.publish(keys.decisions, text)

describe('decisions over Redis', () => {
  test('reach a console that watches, and cost nothing without one', async () => {
    const replicas = createReplicas(await connectRedis(redis))
    expect(await replicas.report(own)).toBe(false)
    let taken = 0
    const feed = createDecisionFeed(await connectRedis(redis), () => {
      taken++
      return { decisions: [decision], leftOut: 2 }
    })
    onTestFinished(feed.close)
    const { batches, states } = await watch()
    await until(() => states.at(-1) === true)
    expect(taken).toBe(0)

    await until(() => replicas.report(own))
    feed.watched()
    await until(() => batches.length > 0)
    expect(batches[0]).toEqual({ decisions: [decision], leftOut: 2 })
  })

  test('are cut to their limits, whoever sends them', async () => {
    const { batches, states } = await watch()
    await until(() => states.at(-1) === true)
    await say('no JSON')
    await say(JSON.stringify({ decisions: 'none' }))
    await say(JSON.stringify({ decisions: [], leftOut: 1, filler: 'x'.repeat(300_000) }))
    await say(JSON.stringify({ decisions: Array.from({ length: 40 }, () => decision), leftOut: 1 }))
    await until(() => batches.length > 0)

    expect(batches.map((batch) => [batch.decisions.length, batch.leftOut])).toEqual([[25, 16]])
  })

  test('are heard again after the connection died silently', async () => {
    const proxy = await startFaultProxy(redis.port)
    onTestFinished(proxy.close)
    const { batches, states } = await watch(proxy.port)
    await until(() => states.at(-1) === true)

    proxy.inject({ hold: true })
    // Nothing is sent on this connection: only a ping can find out.
    await until(() => states.at(-1) === false)
    proxy.inject({})
    await until(() => states.at(-1) === true)
    await say(JSON.stringify({ decisions: [], leftOut: 7 }))
    await until(() => batches.some(({ leftOut }) => leftOut === 7))
  })

  test('are no longer asked for once the console stops watching', async () => {
    const { states, end } = await watch()
    await until(() => states.at(-1) === true)
    await until(async () => (await redis.client.pttl(keys.decisionWatch)) > 0)
    end()

    await until(async () => (await redis.client.exists(keys.decisionWatch)) === 0)
    expect(await redis.client.pubsub('NUMSUB', keys.decisions)).toEqual([keys.decisions, 0])
  })
})

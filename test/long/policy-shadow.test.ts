import { describe, expect, onTestFinished, test } from 'vitest'
import type { PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { documentOf } from '../support/policy-files.ts'
import {
  prefix,
  publish,
  startPublished,
  testRedis,
  testStore,
} from '../support/published-policies.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function pushShadow(store: PolicyStore, rules: readonly string[]) {
  const over = await store.shadow.read()
  const head = await store.shadow.push(documentOf(rules), { author: 'ada', message: 'm', over })
  if (head === undefined) throw new Error('not pushed')
  return head
}

const evaluated = async (store: PolicyStore) =>
  (await store.shadow.reports()).reduce((sum, { evidence }) => sum + evidence.evaluated, 0)

describe('a shadow', () => {
  test('keeps what a gateway saw when that gateway restarts', async () => {
    const redis = await testRedis()
    const store = await testStore(redis)
    const first = await startPublished({ redis, rules: ['clerk, /a, GET'] })
    await pushShadow(store, ['clerk, /b, GET'])
    await until(async () => (await store.shadow.reports()).length === 1)
    for (let call = 0; call < 3; call++) await first.ask('/a')

    await first.postern.close()
    const second = await startPublished({ redis })
    await until(async () => (await store.shadow.reports()).length === 2)
    await second.ask('/b')

    await until(async () => (await evaluated(store)) === 4)
    expect(await store.replicas()).toHaveLength(1)
  })

  test('goes on without Redis, and reports what it saw meanwhile', async () => {
    const redis = await testRedis()
    const proxy = await startFaultProxy(redis.port)
    onTestFinished(proxy.close)
    const store = await testStore(redis)
    const gateway = await startPublished({ redis, port: proxy.port, rules: ['clerk, /a, GET'] })
    await pushShadow(store, ['clerk, /b, GET'])
    await until(async () => (await store.shadow.reports()).length === 1)

    await proxy.refuse()
    for (let call = 0; call < 3; call++) expect(await gateway.ask('/a')).toBe('allowed')
    const unreported = await evaluated(store)
    await proxy.listen()

    await until(async () => (await evaluated(store)) === 3)
    expect(unreported).toBe(0)
    expect(await store.shadow.reports()).toHaveLength(1)
  })

  test('of 20,000 rules is loaded by a thread, and evaluated', async () => {
    const redis = await testRedis()
    const store = await testStore(redis)
    const gateway = await startPublished({ redis, rules: ['clerk, /a, GET'] })
    const many = Array.from({ length: 20_000 }, (_, at) => `role-${at}, /api/v1/things/${at}, GET`)

    await pushShadow(store, [...many, 'clerk, /b, GET'])
    await until(async () => (await store.shadow.reports()).length === 1)
    expect([await gateway.ask('/a'), await gateway.ask('/b')]).toEqual(['allowed', 'denied'])

    await until(async () => (await evaluated(store)) === 2)
    expect((await store.shadow.reports())[0]?.evidence).toMatchObject({
      wouldDeny: 1,
      wouldAllow: 1,
    })
  })

  test('is evaluated by every worker, each a replica', async () => {
    const redis = await testRedis()
    const store = await testStore(redis)
    await publish(redis.url, ['clerk, /a, GET'])
    const { gateway } = await startLoneGateway({
      application: { host: '127.0.0.1', port: 0, workers: 2 },
      redis: { url: redis.url, prefix },
      policy: { source: 'redis', pollSeconds: 1 },
    })
    await pushShadow(store, ['clerk, /b, GET'])
    await until(async () => (await store.shadow.reports()).length === 2)
    const headers = { Authorization: `Bearer ${tokenOf('clerk')}`, Connection: 'close' }
    for (let call = 0; call < 10; call++) {
      await (await fetch(`http://127.0.0.1:${gateway.publicPort}/a`, { headers })).text()
    }

    await until(async () => (await evaluated(store)) === 10)
    const metrics = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text()
    expect(metrics).toMatch(/^postern_policy_shadow_decisions_total\{result="would-deny"\} 10$/m)
    expect(metrics).toMatch(/^postern_policy_shadow_active\{revision="r-\w+"\} 1$/m)
  })
})

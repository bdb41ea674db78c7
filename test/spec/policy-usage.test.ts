import { describe, expect, onTestFinished, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { lastDays, type Usage } from '../../src/policy/usage/usage.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../src/policy/usage/usage-key.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createDatabaseUsage } from '../../src/stores/usage/database-usage.ts'
import { createRedisUsage } from '../../src/stores/usage/redis-usage.ts'
import { entryKinds } from '../../src/stores/usage/usage-entry.ts'
import { widestModel } from '../policy/policy-text.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { startPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'

const redis = emptiedRedis()
const prefix = '{usage}:'

const rules = [
  'clerk, /api/v1/orders/:id, GET',
  'clerk, /api/v1/orders/:id, DELETE, deny',
  'clerk, /api/v1/orders, POST',
]
const options = {
  rules,
  inheritances: ['boss, clerk'],
  model: formatModel(widestModel),
  routes: [
    { path: '/', upstream: 'backend' },
    { path: '/me', upstream: 'backend', access: 'authenticated', reason: 'your own data' },
  ],
}
const onRedis = () => ({ redis: { url: redis.url, prefix } })
const today = () => lastDays(2, Date.now())

async function usageInRedis(): Promise<Usage> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  onTestFinished(client.close)
  return createRedisUsage(client).read(today(), entryKinds)
}

function keyOf(line: string): string {
  const [roleKey = '', path = '', method = '', effect = 'allow'] = line.split(', ')
  const origin = { file: '', line: 0 }
  return ruleUsageKey({ roleKey, path, method, effect: effect as 'allow', origin })
}

describe('policy usage', () => {
  test('counts what rules, exclusions and admin decide, which roles tokens carry, and what is refused', async () => {
    const postern = await startPostern({ ...options, config: onRedis() })
    const calls = [
      ['GET /api/v1/orders/7', 'clerk'],
      ['GET /api/v1/orders/8', 'boss'],
      ['DELETE /api/v1/orders/8', 'boss'],
      ['GET /api/v1/orders/8', 'admin'],
      ['GET /api/v1/user/profile', 'clerk'],
      ['PUT /api/v1/orders/8', 'stranger'],
      ['GET /me', 'guest'],
    ] as const
    for (const [line, as] of calls) await postern.call(line, { as })
    await postern.call('GET /api/v1/orders/7', { token: 'not.a.token' })
    await postern.call('GET /api/v1/orders/7', {
      token: tokenOf('late', { exp: nowSeconds() - 9 }),
    })
    await postern.close()

    const { decisions, roles, refusals, observed, others } = await usageInRedis()
    const profile = { method: 'GET', path: '/api/v1/user/profile', reason: '' }
    const origin = { file: '', line: 0 }
    expect(Object.fromEntries([...decisions].map(([key, { count }]) => [key, count]))).toEqual({
      [keyOf(rules[0] ?? '')]: 2,
      [keyOf(rules[1] ?? '')]: 1,
      admin: 1,
      [exclusionUsageKey({ ...profile, origin })]: 1,
    })
    expect(Object.fromEntries([...roles].map(([role, { count }]) => [role, count]))).toEqual({
      clerk: 2,
      boss: 2,
      admin: 1,
      stranger: 1,
      guest: 1,
    })
    expect(refusals.map(({ last: _, ...call }) => call)).toEqual(
      expect.arrayContaining([
        { roleKey: 'boss', method: 'DELETE', path: '/api/v1/orders/:id', count: 1 },
        { roleKey: 'stranger', method: 'PUT', path: '/api/v1/orders/:id', count: 1 },
      ]),
    )
    expect(refusals).toHaveLength(2)
    expect(observed).toMatchObject([{ revision: postern.revision, decisions: 6 }])
    expect(others).toEqual({ decision: 0, role: 0, refusal: 0 })
  })

  test('adds up over gateways', async () => {
    const gateways = [
      await startPostern({ ...options, config: onRedis() }),
      await startPostern({ ...options, config: onRedis() }),
    ]
    for (const postern of gateways) await postern.call('GET /api/v1/orders/7', { as: 'clerk' })
    for (const postern of gateways) await postern.close()

    expect((await usageInRedis()).decisions.get(keyOf(rules[0] ?? ''))?.count).toBe(2)
  })

  test('is kept in the database without Redis', async () => {
    const postern = await startPostern({ ...options, ownDatabase: true })
    await postern.call('GET /api/v1/orders/7', { as: 'clerk' })
    await postern.call('PUT /api/v1/orders/7', { as: 'clerk' })
    await postern.close()

    const timeouts = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 }
    const directory = postern.dataDirectory
    const database = await openDatabase({ directory, poolSize: 1, ...timeouts })
    onTestFinished(database.close)
    const usage = await createDatabaseUsage(database).read(today(), entryKinds)
    expect(usage.decisions.get(keyOf(rules[0] ?? ''))?.count).toBe(1)
    expect(usage.refusals).toMatchObject([{ roleKey: 'clerk', path: '/api/v1/orders/:id' }])
  })

  test('is not counted with policy.usage: false', async () => {
    const postern = await startPostern({
      ...options,
      config: { ...onRedis(), policy: { usage: false } },
    })
    await postern.call('GET /api/v1/orders/7', { as: 'clerk' })
    await postern.close()

    expect(await redis.client.keys(`${prefix}usage:*`)).toEqual([])
  })

  test('shows only the route of a refused path that the decision log must not show', async () => {
    const config = { ...onRedis(), logger: { decisions: { path: 'hash' } } }
    const postern = await startPostern({ ...options, config })
    await postern.call('GET /api/v1/patients/ann', { as: 'clerk' })
    await postern.close()

    const { refusals } = await usageInRedis()
    expect(refusals).toMatchObject([{ roleKey: 'clerk', method: 'GET', route: '/' }])
    expect(JSON.stringify(await redis.client.keys('*'))).not.toContain('ann')
    expect(refusals[0]).not.toHaveProperty('path')
  })

  test('does not hold up requests or the end while Redis is unreachable', async () => {
    const config = { redis: { url: 'redis://127.0.0.1:1', prefix } }
    const postern = await startPostern({ ...options, config })

    const answer = await postern.call('GET /api/v1/orders/7', { as: 'clerk' })
    await postern.close()

    expect(answer.status).toBe(200)
    expect(postern.logText()).toContain('policy usage not stored')
  })
})

import { expect, test } from 'vitest'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'
import { openFeed, plant } from './trusted-feed.ts'

const redis = emptiedRedis()
const huge = 'x'.repeat(4 * 1024 * 1024)

/** How many bytes Redis sends meanwhile. */
async function sentDuring(work: () => Promise<unknown>): Promise<number> {
  const sent = async () =>
    Number(/total_net_output_bytes:(\d+)/.exec(await redis.client.info('stats'))?.[1])
  const before = await sent()
  await work()
  return (await sent()) - before
}

test('a gateway does not fetch a head or a shadow that is too large', async () => {
  await plant(redis, { document: documentOf(['clerk, /orders, GET']), sequence: 1 })
  const feed = await openFeed(redis, {})
  await redis.client.mset(`${prefix}policy:head`, huge, `${prefix}policy:shadow`, huge)

  const sent = await sentDuring(async () => {
    await redis.client.publish(`${prefix}policy`, '{}')
    await until(() => feed.state().stale)
  })

  expect(feed.state().lastError).toContain('is not a valid policy head')
  expect(sent).toBeLessThan(3 * 1024 * 1024)
})

test('the history is read without entries that are too large', async () => {
  const store = await testStore(redis)
  const revision = `r-${'a'.repeat(32)}`
  const move = { revision, sequence: 1, author: 'ann', message: 'm', at: 'now', kind: 'push' }
  const key = `${prefix}policy:history`
  await redis.client.lpush(key, JSON.stringify(move), JSON.stringify({ ...move, message: huge }))

  const sent = await sentDuring(async () => {
    expect(await store.history()).toMatchObject([{ message: 'm' }])
    expect(await store.history(1)).toMatchObject([{ message: 'm' }])
  })
  expect(sent).toBeLessThan(1024 * 1024)
})

test('replicas with an ID or a report that is too large are not listed', async () => {
  const store = await testStore(redis)
  const report = { revision: 'r-a', version: '1' }
  const stored = { good: report, [huge]: report, large: { ...report, lastError: huge } }
  for (const [id, value] of Object.entries(stored)) {
    await redis.client.zadd(`${prefix}replicas:known`, Date.now(), id)
    await redis.client.hset(`${prefix}replicas:reports`, id, JSON.stringify(value))
  }

  expect((await store.replicas()).map(({ id }) => id)).toEqual(['good'])
})

test('a proposal with too many or too large fields is not read', async () => {
  const { proposals } = await testStore(redis)
  const revision = `r-${'b'.repeat(32)}`
  const key = `${prefix}policy:proposal:${revision}`
  const about = JSON.stringify({ kind: 'push', over: null, evidence: {} })
  await redis.client.hset(key, { statement: 's', about, 'signature:large': huge })

  const sent = await sentDuring(async () => {
    expect(await proposals.read(revision)).toMatchObject({ statement: 's', signatures: new Map() })
    const many = Array.from({ length: 1000 }, (_, at) => [`signature:${at}`, 'x'] as const)
    await redis.client.hset(key, Object.fromEntries(many))
    expect(await proposals.read(revision)).toBeUndefined()
  })
  expect(sent).toBeLessThan(1024 * 1024)
})

test('a Redis user without the right to HLEN reads proposals, and no huge one', async () => {
  await redis.client.call('ACL', 'SETUSER', 'old', 'on', '>pass', '~*', '&*', '+@all', '-hlen')
  const { proposals } = await testStore({ url: redis.url.replace('://', '://old:pass@') })
  const revision = `r-${'b'.repeat(32)}`
  const key = `${prefix}policy:proposal:${revision}`
  const about = JSON.stringify({ kind: 'push', over: null, evidence: {} })
  await redis.client.hset(key, { statement: 's', about })

  expect(await proposals.read(revision)).toMatchObject({ statement: 's' })
  const many = Array.from({ length: 1000 }, (_, at) => [`signature:${at}`, 'x'] as const)
  await redis.client.hset(key, Object.fromEntries(many))
  expect(await proposals.read(revision)).toBeUndefined()
})

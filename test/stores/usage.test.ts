import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dayOf, lastDays } from '../../src/policy/usage/usage.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createDatabaseUsage } from '../../src/stores/usage/database-usage.ts'
import { createRedisUsage } from '../../src/stores/usage/redis-usage.ts'
import {
  entryKinds,
  mostNames,
  nameOf,
  observedName,
  otherName,
  type UsageBatch,
  type UsageEntry,
} from '../../src/stores/usage/usage-entry.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const at = Date.parse('2026-11-16T14:30:00Z')
const day = dayOf(at)
const revision = 'r-0123456789ab'
let batches = 0

function batch(entries: readonly UsageEntry[], changes: Partial<UsageBatch> = {}): UsageBatch {
  return { id: `batch-${++batches}`, day, at, entries, ...changes }
}

const refused = { roleKey: 'clerk', method: 'GET', path: '/orders/:id' }
const sample: readonly UsageEntry[] = [
  { kind: 'observed', name: observedName(at, revision), count: 5 },
  { kind: 'decision', name: 'a-rule', count: 3 },
  { kind: 'role', name: nameOf('clerk'), count: 4 },
  { kind: 'refusal', name: nameOf(refused), count: 2 },
]

const redis = emptiedRedis()

async function redisUsage() {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 5000 }
  const client = createRedis({ url: redis.url, prefix: '{test}:', ...timeouts })
  await client.connect()
  onTestFinished(client.close)
  return createRedisUsage(client)
}

/** Names of a kind until a day is full, then one more with and one more without a fallback. */
async function fill(store: Awaited<ReturnType<typeof redisUsage>>): Promise<void> {
  const most = mostNames.refusal
  for (let from = 0; from <= most; from += 500) {
    const entries = Array.from({ length: 500 }, (_, index) => ({
      kind: 'refusal' as const,
      name: nameOf({ ...refused, path: `/x${from + index}` }),
      count: 1,
      fallback: nameOf({ roleKey: 'clerk', method: 'GET', route: '/' }),
    }))
    await store.add(batch(entries))
  }
}

describe('usage in Redis', () => {
  test('adds up what several gateways count, by day, and keeps the latest time', async () => {
    const [one, other] = [await redisUsage(), await redisUsage()]

    await one.add(batch(sample))
    await other.add(batch(sample, { at: at + 60_000 }))
    await one.add(batch(sample, { day: '2026-11-15', at: at - 86_400_000 }))

    const usage = await one.read(lastDays(2, at), entryKinds)
    expect(usage.decisions).toEqual(new Map([['a-rule', { count: 9, last: at + 60_000 }]]))
    expect(usage.roles).toEqual(new Map([['clerk', { count: 12, last: at + 60_000 }]]))
    expect(usage.refusals).toEqual([{ ...refused, count: 6, last: at + 60_000 }])
    expect(usage.observed).toEqual([
      { day: '2026-11-15', hour: 14, revision, decisions: 5 },
      { day, hour: 14, revision, decisions: 10 },
    ])
    expect((await one.read([day], ['decision'])).decisions.get('a-rule')?.count).toBe(6)
  })

  test('counts a batch once that is sent again because its confirmation was lost', async () => {
    const store = await redisUsage()
    const sent = batch(sample)

    await store.add(sent)
    await store.add(sent)

    expect((await store.read([day], entryKinds)).decisions.get('a-rule')?.count).toBe(3)
  })

  test('expires after 90 days', async () => {
    await (await redisUsage()).add(batch(sample))

    const keys = (await redis.client.keys('{test}:usage:*')).filter((key) => key.includes(day))
    const left = await Promise.all(keys.map((key) => redis.client.pttl(key)))
    expect(keys).toHaveLength(4)
    for (const ms of left) {
      expect(ms).toBeGreaterThan(90 * 86_400_000)
      expect(ms).toBeLessThanOrEqual(91 * 86_400_000)
    }
  })

  test('bounds the names of a day, with a coarser name and a number for the others', async () => {
    const store = await redisUsage()
    await fill(store)
    await store.add(batch([{ kind: 'role', name: otherName, count: 7 }]))

    const { refusals, others } = await store.read([day], entryKinds)
    expect(refusals).toHaveLength(mostNames.refusal + 1)
    expect(refusals.find(({ path }) => path === undefined)).toMatchObject({
      roleKey: 'clerk',
      route: '/',
      count: 500,
    })
    expect(others.role).toBe(7)
  })

  test('ignores what no gateway writes, and says which key has another type', async () => {
    const store = await redisUsage()
    await store.add(batch(sample))
    const key = (kind: string) => `{test}:usage:${day}:${kind}`
    await redis.client.hset(key('decision'), 'bad', 'x', 'neg', '-1 5', 'big', '9'.repeat(40))
    await redis.client.hset(key('decision'), 'late', '1 9999999999999999')
    await redis.client.hset(key('role'), 'not json', '1 1', '[7]', '1 1', '"text"', '1 1')
    await redis.client.hset(key('refusal'), '["a"]', '1 1', `["${'x'.repeat(5000)}"]`, '1 1')
    await redis.client.hset(key('observed'), '25 r-0123456789ab', '1 1', '3 evil', '1 1')

    const usage = await store.read([day], entryKinds)
    expect([...usage.decisions.keys()].toSorted()).toEqual(['a-rule', 'late'])
    // A time that no Date can hold would end the command that prints it.
    expect(() => new Date(usage.decisions.get('late')?.last ?? 0).toISOString()).not.toThrow()
    expect([...usage.roles.keys()]).toEqual(['clerk'])
    expect(usage.refusals).toHaveLength(1)
    expect(usage.observed).toHaveLength(1)

    await redis.client.set(key('role'), 'text', 'XX')
    await expect(store.add(batch(sample))).rejects.toThrow(/WRONGTYPE/)
    expect((await store.read([day], ['decision'])).decisions.get('a-rule')?.count).toBe(3)
  })
})

describe.each(testDatabases().slice(1))('usage in $name', ({ start }) => {
  let running: RunningDatabase
  beforeAll(async () => {
    running = await start()
  })
  afterAll(() => running?.stop())

  test('adds up by day, bounds names, and forgets after 90 days', async () => {
    const database = await running.fresh()
    const store = createDatabaseUsage(database)
    const old = dayOf(at - 91 * 86_400_000)

    await store.add(batch(sample, { day: old, at: at - 91 * 86_400_000 }))
    await store.add(batch(sample))
    await store.add(batch(sample, { at: at + 60_000 }))

    const usage = await store.read(lastDays(30, at), entryKinds)
    expect(usage.decisions).toEqual(new Map([['a-rule', { count: 6, last: at + 60_000 }]]))
    expect(usage.roles).toEqual(new Map([['clerk', { count: 8, last: at + 60_000 }]]))
    expect(usage.refusals).toEqual([{ ...refused, count: 4, last: at + 60_000 }])
    expect(usage.observed).toEqual([{ day, hour: 14, revision, decisions: 10 }])
    expect((await store.read([old], entryKinds)).decisions.size).toBe(0)

    await fill(store)
    const { refusals } = await store.read([day], ['refusal'])
    expect(refusals.length).toBeLessThanOrEqual(mostNames.refusal + 1)
    expect(refusals.find(({ path }) => path === undefined)?.count).toBeGreaterThanOrEqual(500)

    await sql`drop table postern_policy_usage`.execute(database.db)
    const missing = /table postern_policy_usage is missing: run "postern db migrate"/
    await expect(store.add(batch(sample))).rejects.toThrow(missing)
  })
})

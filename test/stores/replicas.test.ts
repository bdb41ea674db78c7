import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type OwnProcess, ownProcess } from '../../src/stores/policies/replicas/replica-identity.ts'
import { createReplicas, type Replicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis, type RedisClient } from '../../src/stores/redis/redis.ts'
import { prefix } from '../support/published-policies.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const day = 24 * 60 * 60 * 1000
const known = `${prefix}replicas:known`
const own = { revision: 'r-000000000000', sequence: 7, stale: false, version: '1.2.3' }

let redis: RedisServer
let client: RedisClient
let replicas: Replicas
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.client.flushall()
  client = createRedis({ url: redis.url, prefix, connectTimeoutMs: 2000, commandTimeoutMs: 1000 })
  onTestFinished(client.close)
  await client.connect()
  replicas = createReplicas(client)
})

const ids = async () => (await replicas.list()).map(({ id }) => id)
async function silentFor(id: string, ms: number): Promise<void> {
  for (const index of [known, `${prefix}replicas`]) await redis.client.zincrby(index, -ms, id)
}

/** What version 0.1.0 runs in Redis for each report. */
async function reportAsBefore(id: string, text: string): Promise<void> {
  const script = `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
    redis.call('ZADD', KEYS[2], now, ARGV[1])
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[3])`
  const keys = [`${prefix}replica:${id}`, `${prefix}replicas`]
  await redis.client.eval(script, keys.length, ...keys, id, text, 10_000)
}

describe('the list of replicas', () => {
  test('keeps one that stopped reporting, as lost, for a day', async () => {
    await replicas.report({ ...own, id: 'gone' })
    await silentFor('gone', day - 60_000)
    await replicas.report({ ...own, id: 'alive' })

    expect(await replicas.list()).toMatchObject([
      { id: 'alive', lost: false, stale: false },
      { id: 'gone', lost: true, stale: true, revision: own.revision },
    ])

    await silentFor('gone', 120_000)
    await replicas.report({ ...own, id: 'alive' })
    expect(await ids()).toEqual(['alive'])
    expect(await redis.client.hkeys(`${prefix}replicas:reports`)).toEqual(['alive'])
  })

  test('forgets one that was silent for longer than policy.replicaMemory', async () => {
    const hour = createReplicas(client, 3_600_000)
    await hour.report({ ...own, id: 'gone' })
    await silentFor('gone', 3_500_000)
    await hour.report({ ...own, id: 'alive' })
    expect(await ids()).toEqual(['alive', 'gone'])

    await silentFor('gone', 200_000)
    await hour.report({ ...own, id: 'alive' })

    expect(await ids()).toEqual(['alive'])
    expect(await redis.client.pttl(known)).toBeLessThanOrEqual(3_600_000)
  })

  test('takes a lost one back with its next report', async () => {
    await replicas.report({ ...own, id: 'gone' })
    await silentFor('gone', 60_000)
    await replicas.report({ ...own, id: 'gone' })

    expect(await replicas.list()).toMatchObject([{ id: 'gone', lost: false, stale: false }])
  })

  test('stays bounded, and those that are silent for longest go first', async () => {
    const entries = Array.from({ length: 10_050 }, (_, at) => [
      Date.now() - 60_000 - at,
      `gone-${at}`,
    ])
    await redis.client.zadd(known, ...entries.flat())
    await redis.client.hset(
      `${prefix}replicas:reports`,
      Object.fromEntries(entries.map(([, id]) => [id, JSON.stringify(own)])),
    )

    await replicas.report({ ...own, id: 'alive' })

    const left = await ids()
    expect(left).toHaveLength(10_000)
    expect(left).toEqual(expect.arrayContaining(['alive', 'gone-0']))
    expect(left).not.toContain('gone-10049')
    expect(await redis.client.hlen(`${prefix}replicas:reports`)).toBe(10_000)
  })

  test('reads the newest only of an index that others filled', async () => {
    const now = Date.now()
    const entries = Array.from({ length: 12_000 }, (_, at) => [now - 1000 - at, `planted-${at}`])
    await replicas.report({ ...own, id: 'alive' })
    await redis.client.zadd(known, ...entries.flat())
    const planted = { 'planted-0': '{"version":"1"}', 'planted-11000': '{"version":"1"}', x: 'x' }
    await redis.client.hset(`${prefix}replicas:reports`, planted)

    expect(await ids()).toEqual(['alive', 'planted-0'])
  })

  test('every key of it has an expiry and the hash tag of the prefix', async () => {
    await replicas.report({ ...own, id: 'one' })

    const keys = (await redis.client.keys('*')).filter((key) => key.includes('replica'))
    expect(keys).toHaveLength(4)
    for (const key of keys) {
      expect(key.startsWith(prefix)).toBe(true)
      expect(await redis.client.pttl(key)).toBeGreaterThan(0)
    }
  })

  test('has replicas of version 0.1.0, which take no lost one off it', async () => {
    await replicas.report({ ...own, id: 'gone' })
    await silentFor('gone', 60_000)

    await reportAsBefore('old', JSON.stringify(own))

    expect(await replicas.list()).toMatchObject([
      { id: 'gone', lost: true },
      { id: 'old', lost: false, revision: own.revision },
    ])
    // And what its commands read has those of this version.
    await replicas.report({ ...own, id: 'new' })
    expect(await redis.client.zrange(`${prefix}replicas`, 0, '-1')).toContain('new')
    expect(JSON.parse((await redis.client.get(`${prefix}replica:new`)) ?? '')).toMatchObject(own)
  })
})

describe('a replica that starts', () => {
  const me = ownProcess()
  const ended = async (): Promise<number> => {
    const child = spawn('true')
    await once(child, 'exit')
    return child.pid ?? 0
  }

  test.each<[string, boolean, (pid: number) => Partial<OwnProcess>]>([
    ['the container of its host that it replaces', false, () => ({ pid: me.pid, scope: 'other' })],
    ['a process of its host that has ended', false, (pid) => ({ pid })],
    ['a process of its host that runs', true, () => ({ pid: 1 })],
    ['a process of another namespace', true, (pid) => ({ pid, scope: 'other' })],
    ['a process of another host', true, (pid) => ({ pid, host: `${me.host}-2` })],
    ['a gateway in the same process', true, () => ({ instance: me.instance })],
  ])('keeps or forgets %s (%s)', async (_, isKept, changed) => {
    const other = { ...me, instance: 'other', ...changed(await ended()) }
    const id = `${other.host}-${other.pid}-abcdef`
    await replicas.report({ ...own, id, process: other })
    await silentFor(id, 60_000)
    await replicas.report({ ...own, id: `${me.host}-x`, process: me })

    await replicas.forgetEnded(me)

    expect((await ids()).includes(id)).toBe(isKept)
  })

  test('forgets no replica that does not say which process it is', async () => {
    for (const [at, text] of ['{}', 'garbage', '{"process":7}', 'null'].entries()) {
      await redis.client.zadd(known, Date.now(), `${me.host}-${at}`)
      await redis.client.hset(`${prefix}replicas:reports`, `${me.host}-${at}`, text)
    }

    await replicas.forgetEnded(me)

    expect(await redis.client.zcard(known)).toBe(4)
  })
})

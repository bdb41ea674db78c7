import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createRedisRevocations } from '../../src/stores/revocations/redis-revocations.ts'
import { createRevocationFeed } from '../../src/stores/revocations/revocation-feed.ts'
import type { Position, RevocationStore } from '../../src/stores/revocations/revocation-store.ts'
import { createRevocations, type Revocation } from '../../src/token/revocations.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const prefix = '{test}:'
const later = Date.now() + 3_600_000
const token = (id: string): Revocation => ({
  ...{ kind: 'token', id, userId: id, issuedAt: 1000, until: later },
})

/** What a feed asked of Redis, the answered questions only. */
interface Asked {
  readonly reads: (Position | undefined)[]
  readonly written: number[]
}

async function startServer(args: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis({ args })
  onTestFinished(server.stop)
  return server
}

async function openStore(server: RedisServer, asked?: Asked): Promise<RevocationStore> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  const settings = { url: server.url, prefix, ...timeouts }
  const client = createRedis(settings)
  await client.connect()
  onTestFinished(client.close)
  const store = createRedisRevocations(client, settings)
  return {
    ...store,
    async read(after) {
      const page = await store.read(after)
      asked?.reads.push(after)
      return page
    },
    async append(revocations, made) {
      await store.append(revocations, made)
      asked?.written.push(revocations.length)
    },
  }
}

async function startFeed(server: RedisServer) {
  const asked: Asked = { reads: [], written: [] }
  const store = await openStore(server, asked)
  const revocations = createRevocations(Date.now)
  const feed = createRevocationFeed({
    ...{ store, revocations, now: Date.now, maxAgeMs: 60_000, whenStale: 'serve' },
    log: { info() {}, warn() {} },
  })
  await feed.start()
  onTestFinished(feed.close)
  const wholeReads = () => asked.reads.filter((place) => place === undefined).length
  return { feed, revocations, asked, wholeReads, ends: feed.revoke }
}

type Feed = Awaited<ReturnType<typeof startFeed>>

async function startFleet(server: RedisServer, count: number): Promise<readonly Feed[]> {
  const feeds: Feed[] = []
  for (let at = 0; at < count; at++) feeds.push(await startFeed(server))
  return feeds
}

const isUnreachable = ({ feed }: Feed) => feed.state().lastError !== undefined
const all = (feeds: readonly Feed[], holds: (feed: Feed) => boolean) => () => feeds.every(holds)
const list = Array.from({ length: 300 }, (_, at) => token(`old-${at}`))

test('a fleet whose Redis restarts goes on from where it was, and compares the list later', async () => {
  const server = await startServer(['--appendonly', 'yes', '--appendfsync', 'always'])
  await (await openStore(server)).append(list, 'before')
  const feeds = await startFleet(server, 20)

  await server.kill()
  await until(all(feeds, isUnreachable))
  for (const { asked } of feeds) asked.reads.length = 0
  await server.start()
  await until(all(feeds, (feed) => !isUnreachable(feed)))

  for (const { asked } of feeds) expect(asked.reads[0]).toBeDefined()
  await until(all(feeds, ({ wholeReads }) => wholeReads() > 0))
  expect(feeds.reduce((sum, { wholeReads }) => sum + wholeReads(), 0)).toBeLessThanOrEqual(30)
})

test('a fleet whose Redis comes back empty writes the list back a few times, not once each', async () => {
  const server = await startServer()
  await (await openStore(server)).append(list, 'before')
  const feeds = await startFleet(server, 20)

  await server.kill()
  await until(all(feeds, isUnreachable))
  for (const { asked } of feeds) asked.reads.length = 0
  await server.start()
  const reader = await openStore(server)
  await until(all(feeds, (feed) => !isUnreachable(feed)))

  for (const { asked } of feeds) expect(asked.reads[0]).toBeDefined()
  const whole = await reader.read(undefined)
  expect(whole?.revocations).toHaveLength(list.length)
  const written = feeds.flatMap(({ asked }) => asked.written)
  expect(written.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10 * list.length)
})

test('what ended here while Redis was away is told at once, however long the list', async () => {
  const server = await startServer(['--appendonly', 'yes', '--appendfsync', 'always'])
  await (await openStore(server)).append(list, 'before')
  const [one, two] = [await startFeed(server), await startFeed(server)]

  await server.kill()
  await until(all([one, two], isUnreachable))
  expect(await one.ends(token('new'))).toBe('here')
  one.asked.reads.length = 0
  await server.start()

  await until(() => one.asked.written.length > 0)
  expect(one.asked.written).toEqual([1])
  await until(() => two.revocations.has(token('new')))
})

/** Sequences are at least the time, so one that was given out again is of a clock that was set back. */
async function placedAt(server: RedisServer, sequence: number, id: string): Promise<void> {
  await server.client.hset(`${prefix}revoked`, `t:${id}`, `1000 ${later} ${id}`)
  await server.client.zadd(`${prefix}revoked:order`, sequence, `t:${id}`)
  await server.client.zadd(`${prefix}revoked:ends`, later, `t:${id}`)
}

test('a revocation below the place of a gateway, after a failover to an older state, is learned', async () => {
  const server = await startServer()
  const feed = await startFeed(server)
  const other = await openStore(server)
  await other.append([token('first')], 'before')
  await until(() => feed.revocations.has(token('first')))
  const sequence = Number(await server.client.hget(`${prefix}revoked:head`, 'sequence'))

  await placedAt(server, sequence - 1, 'hidden')
  // The connection is lost between two polls, so that no attempt fails.
  await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

  await until(() => feed.revocations.has(token('hidden')))
})

test('two gateways each know something that Redis lost: both have both, and Redis too', async () => {
  const server = await startServer()
  const [one, two] = [await startFeed(server), await startFeed(server)]
  await server.kill()
  expect(await one.ends(token('one'))).toBe('here')
  expect(await two.ends(token('two'))).toBe('here')
  await until(all([one, two], isUnreachable))

  await server.start()

  for (const { revocations } of [one, two]) {
    await until(() => revocations.has(token('one')) && revocations.has(token('two')))
  }
  const reader = await openStore(server)
  await until(async () => (await reader.read(undefined))?.revocations.length === 2)
})

test('what one gateway read and Redis then lost, while the sequence went on, comes back', async () => {
  const server = await startServer()
  const [one, two] = [await startFeed(server), await startFeed(server)]
  const other = await openStore(server)
  await other.append([token('kept')], 'before')
  await one.ends(token('lost'))
  await until(all([one, two], ({ revocations }) => revocations.has(token('lost'))))
  // Read back once more, so that nothing is expected of Redis.
  await pause(600)

  for (const key of ['revoked:order', 'revoked:ends']) {
    await server.client.zrem(`${prefix}${key}`, 't:lost')
  }
  await server.client.hdel(`${prefix}revoked`, 't:lost')
  await other.append([token('next')], 'before')
  await until(all([one, two], ({ revocations }) => revocations.has(token('next'))))
  // After the attempts that the message caused, so that none of them fails.
  await pause(100)
  await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

  await until(async () => {
    const page = await (await openStore(server)).read(undefined)
    return page?.revocations.some((one) => one.kind === 'token' && one.id === 'lost') === true
  })
})

import tls from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRedis, type RedisClient } from '../../src/stores/redis/redis.ts'
import { testPrefix } from '../support/redis-client.ts'
import { startClusterSite } from '../support/redis-cluster.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { followersOf, roleOf, startSteeredSentinel } from '../support/steered-sentinel.ts'
import { until } from '../support/until.ts'

/** Longer than a test: a connection that waits for one of these does not recover in time. */
const never = { connectTimeoutMs: 3_600_000, commandTimeoutMs: 3_600_000 }

/** Enough that some of them have chosen every sentinel. */
const connections = 8

function createClients(url: string): readonly RedisClient[] {
  return Array.from({ length: connections }, () => {
    const redis = createRedis({ url, prefix: testPrefix, ...never })
    onTestFinished(redis.close)
    return redis
  })
}

/** Until the test ends. */
function hang(server: RedisServer): void {
  server.pause()
  onTestFinished(server.resume)
}

async function startSentinelOf(primary: RedisServer): Promise<RedisServer> {
  const sentinel = await startRedis({ sentinelOf: primary.port })
  onTestFinished(sentinel.stop)
  return sentinel
}

/** How many connections this server has accepted since it started. */
async function acceptedBy({ client }: RedisServer): Promise<number> {
  return Number(/^total_connections_received:(\d+)/m.exec(await client.info('stats'))?.[1])
}

async function promote(sentinel: RedisServer, replica: RedisServer): Promise<void> {
  await sentinel.client.call('SENTINEL', 'FAILOVER', 'postern')
  await until(async () => (await roleOf(replica)) === 'master')
}

/** Waits until each of them writes to this server, without waiting for replies of the old one. */
async function writeTo(replica: RedisServer, clients: readonly RedisClient[]): Promise<void> {
  for (const [at, redis] of clients.entries()) {
    await until(async () => {
      redis.run((commands) => commands.set(`written-${at}`, 'here')).catch(() => {})
      return (await replica.client.get(`written-${at}`)) === 'here'
    })
  }
}

describe('a primary that hangs is left when Sentinel has promoted another server', () => {
  test('by an open connection, although sentinels hang too', async () => {
    const { primary, replicas, sentinel } = await startSteeredSentinel({ replicas: 1 })
    const [replica] = replicas as [RedisServer]
    const others = await Promise.all([startSentinelOf(primary), startSentinelOf(primary)])
    const ports = [sentinel, ...others].map(({ port }) => `127.0.0.1:${port}`)
    const clients = createClients(`redis+sentinel://${ports.join(',')}/postern`)
    await Promise.all(clients.map((redis) => redis.connect()))

    for (const server of [primary, ...others]) hang(server)
    await promote(sentinel, replica)

    await writeTo(replica, clients)
    expect(await roleOf(replica)).toBe('master')
  })

  test('by a connection that it has accepted and not answered', async () => {
    const { url, primary, replicas, sentinel } = await startSteeredSentinel({ replicas: 1 })
    const [replica] = replicas as [RedisServer]
    hang(primary)
    const before = await acceptedBy(sentinel)
    const clients = createClients(url)
    for (const redis of clients) redis.connect().catch(() => {})
    // Each has asked for the primary, which is still the old one.
    await until(async () => (await acceptedBy(sentinel)) >= before + connections)

    await promote(sentinel, replica)

    await writeTo(replica, clients)
    expect(await roleOf(replica)).toBe('master')
  })
})

test('a node of a cluster that hangs is left at the first command without a reply', async () => {
  const site = await startClusterSite()
  onTestFinished(site.stop)
  const usual = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...usual, site.certificates.authorityText])
  onTestFinished(() => tls.setDefaultCACertificates(usual))
  // The driver itself drops a silent connection after ten times that, when this test is over.
  const timeouts = { connectTimeoutMs: 5000, commandTimeoutMs: 15_000 }
  const redis = createRedis({ url: site.url, prefix: '{postern}:', ...timeouts })
  onTestFinished(redis.close)
  await redis.connect()
  const write = () => redis.run((commands) => commands.set('{postern}:key', 'value'))
  await write()
  const owner = await site.owner()
  await until(async () => (await followersOf(owner)) === 1)
  const others = site.nodes.filter((node) => node !== owner)

  hang(owner)
  // Nothing was sent meanwhile: the connection is open, and nothing has told the driver to look again.
  await until(async () => {
    const writes = others.map(({ client }) => client.set('{postern}:probe', '1').catch(() => ''))
    return (await Promise.all(writes)).includes('OK')
  })

  await expect(write()).rejects.toThrow()
  await until(() =>
    write().then(
      () => true,
      () => false,
    ),
  )
}, 120_000)

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import { parseRedisUrl } from '../../src/stores/redis/redis-address.ts'
import { createSubscriber } from '../../src/stores/redis/redis-subscriber.ts'
import { documentOf } from '../support/policy-files.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const settings = { prefix: '{test}:', connectTimeoutMs: 5000, commandTimeoutMs: 1000 }
const document = documentOf(['clerk, /first, GET'])

describe('an address of Redis', () => {
  test.each([
    ['redis://cache', { kind: 'standalone', hosts: [{ host: 'cache', port: 6379 }], tls: false }],
    ['redis://cache:7000/3', { hosts: [{ host: 'cache', port: 7000 }], db: 3 }],
    ['rediss://[::1]:7000', { hosts: [{ host: '::1', port: 7000 }], tls: true, db: 0 }],
    ['redis://user:p%40ss@cache', { username: 'user', password: 'p@ss' }],
    ['redis://:secret@cache', { password: 'secret' }],
    [
      'redis+sentinel://:secret@a,b:26380/main/2?sentinelPassword=other',
      {
        kind: 'sentinel',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
        ],
        master: 'main',
        db: 2,
        password: 'secret',
        sentinelPassword: 'other',
      },
    ],
    ['rediss+cluster://a,b', { kind: 'cluster', tls: true }],
  ])('%s is understood', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected)
  })

  test.each([
    'http://cache',
    'redis:///0',
    'redis://a,b',
    'redis://cache/x',
    'redis://cache:99999',
    'redis://us@er:pw@cache',
    'redis://%zz@cache',
    'redis+sentinel://a,b',
    'redis+cluster://a/3',
    'redis://ca che',
  ])('%s is refused without being quoted', (url) => {
    const attempt = () => parseRedisUrl(url)

    expect(attempt).toThrow(expect.objectContaining({ name: 'Invalid' }))
    expect(attempt).not.toThrow(url)
  })

  test('of a cluster needs a prefix with a hash tag', async () => {
    const url = 'redis+cluster://127.0.0.1:1'

    for (const prefix of ['postern:', '{}:', 'a}b{:']) {
      await expect(openPolicyStore({ ...settings, prefix, url })).rejects.toMatchObject({
        name: 'Invalid',
      })
    }
  })
})

describe('the policy store', () => {
  test('works on a Redis Cluster, hears of moves there, and gets over its loss', async () => {
    const redis = await startRedis({
      args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    })
    onTestFinished(redis.stop)
    await redis.client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    while (!String(await redis.client.cluster('INFO')).includes('cluster_state:ok')) await pause(20)
    const url = `redis+cluster://127.0.0.1:${redis.port}`

    await publishAndHear(url, redis)
  })

  test('works through Sentinel, hears of moves there, and gets over the loss of Redis', async () => {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    const sentinel = await startRedis({ sentinelOf: redis.port })
    onTestFinished(sentinel.stop)

    await publishAndHear(`redis+sentinel://127.0.0.1:${sentinel.port}/postern`, redis)
  })
})

async function publishAndHear(url: string, redis: RedisServer): Promise<void> {
  const store = await openPolicyStore({ ...settings, url })
  onTestFinished(store.close)
  let hints = 0
  const subscriber = createSubscriber(
    { ...settings, url },
    { channel: `${settings.prefix}policy`, onHint: () => hints++ },
  )
  onTestFinished(subscriber.close)
  const heard = async (more: () => Promise<unknown>) => {
    const before = hints
    await more()
    await until(async () => {
      await subscriber.check()
      return hints > before
    })
  }
  await heard(async () => {})

  await heard(() => store.publish(document, undefined, { kind: 'push' }))
  expect(await store.read(document.revision)).toEqual(document)
  expect(await store.history(5)).toHaveLength(1)
  expect(await store.replicas()).toEqual([])

  await redis.kill()
  await expect(store.head()).rejects.toMatchObject({ name: 'Fault', part: 'redis' })
  await redis.start()
  await until(() =>
    store.publish(document, undefined, { kind: 'push' }).then(
      ({ moved }) => moved,
      () => false,
    ),
  )
  // Listening may begin again before or after that: publications go on until one is heard.
  await heard(async () => {})
  await heard(() => store.publish(document, document.revision, { kind: 'push' }))
}

import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openPolicyStore, type PolicyStore } from '../../src/stores/policies.ts'
import { createRedis } from '../../src/stores/redis.ts'
import { createReplicas, type Replicas } from '../../src/stores/replicas.ts'
import { documentOf } from '../support/policy-files.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const prefix = '{test}:'
const timeouts = { prefix, connectTimeoutMs: 1000, commandTimeoutMs: 300 }
const first = documentOf(['clerk, /first, GET'])
const second = documentOf(['clerk, /second, GET'])

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => void (await redis.client.flushall()))

/** The store as a user who may do everything but this. */
async function storeWithout(command: string): Promise<PolicyStore> {
  await redis.client.call('ACL', 'SETUSER', 'eve', 'reset', 'on', '>secret', '~*', '&*', '+@all')
  await redis.client.call('ACL', 'SETUSER', 'eve', `-${command}`)
  const store = await openPolicyStore({
    ...timeouts,
    url: redis.url.replace('//', '//eve:secret@'),
  })
  onTestFinished(store.close)
  return store
}

async function testReplicas(): Promise<Replicas> {
  const client = createRedis({ ...timeouts, url: redis.url })
  onTestFinished(client.close)
  await client.connect()
  return createReplicas(client)
}

describe('a publication of which Redis refuses a part', () => {
  test.each(['get', 'eval', 'time', 'lrange', 'llen', 'set', 'lpush'])(
    'has not happened without %s, and says so',
    async (command) => {
      const store = await storeWithout(command)

      await expect(store.publish(first, undefined, 'push')).rejects.toMatchObject({ part: 'redis' })

      expect(await redis.client.exists(`${prefix}policy:head`, `${prefix}policy:history`)).toBe(0)
    },
  )

  test.each(['ltrim', 'publish'])('has happened without %s', async (command) => {
    const store = await storeWithout(command)

    const { moved, head } = await store.publish(first, undefined, 'push')

    expect(moved).toBe(true)
    expect(await store.head()).toEqual(head)
    expect(await store.history(2)).toMatchObject([{ revision: first.revision, ...head }])
  })
})

describe('the highest sequence of the replicas', () => {
  const garbage = ['inf', 'nan', '1e308', '-5', '9007199254740991', '0x7fffffffffffffff', '{"']

  test.each(garbage)('does not break the next head when it is %s', async (text) => {
    await redis.client.set(`${prefix}policy:highest`, text)
    const store = await openPolicyStore({ ...timeouts, url: redis.url })
    onTestFinished(store.close)

    const published = await store.publish(first, undefined, 'push')

    expect(published.moved).toBe(true)
    expect(await store.head()).toEqual(published.head)
  })

  test('is mended by the next report, whatever stood there', async () => {
    const replicas = await testReplicas()
    const own = { id: 'a', revision: second.revision, sequence: 7, stale: false, version: '1' }
    await redis.client.lpush(`${prefix}policy:highest`, 'x')

    await replicas.report(own)

    expect(await redis.client.get(`${prefix}policy:highest`)).toBe('7')
  })
})

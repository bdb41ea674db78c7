import { hash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { PolicyDocument } from '../../src/stores/policies/document/policy-document.ts'
import { openPolicyStore, type PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createReplicas, type Replicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
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

      await expect(store.publish(first, undefined, { kind: 'push' })).rejects.toMatchObject({
        part: 'redis',
      })

      expect(await redis.client.exists(`${prefix}policy:head`, `${prefix}policy:history`)).toBe(0)
    },
  )

  test.each(['ltrim', 'publish'])('has happened without %s', async (command) => {
    const store = await storeWithout(command)

    const { moved, head } = await store.publish(first, undefined, { kind: 'push' })

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

    const published = await store.publish(first, undefined, { kind: 'push' })

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

describe('a document that stands under the revision of another policy', () => {
  const harmless = documentOf(['viewer, /api/v1/orders/:id, GET'])
  const wide = documentOf(['viewer, /*, *'])

  test('is not put in force in its place', async () => {
    const store = await openPolicyStore({ ...timeouts, url: redis.url })
    onTestFinished(store.close)
    await store.publish(first, undefined, { kind: 'push' })
    const planted = under(harmless.revision, wide)
    await redis.client.set(`${prefix}policy:rev:${harmless.revision}`, planted)

    const { moved } = await store.publish(harmless, first.revision, { kind: 'push' })

    expect(moved).toBe(true)
    expect(await store.read(harmless.revision)).toEqual(harmless)
  })

  test('is no obstacle when it is no policy at all', async () => {
    const store = await openPolicyStore({ ...timeouts, url: redis.url })
    onTestFinished(store.close)
    await redis.client.set(`${prefix}policy:rev:${first.revision}`, unusable(first))
    expect(await store.read(first.revision)).toMatchObject({ revision: first.revision })

    await store.publish(first, undefined, { kind: 'push' })

    expect(await store.read(first.revision)).toEqual(first)
  })
})

/** A document whose form and checksum are right, and whose rules nobody can use. */
function unusable(document: PolicyDocument): string {
  return under(document.revision, {
    ...document,
    files: [{ name: 'policy.csv', text: 'p, nonsense\n' }],
  })
}

/** The text of a document that is filed under another revision than its own. */
function under(revision: string, { at, author, files, message }: PolicyDocument): string {
  const content = { at, author, files, message, revision }
  return JSON.stringify({ ...content, checksum: hash('sha256', JSON.stringify(content)) })
}

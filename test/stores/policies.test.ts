import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  formatDocument,
  parseDocument,
} from '../../src/stores/policies/document/policy-document.ts'
import { openPolicyStore, type PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { startFakeRedis } from '../support/fake-redis.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { documentOf } from '../support/policy-files.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.ts'

const prefix = '{test}:'
const timeouts = { prefix, connectTimeoutMs: 1000, commandTimeoutMs: 300 }
const first = documentOf(['clerk, /first, GET'])
const second = documentOf(['clerk, /second, GET'])
const third = documentOf(['clerk, /third, GET'])

let redis: RedisServer
let store: PolicyStore

beforeAll(async () => {
  redis = await startRedis()
  store = await openPolicyStore({ ...timeouts, url: redis.url })
})
afterAll(async () => {
  await store.close()
  await redis.stop()
})
beforeEach(async () => void (await redis.client.flushall()))

describe('the policy store', () => {
  test('has no head before anything is published', async () => {
    expect([await store.head(), await store.read(first.revision)]).toEqual([undefined, undefined])
    expect(await store.history(10)).toEqual([])
  })

  test('publishes a document, moves the head and remembers the move', async () => {
    const published = await store.publish(first, undefined, { kind: 'push' })

    const head = await store.head()
    expect(published).toEqual({ moved: true, head })
    expect(head?.revision).toBe(first.revision)
    expect(await store.read(first.revision)).toEqual(first)
    expect(await store.history(10)).toMatchObject([
      { ...head, author: 'ada', message: 'for a test', kind: 'push' },
    ])
  })

  test('tells everybody of the move', async () => {
    const listener = redis.client.duplicate()
    onTestFinished(() => listener.disconnect())
    await listener.subscribe(`${prefix}policy`)
    const heard = new Promise((resolve) => {
      listener.on('message', (_, text) => resolve(JSON.parse(text)))
    })

    const { head } = await store.publish(first, undefined, { kind: 'push' })

    const { revision, sequence } = head ?? {}
    expect(await heard).toEqual({ revision, sequence })
  })

  test.each([
    ['something, when there was nothing', undefined, first.revision],
    ['nothing, when there was something', first.revision, undefined],
    ['an older revision', second.revision, first.revision],
  ])('refuses a publication that expected %s', async (_, actual, expected) => {
    const published = actual === second.revision ? second : first
    if (actual !== undefined) await store.publish(published, undefined, { kind: 'push' })
    const before = await store.head()

    const refused = await store.publish(third, expected, { kind: 'push' })

    expect(refused).toEqual({ moved: false, head: before })
    expect(await store.head()).toEqual(before)
    expect(await store.read(third.revision)).toBe(undefined)
    expect(await store.history(10)).toHaveLength(actual === undefined ? 0 : 1)
  })

  test('lets exactly one of two racing writers win, every time', async () => {
    const other = await openPolicyStore({ ...timeouts, url: redis.url })
    onTestFinished(() => other.close())

    for (let round = 0; round < 50; round++) {
      const seen = (await store.head())?.revision
      const [mine, theirs] = [`clerk, /mine/${round}, GET`, `clerk, /theirs/${round}, GET`]
      const outcomes = await Promise.all([
        store.publish(documentOf([mine]), seen, { kind: 'push' }),
        other.publish(documentOf([theirs]), seen, { kind: 'push' }),
      ])

      const winner = outcomes.find(({ moved }) => moved)
      expect(outcomes.map(({ moved }) => moved).sort()).toEqual([false, true])
      expect(outcomes.map(({ head }) => head)).toEqual([winner?.head, winner?.head])
    }
    expect(await store.history(100)).toHaveLength(50)
  })

  test('keeps the first document of a revision as it was', async () => {
    await store.publish(first, undefined, { kind: 'push' })
    await store.publish(second, first.revision, { kind: 'push' })
    const again = { ...first, author: 'eve', message: 'back' }

    await store.publish(again, second.revision, { kind: 'rollback' })

    expect(await store.read(first.revision)).toEqual(first)
    expect(await store.history(1)).toMatchObject([
      { revision: first.revision, author: 'eve', kind: 'rollback' },
    ])
  })

  test('only ever counts upwards', async () => {
    const sequences: number[] = []
    let seen: string | undefined
    for (const document of [first, second, first, third, second]) {
      const { head } = await store.publish(document, seen, { kind: 'push' })
      seen = head?.revision
      sequences.push(head?.sequence ?? 0)
    }

    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    expect(new Set(sequences).size).toBe(5)
  })

  test('counts on above what a replica has, after Redis lost its data', async () => {
    const client = createRedis({ ...timeouts, url: redis.url })
    onTestFinished(client.close)
    await client.connect()
    // By a clock that was an hour ahead of the one that Redis has now.
    const sequence = Date.now() + 3_600_000
    const own = { id: 'a', revision: first.revision, sequence, stale: true, version: '1' }
    await createReplicas(client).report(own)

    const { head } = await store.publish(second, undefined, { kind: 'push' })

    expect(head?.sequence).toBe(sequence + 1)
  })

  test('forgets the oldest moves and the documents that only they named', async () => {
    const many = Array.from({ length: 505 }, (_, index) =>
      JSON.stringify({
        revision: index === 504 ? second.revision : third.revision,
        sequence: index + 1,
        author: 'ada',
        message: '',
        at: '',
        kind: 'push',
      }),
    )
    for (const document of [first, second, third]) {
      await redis.client.set(`${prefix}policy:rev:${document.revision}`, formatDocument(document))
    }
    await redis.client.rpush(`${prefix}policy:history`, ...many.slice(0, 499), many[504] ?? '')

    await store.publish(first, undefined, { kind: 'push' })

    expect(await redis.client.llen(`${prefix}policy:history`)).toBe(500)
    expect(await store.read(second.revision)).toBe(undefined)
    expect(await store.read(third.revision)).toEqual(third)
  })

  test('lists replicas by the clock of Redis, with their age', async () => {
    const client = createRedis({ ...timeouts, url: redis.url })
    onTestFinished(client.close)
    await client.connect()
    const replicas = createReplicas(client)
    const own = { revision: first.revision, sequence: 7, stale: false, version: '1.2.3' }

    await replicas.report({ ...own, id: 'b' })
    await replicas.report({
      ...own,
      id: 'a',
      revision: undefined,
      sequence: undefined,
      stale: true,
    })

    const [a, b] = await store.replicas()
    expect(a).toMatchObject({ id: 'a', revision: undefined, sequence: undefined, stale: true })
    expect(b).toMatchObject({ ...own, id: 'b' })
    expect(b?.ageSeconds).toBeLessThan(5)
    expect(Math.abs(Date.parse(b?.at ?? '') - Date.now())).toBeLessThan(60_000)
    expect(await redis.client.pttl(`${prefix}replica:a`)).toBeGreaterThan(0)

    await replicas.forget('a')
    expect((await store.replicas()).map(({ id }) => id)).toEqual(['b'])
  })
})

describe('a document', () => {
  test.each([
    ['cut short', (text: string) => text.slice(0, -20)],
    ['with another rule', (text: string) => text.replace('/first', '/other')],
    ['with another author', (text: string) => text.replace('ada', 'eve')],
    ['with a wrong checksum', (text: string) => text.replace(first.checksum, second.checksum)],
    ['that is no JSON', () => 'garbage'],
    ['that is null', () => 'null'],
    ['of another form', () => '{"revision":"r-000000000000"}'],
    ['of another revision', () => formatDocument(second)],
  ])('%s is a fault, and the next push of it mends that', async (_, spoil) => {
    await store.publish(first, undefined, { kind: 'push' })
    const key = `${prefix}policy:rev:${first.revision}`
    await redis.client.set(key, spoil(formatDocument(first)))

    await expect(store.read(first.revision)).rejects.toMatchObject({ name: 'Fault', part: 'redis' })
    await store.publish(first, first.revision, { kind: 'push' })

    expect(await store.read(first.revision)).toEqual(first)
  })

  test('of the wrong type is a fault that names the key, and the next push mends it', async () => {
    const key = `${prefix}policy:rev:${first.revision}`
    await redis.client.lpush(key, 'x')

    await expect(store.read(first.revision)).rejects.toThrow(key)
    await store.publish(first, undefined, { kind: 'push' })

    expect(await store.read(first.revision)).toEqual(first)
  })

  test('comes back from its text as it was, whatever people write', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    fc.assert(
      fc.property(text, text, (author, message) => {
        const document = documentOf(['clerk, /first, GET'], { author, message })

        expect(parseDocument(formatDocument(document), document.revision)).toEqual(document)
      }),
      { numRuns: 50 },
    )
  })

  test('that is no usable policy is not made', () => {
    expect(() => documentOf(['clerk, no-slash, GET'])).toThrow(
      expect.objectContaining({ name: 'Invalid' }),
    )
  })
})

describe('a head', () => {
  test.each([
    ['garbage', 'garbage'],
    ['empty', ''],
    ['of an impossible revision', '{"revision":"r-../../x","sequence":1}'],
    ['without a sequence', `{"revision":"${first.revision}"}`],
    ['with a fraction for a sequence', `{"revision":"${first.revision}","sequence":1.5}`],
  ])('that is %s is a fault that says what to do', async (_, text) => {
    await redis.client.set(`${prefix}policy:head`, text)

    await expect(store.head()).rejects.toThrow(`${prefix}policy:head`)
    await expect(store.publish(first, undefined, { kind: 'push' })).rejects.toMatchObject({
      part: 'redis',
    })
  })

  test('of the wrong type is a fault that names the key', async () => {
    await redis.client.lpush(`${prefix}policy:head`, 'x')

    await expect(store.head()).rejects.toThrow(`${prefix}policy:head`)
  })

  test('stays when the history has the wrong type: a publication is whole or not at all', async () => {
    await redis.client.set(`${prefix}policy:history`, 'x')

    await expect(store.publish(first, undefined, { kind: 'push' })).rejects.toMatchObject({
      part: 'redis',
    })
    expect(await store.head()).toBe(undefined)
  })
})

describe('a Redis that does not answer', () => {
  test('because nobody listens there is a fault at once', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`

    await expect(openPolicyStore({ ...timeouts, url })).rejects.toMatchObject({
      part: 'redis',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('because it hangs costs no more than the timeout', async () => {
    redis.pause()
    onTestFinished(redis.resume)

    await expect(store.head()).rejects.toThrow('timeout: no reply within 300 ms')
  })

  test.each([
    ['OOM', "-OOM command not allowed when used memory > 'maxmemory'."],
    ['READONLY', "-READONLY You can't write against a read only replica."],
    ['LOADING', '-LOADING Redis is loading the dataset in memory'],
    ['NOAUTH', '-NOAUTH Authentication required.'],
  ])('but with %s is a fault with its words', async (word, line) => {
    const fake = await startFakeRedis((name) => (name === 'INFO' ? undefined : line))
    onTestFinished(fake.close)
    const sick = await openPolicyStore({ ...timeouts, url: fake.url })
    onTestFinished(sick.close)

    await expect(sick.head()).rejects.toMatchObject({
      part: 'redis',
      message: expect.stringContaining(word),
    })
    await expect(sick.publish(first, undefined, { kind: 'push' })).rejects.toMatchObject({
      part: 'redis',
    })
  })

  test('because the connection broke after a publication does not hide that it was made', async () => {
    const proxy = await startFaultProxy(redis.port)
    onTestFinished(proxy.close)
    const url = `redis://127.0.0.1:${proxy.port}`
    const far = await openPolicyStore({ ...timeouts, commandTimeoutMs: 2000, url })
    onTestFinished(far.close)
    const listener = redis.client.duplicate()
    onTestFinished(() => listener.disconnect())
    await listener.subscribe(`${prefix}policy`)
    proxy.inject({ delayMs: 500 })
    listener.on('message', () => {
      // The script has run, and its answer is still on the way.
      proxy.cut('reset')
      proxy.inject({})
    })

    const published = await far.publish(first, undefined, { kind: 'push' })

    expect(published).toEqual({ moved: true, head: await store.head() })
  })

  test('because the password is wrong is a fault without that password', async () => {
    await redis.client.config('SET', 'requirepass', 'right-password')
    onTestFinished(async () => void (await redis.client.config('SET', 'requirepass', '')))
    const url = `redis://:wrong-password@127.0.0.1:${redis.port}`

    const fault = await openPolicyStore({ ...timeouts, url }).catch((error) => error)

    expect(fault).toMatchObject({ part: 'redis', message: expect.stringContaining('WRONGPASS') })
    expect(JSON.stringify([fault, fault.cause, fault.stack])).not.toContain('wrong-password')
  })
})

import { describe, expect, onTestFinished, test } from 'vitest'
import { maxDocumentBytes } from '../../src/stores/policies/document/stored-text.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { maxReplyBytes } from '../../src/stores/redis/redis-invalid-replies.ts'
import { createRedisRevocations } from '../../src/stores/revocations/redis-revocations.ts'
import type { Revocation } from '../../src/token/revocations.ts'
import { person, trusting } from '../signing/key-pairs.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'
import { openFeed, plant, signPolicy } from './trusted-feed.ts'

const redis = emptiedRedis()
const timeouts = { connectTimeoutMs: 10_000, commandTimeoutMs: 10_000 }
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

  const sent = await sentDuring(async () => {
    expect((await store.replicas()).map(({ id }) => id)).toEqual(['good'])
  })
  expect(sent).toBeLessThan(1024 * 1024)
})

test('members that are too large of open proposals and of a shadow are not fetched', async () => {
  const store = await testStore(redis)
  await redis.client.zadd(`${prefix}policy:proposals`, Date.now(), huge)
  await redis.client.zadd(`${prefix}policy:shadow:replicas`, Date.now(), huge)

  const sent = await sentDuring(async () => {
    expect(await store.proposals.list()).toEqual([])
    expect(await store.shadow.reports()).toEqual([])
  })
  expect(sent).toBeLessThan(1024 * 1024)
})

test('revocations that are too large do not hide the others', async () => {
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  onTestFinished(client.close)
  await client.connect()
  const list = createRedisRevocations(client, { url: redis.url, prefix, ...timeouts })
  const revoked = { kind: 'token', id: 'good', userId: '7', issuedAt: 1, until: Date.now() + 1e6 }
  await list.append([revoked as Revocation], 'now')
  for (const [name, value] of [
    ['t:large', `1 ${Date.now() + 1e6} ${huge}`],
    [`t:${huge}`, `1 ${Date.now() + 1e6} 7`],
  ] as const) {
    await redis.client.hset(`${prefix}revoked`, name, value)
    await redis.client.zadd(`${prefix}revoked:order`, 1, name)
  }

  const sent = await sentDuring(async () => {
    expect((await list.read(undefined))?.revocations).toEqual([revoked])
  })
  expect(sent).toBeLessThan(1024 * 1024)
})

test('a connection on which a reply is too large is replaced, and the error names the key', async () => {
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  onTestFinished(client.close)
  await client.connect()
  await redis.client.setrange('large', maxReplyBytes + huge.length, 'x')
  await redis.client.set('small', 'x')
  for (let at = 0; at < 18; at++) await redis.client.rpush('many', huge)

  for (const read of [
    () => client.run((commands) => commands.get('large')),
    () => client.run((commands) => commands.lrange('many', 0, -1)),
    () => client.runScript("return redis.call('GET', KEYS[1])", ['large'], []),
  ]) {
    await expect(read()).rejects.toThrow(/the reply to \w+ (?:large|many) has more than 64 MiB/)
    await until(async () => (await client.run((c) => c.get('small')).catch(() => '')) === 'x')
  }
  // What was read before does not count.
  for (let at = 0; at < 20; at++) {
    const bytes = await client.runBulk((commands) =>
      commands.getrangeBuffer('large', 0, 16 * 1024 * 1024),
    )
    expect(bytes.length).toBe(16 * 1024 * 1024 + 1)
  }
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

describe('a document that is larger than any policy', () => {
  const revision = `r-${'c'.repeat(32)}`
  const tooLarge = 'has more than 128 MiB, which no policy has'

  /** Redis fills up to the last byte with zeros. */
  const plantAt = (key: string) => redis.client.setrange(key, maxDocumentBytes, 'x')

  test('is not fetched by a gateway, with and without policy.trust', async () => {
    const people = [person('alice')]
    const document = documentOf(['clerk, /orders, GET'])
    const first = signPolicy(people, document, { serial: 1000 })
    for (const trust of [undefined, trusting(people, 1)]) {
      await plant(redis, { ...first, sequence: 1 })
      const feed = await openFeed(redis, { ...(trust && { trust }) })
      const large = { ...document, revision }
      const next = signPolicy(people, large, { serial: 2000, after: first.after })
      await plantAt(`${prefix}policy:rev:${revision}`)

      const sent = await sentDuring(async () => {
        const head = { revision, sequence: 2, signed: next.signed }
        await redis.client.set(`${prefix}policy:head`, JSON.stringify(head))
        await redis.client.publish(`${prefix}policy`, '{}')
        await until(() => feed.state().stale)
      })

      expect(feed.state().lastError).toContain(tooLarge)
      expect(feed.revision()).toBe(document.revision)
      expect(sent).toBeLessThan(4 * 1024 * 1024)
      await redis.client.flushall()
    }
  })

  test('is not fetched by commands, and the next push replaces it', async () => {
    const document = documentOf(['clerk, /orders, GET'])
    const store = await testStore(redis)
    await plantAt(`${prefix}policy:rev:${document.revision}`)
    await plantAt(`${prefix}policy:proposal:${revision}:document`)

    const sent = await sentDuring(async () => {
      await expect(store.read(document.revision)).rejects.toThrow(tooLarge)
      await expect(store.proposals.document(revision)).rejects.toThrow(tooLarge)
      await redis.client.mset(`${prefix}policy:head`, huge, `${prefix}policy:shadow`, huge)
      await expect(store.head()).rejects.toThrow('is not a valid policy head')
      expect((await store.shadow.read())?.head).toBeUndefined()
    })
    expect(sent).toBeLessThan(4 * 1024 * 1024)

    await redis.client.del(`${prefix}policy:head`)
    await store.publish(document, undefined, { kind: 'push' })
    expect((await store.read(document.revision))?.checksum).toBe(document.checksum)
  })

  test('that has another content than the signed one is refused before it is parsed', async () => {
    const people = [person('alice')]
    const first = signPolicy(people, documentOf(['clerk, /first, GET']), { serial: 1000 })
    await plant(redis, { ...first, sequence: 1 })
    const feed = await openFeed(redis, { trust: trusting(people, 1) })
    const document = documentOf(['clerk, /second, GET'])
    const next = signPolicy(people, document, { serial: 2000, after: first.after })
    // Neither JSON nor with a checksum of its own.
    await redis.client.set(`${prefix}policy:rev:${document.revision}`, huge)
    const head = { revision: document.revision, sequence: 2, signed: next.signed }
    await redis.client.set(`${prefix}policy:head`, JSON.stringify(head))
    await redis.client.publish(`${prefix}policy`, '{}')
    await until(() => feed.rejected('wrong-document') > 0)

    expect(feed.state().lastError).toContain('signed for another document')
  })
})

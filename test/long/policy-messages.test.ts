import { describe, expect, test } from 'vitest'
import { formatDocument } from '../../src/stores/policies/document/policy-document.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const first = ['clerk, /first, GET']
const second = ['clerk, /second, GET']
const third = ['clerk, /third, GET']

describe('a published policy', () => {
  test('is in force when the gateway starts, and the next one soon after its publication', async () => {
    const published = await startPublished({ rules: first })
    expect(await published.ask('/first')).toBe('allowed')

    const revision = await published.publish(second)

    await until(async () => (await published.ask('/second')) === 'allowed')
    expect(await published.ask('/first')).toBe('denied')
    expect(await published.readyz()).toMatchObject({
      status: 200,
      revision,
      policy: { source: 'redis', stale: false, reloads: { ok: 2, failed: 0 } },
    })
  })

  test('arrives although the listener was thrown out and its message lost', async () => {
    const published = await startPublished({ rules: first })

    await published.redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await published.publish(second)

    await until(async () => (await published.ask('/second')) === 'allowed')
  })

  test('arrives by polling when nobody tells of it', async () => {
    const published = await startPublished({ rules: first })

    await putInForce(published, second, { announce: 'never' })

    await until(async () => (await published.ask('/second')) === 'allowed')
  })

  test('arrives although the message came before the write', async () => {
    const published = await startPublished({ rules: first })

    await putInForce(published, second, { announce: 'before' })

    await until(async () => (await published.ask('/second')) === 'allowed')
  })

  test('stays although older messages, repeated ones and nonsense come after it', async () => {
    const published = await startPublished({ rules: first })
    const store = await testStore(published.redis)
    const oldest = await store.head()
    await published.publish(second)
    const older = await store.head()
    await published.publish(third)
    await until(async () => (await published.ask('/third')) === 'allowed')

    for (const text of [JSON.stringify(older), JSON.stringify(oldest), '', 'garbage', '{"a":']) {
      await published.redis.client.publish(`${prefix}policy`, text)
    }

    await published.publish(third)
    await until(async () => (await published.readyz()).policy.reloads.ok === 4)
    expect(await published.ask('/third')).toBe('allowed')
    expect(await published.ask('/first')).toBe('denied')
    expect((await published.readyz()).policy.reloads.failed).toBe(0)
  })

  test('is reported by the replica that decides by it, until that ends', async () => {
    const published = await startPublished({ rules: first })
    const store = await testStore(published.redis)
    await until(async () => (await store.replicas()).length === 1)

    const revision = await published.publish(second)

    await until(async () => (await store.replicas())[0]?.revision === revision)
    expect(await store.replicas()).toMatchObject([
      { revision, sequence: (await store.head())?.sequence, stale: false },
    ])
    await published.postern.close()
    expect(await store.replicas()).toEqual([])
  })
})

/** Writes what a publication writes, with or without its message. */
async function putInForce(
  { redis }: Awaited<ReturnType<typeof startPublished>>,
  rules: readonly string[],
  { announce }: { readonly announce: 'before' | 'never' },
): Promise<void> {
  const document = documentOf(rules)
  const head = JSON.stringify({ revision: document.revision, sequence: Date.now() + 1000 })
  if (announce === 'before') {
    await redis.client.publish(`${prefix}policy`, head)
    // Long enough for the gateway to have looked, and found nothing new.
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { revision } = document
  await redis.client.set(`${prefix}policy:rev:${revision}`, formatDocument(document))
  await redis.client.set(`${prefix}policy:head`, head)
}

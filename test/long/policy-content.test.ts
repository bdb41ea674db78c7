import { describe, expect, test } from 'vitest'
import { formatDocument } from '../../src/stores/policies/document/policy-document.ts'
import { documentOf } from '../support/policy-files.ts'
import { askDuring, type Published, prefix, startPublished } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const first = ['clerk, /first, GET']
const second = ['clerk, /second, GET']
const good = documentOf(first)
const next = documentOf(second)
const headKey = `${prefix}policy:head`
const nextKey = `${prefix}policy:rev:${next.revision}`

type Spoil = (published: Published) => Promise<unknown>

/** Puts a document in force as a publication would, but with a content of our choice. */
const putInForce =
  (text: string): Spoil =>
  async ({ redis }) => {
    const head = { revision: next.revision, sequence: Date.now() + 60_000 }
    await redis.client.set(nextKey, text)
    await redis.client.set(headKey, JSON.stringify(head))
  }

const cases: readonly (readonly [string, Spoil])[] = [
  ['was flushed', ({ redis }) => redis.client.flushall()],
  ['lost the head', ({ redis }) => redis.client.del(headKey)],
  ['has garbage for a head', ({ redis }) => redis.client.set(headKey, '\u0000\u00ff{')],
  [
    'has a head of the wrong type',
    async ({ redis }) => {
      await redis.client.del(headKey)
      await redis.client.lpush(headKey, 'x')
    },
  ],
  [
    'has an older head',
    ({ redis }) =>
      redis.client.set(headKey, JSON.stringify({ revision: next.revision, sequence: 5 })),
  ],
  [
    'lost the document',
    async (published) => {
      await putInForce('')(published)
      await published.redis.client.del(nextKey)
    },
  ],
  ['has a document cut short', putInForce(formatDocument(next).slice(0, -30))],
  [
    'has a document with a wrong checksum',
    putInForce(formatDocument(next).replace(next.checksum, good.checksum)),
  ],
  ['has a document that somebody edited', putInForce(formatDocument(next).replace('GET', 'PUT'))],
  ['has another revision under this name', putInForce(formatDocument(good))],
  ['has garbage for a document', putInForce('\u0000\u00ff{')],
  [
    'has a document of the wrong type',
    async (published) => {
      await putInForce('')(published)
      await published.redis.client.del(nextKey)
      await published.redis.client.lpush(nextKey, 'x')
    },
  ],
]

describe('a Redis that', () => {
  test.each(cases)(
    '%s changes no decision, raises the alarm, and is mended by a push',
    async (_, spoil) => {
      const published = await startPublished({ rules: first })

      const verdicts = await askDuring(published, '/first', async () => {
        await spoil(published)
        await until(async () => (await published.readyz()).policy.reloads.failed > 0)
      })

      expect([...verdicts]).toEqual(['allowed'])
      expect(await published.ask('/second')).toBe('denied')
      expect(await published.readyz()).toMatchObject({
        status: 200,
        revision: good.revision,
        policy: { stale: true, lastError: expect.any(String) },
      })
      expect(published.postern.logText()).toContain('keeping the last good revision')

      await mend(published)
      await until(async () => (await published.ask('/second')) === 'allowed')
      expect((await published.readyz()).policy.stale).toBe(false)
    },
  )

  test('went back to an earlier move of the same policy confirms it: a push would find nothing to publish', async () => {
    const published = await startPublished({ rules: first })
    const before = await published.readyz()
    const goBackTo = ({ revision }: { readonly revision: string }) =>
      published.redis.client.set(headKey, JSON.stringify({ revision, sequence: 5 }))
    await goBackTo(next)
    await until(async () => (await published.readyz()).policy.stale)

    await goBackTo(good)

    await until(async () => !(await published.readyz()).policy.stale)
    expect((await published.readyz()).policy.sequence).toBe(before.policy.sequence)
  })
})

/** What an operator does: a head that is no head is deleted, then the policy is pushed. */
async function mend(published: Published): Promise<void> {
  const { client } = published.redis
  const isHead =
    (await client.type(headKey)) === 'string' && (await client.get(headKey))?.includes('"sequence"')
  if (!isHead) await client.del(headKey)
  await published.publish(second)
}

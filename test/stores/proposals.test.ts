import { describe, expect, test } from 'vitest'
import { createStatement } from '../../src/signing/statement.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, testStore } from '../support/published-policies.ts'

const redis = emptiedRedis()

/** A proposal of this rule, by a person who did not sign it. */
function proposalOf(rule: string) {
  const document = documentOf([rule])
  const parts = { purpose: 'live', after: null, author: 'ann', message: rule } as const
  const statement = createStatement({ ...parts, document, now: new Date() }) ?? ''
  const about = { kind: 'push', over: null, evidence: { warnings: 0 } } as const
  const { revision } = document
  const proposal = { revision, statement, about, signatures: new Map<string, string>() }
  return { proposal, document, replaces: undefined }
}

describe('a proposal in Redis', () => {
  test('replaces only the one that its author saw, without the signatures of that', async () => {
    const { proposals } = await testStore(redis)
    const { proposal: first, ...parts } = proposalOf('clerk, /orders, GET')
    const { revision } = first
    const next = { ...first, statement: first.statement.replace('"ann"', '"ben"') }

    expect(await proposals.propose(first, parts)).toBe('done')
    expect(await proposals.propose(next, parts)).toBe('changed')
    const stored = await proposals.read(revision)
    if (stored === undefined) throw new Error('not stored')
    expect(await proposals.sign(stored, { fingerprint: 'a', signature: 's' })).toBe('done')
    expect((await proposals.read(revision))?.signatures).toEqual(new Map([['a', 's']]))
    expect(await proposals.propose(next, { ...parts, replaces: first.statement })).toBe('done')

    expect(await proposals.read(revision)).toMatchObject({
      statement: next.statement,
      signatures: new Map(),
    })
    expect(await proposals.sign(stored, { fingerprint: 'b', signature: 's' })).toBe('changed')
    await proposals.drop(revision)
    expect(await proposals.sign(stored, { fingerprint: 'b', signature: 's' })).toBe('missing')
    expect(await redis.client.keys(`${prefix}policy:proposal*`)).toEqual([])
  })

  test('is stored once when the reply to the first attempt was lost', async () => {
    const { proposals } = await testStore(redis)
    const { proposal, ...parts } = proposalOf('clerk, /orders, GET')

    expect(await proposals.propose(proposal, parts)).toBe('done')
    expect(await proposals.propose(proposal, parts)).toBe('done')
  })

  test('is refused while 100 others are open, and not counted once it has expired', async () => {
    const { proposals } = await testStore(redis)
    const index = `${prefix}policy:proposals`
    const open = Array.from({ length: 100 }, (_, at) => [9e15, `r-${'0'.repeat(9)}${100 + at}`])
    await redis.client.zadd(index, ...open.flat())

    const { proposal, ...parts } = proposalOf('clerk, /orders, GET')
    expect(await proposals.propose(proposal, parts)).toBe('full')
    await redis.client.zadd(index, 1, `r-${'0'.repeat(9)}100`)
    expect(await proposals.propose(proposal, parts)).toBe('done')
    expect(await proposals.list()).toHaveLength(1)
  })
})

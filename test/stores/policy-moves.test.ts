import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseMove } from '../../src/stores/policies/document/policy-keys.ts'
import { timeFunction } from '../../src/stores/policies/document/publish-script.ts'
import {
  createPolicyStore,
  openPolicyStore,
  type PolicyStore,
} from '../../src/stores/policies/policy-store.ts'
import { createRedis, type RedisClient } from '../../src/stores/redis/redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const prefix = '{test}:'
const first = documentOf(['clerk, /first, GET'])
const second = documentOf(['clerk, /second, GET'])
const signed = { statement: '{"version":1}', signatures: ['one', 'two'] }
const push = { kind: 'push' } as const

let server: RedisServer
let redis: RedisClient
let store: PolicyStore

beforeAll(async () => {
  server = await startRedis()
  const settings = { url: server.url, prefix, connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  redis = createRedis(settings)
  await redis.connect()
  store = await openPolicyStore(settings)
})
afterAll(async () => {
  await store.close()
  await redis.close()
  await server.stop()
})
beforeEach(async () => void (await server.client.flushall()))

describe('the time of a move', () => {
  test('is by the clock of Redis, not by that of the publisher', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2001-02-03T04:05:06Z') })
    onTestFinished(() => void vi.useRealTimers())
    await store.publish(first, undefined, push)
    vi.useRealTimers()

    const [move] = await store.history()
    const [seconds] = await server.client.time()
    expect(Math.abs(Date.parse(move?.at ?? '') / 1000 - Number(seconds))).toBeLessThan(600)
  })

  test('is written as JavaScript writes it, on every day of the calendar', async () => {
    const script = `${timeFunction}
      local found = {}
      for at, seconds in ipairs(ARGV) do found[at] = isoTime(tonumber(seconds), at * 1000 + 999) end
      return found`
    const days = [
      '1970-01-01',
      '1972-02-29',
      '1999-12-31',
      '2000-02-29',
      '2024-02-29',
      '2026-11-16',
    ]
    const known = [...days, '2100-02-28', '2100-03-01'].map((day) => Date.parse(day) / 1000)
    const random = fc.sample(fc.integer({ min: 0, max: 8_000_000_000 }), 500)
    const all = [...known, ...known.map((seconds) => seconds + 86_399), ...random]

    const found = await server.client.eval(script, 0, ...all)

    const expected = all.map((seconds, at) => new Date(seconds * 1000 + at + 1).toISOString())
    expect(found).toEqual(expected)
  })
})

describe('a publication', () => {
  test('puts author, signatures and evidence where gateways and people find them', async () => {
    const evidence = { shadow: { calls: 12, wouldDeny: 0 } }

    const { head } = await store.publish(first, undefined, { kind: 'promote', signed, evidence })

    expect(head).toMatchObject({ revision: first.revision, author: 'ada', signed })
    expect(await store.head()).toEqual(head)
    expect(await store.history()).toMatchObject([{ ...head, kind: 'promote', signed, evidence }])
  })

  test('recognizes its own move by a random id when the reply was lost', async () => {
    const lossy = createPolicyStore({
      ...redis,
      async runBulk(command) {
        const value = await redis.runBulk(command)
        if (Array.isArray(value)) throw new Error('the reply was lost')
        return value
      },
    })

    const published = await lossy.publish(first, undefined, { ...push, signed })

    expect(published).toEqual({ moved: true, head: await store.head() })
    expect((await store.history()).map(({ id }) => id)).toEqual([
      expect.stringMatching(/^[\w-]{36}$/),
    ])
  })

  test('does not take the same move of the same author for its own', async () => {
    let calls = 0
    const refused = createPolicyStore({
      ...redis,
      async runBulk(command) {
        // The first call reads the document, the second one publishes.
        if (++calls !== 2) return redis.runBulk(command)
        await store.publish(first, undefined, push)
        throw new Error('the command was lost')
      },
    })

    await expect(refused.publish(first, undefined, push)).rejects.toThrow('lost')
    expect(await store.history()).toHaveLength(1)
  })
})

describe('what version 0.1.0 wrote', () => {
  const old = `{"sequence":7,"revision":"${first.revision}","author":"ada","message":"m","at":"2026-01-02T03:04:05.678Z","kind":"push"}`

  test('still reads, and the next publication follows it', async () => {
    await server.client.set(`${prefix}policy:head`, `{"revision":"${first.revision}","sequence":7}`)
    await server.client.lpush(`${prefix}policy:history`, old)

    expect(await store.head()).toEqual({ revision: first.revision, sequence: 7 })
    expect(await store.history()).toEqual([JSON.parse(old)])
    const { moved } = await store.publish(second, first.revision, push)
    expect(moved).toBe(true)
    expect(await store.history()).toMatchObject([{ revision: second.revision }, JSON.parse(old)])
  })

  test('has the fields that it expects of a newer publisher', async () => {
    await store.publish(first, undefined, { ...push, signed })

    const [text = ''] = await server.client.lrange(`${prefix}policy:history`, 0, 0)
    for (const name of ['revision', 'author', 'message', 'at', 'kind']) {
      expect(JSON.parse(text)).toHaveProperty(name, expect.any(String))
    }
    expect(JSON.parse(text)).toHaveProperty('sequence', expect.any(Number))
  })
})

describe('an entry that Redis cannot be trusted with', () => {
  const move = {
    revision: first.revision,
    sequence: 1,
    author: 'a',
    message: 'm',
    at: 't',
    kind: 'push',
  }

  test.each([
    ['no object', 'x'],
    ['no signatures', { statement: 's' }],
    ['other signatures', { statement: 's', signatures: [1] }],
    ['too long a statement', { statement: 's'.repeat(20_000), signatures: [] }],
    ['too many signatures', { statement: 's', signatures: Array(33).fill('s') }],
  ])('has nothing that anyone could have signed with %s', (_, value) => {
    const signed = { statement: '', signatures: [] }
    expect(parseMove(JSON.stringify({ ...move, signed: value }))).toEqual({ ...move, signed })
  })

  test('keeps only the fields that a move has', () => {
    const text = JSON.stringify({ ...move, id: 5, evidence: [], extra: 'x', toString: 'x' })
    expect(parseMove(text)).toEqual(move)
  })
})

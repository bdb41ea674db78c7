import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createDatabaseRevocations } from '../../src/stores/revocations/database-revocations.ts'
import { createRedisRevocations } from '../../src/stores/revocations/redis-revocations.ts'
import { createRevocationFeed } from '../../src/stores/revocations/revocation-feed.ts'
import {
  PAGE,
  type Position,
  type RevocationStore,
} from '../../src/stores/revocations/revocation-store.ts'
import { createRevocations, type Revocation } from '../../src/token/revocations.ts'
import { revocationOf, type VerifiedToken } from '../../src/token/tokens.ts'
import { userRevocation } from '../../src/token/user-marks.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { limits, type RunningDatabase, testDatabases } from './test-databases.ts'

interface Kind {
  readonly name: string
  start(): Promise<{ fresh(): Promise<RevocationStore>; stop(): Promise<void> }>
}

const databases = (await testDatabases()).map(
  ({ name, start }): Kind => ({
    name,
    async start() {
      const running: RunningDatabase = await start()
      return {
        fresh: async () => createDatabaseRevocations(await running.fresh()),
        stop: running.stop,
      }
    },
  }),
)

const redis: Kind = {
  name: 'Redis',
  async start() {
    const server: RedisServer = await startRedis()
    return {
      async fresh() {
        await server.client.flushall()
        const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
        const settings = { url: server.url, prefix: '{test}:', ...timeouts }
        const client = createRedis(settings)
        await client.connect()
        onTestFinished(client.close)
        return createRedisRevocations(client, settings)
      },
      stop: server.stop,
    }
  },
}

const later = Date.now() + 3_600_000
const token = (id: string, changes: Partial<Revocation> = {}): Revocation =>
  ({ kind: 'token', id, userId: '42', issuedAt: 1000, until: later, ...changes }) as Revocation
const user = (userId: string, before: number): Revocation => ({
  ...{ kind: 'user', userId, before, until: later },
})

const somebody = { roleId: '1', roleKey: 'r', roleName: '', username: 'u', dataScope: '' }
const unchecked = { notBefore: undefined, key: { kid: undefined, identity: '' } }

/** Reads from a place to the end. */
async function readOn(store: RevocationStore, from?: Position) {
  const found: Revocation[] = []
  let at = from
  for (;;) {
    const page = await store.read(at)
    if (page === undefined) throw new Error('the place is gone')
    found.push(...page.revocations)
    at = page.position
    if (!page.more) return { found, place: at }
  }
}

describe.each([redis, ...databases])('the list of ended tokens in $name', ({ start }) => {
  let running: Awaited<ReturnType<Kind['start']>>
  beforeAll(async () => {
    running = await start()
  })
  afterAll(() => running.stop())

  test('is empty at first', async () => {
    expect((await readOn(await running.fresh())).found).toEqual([])
  })

  test('gives back what was added, exactly, and then only what is new', async () => {
    const store = await running.fresh()
    const first = [token('a"b\\:~'), user('9223372036854775807', 5000)]
    await store.append(first, 'before')

    const { found, place } = await readOn(store)
    await store.append([token('second')], 'before')

    expect(found).toEqual(expect.arrayContaining(first))
    expect(found).toHaveLength(2)
    expect((await readOn(store, place)).found).toEqual([token('second')])
  })

  test('takes a token whose issuer let it last for ever, and reads it', async () => {
    const store = await running.fresh()
    const endings = [1e13, 1e18, 1e300].map((expiresAt, at) => {
      const caller = { ...somebody, userId: String(at) }
      return revocationOf({
        ...{ caller, expiresAt, id: `odd-${at}`, userId: caller.userId },
        ...{ kind: 'user', issuedAt: 1000 },
        ...unchecked,
      })
    })

    await store.append(endings, 'before')
    await store.append([token('plain')], 'before')

    expect((await readOn(store)).found).toEqual(expect.arrayContaining(endings))
    expect((await readOn(store)).found).toHaveLength(4)
  })

  test('takes nothing twice', async () => {
    const store = await running.fresh()
    await store.append([token('a'), token('a'), user('1', 5000)], 'before')
    const { place } = await readOn(store)

    await store.append([token('a'), user('1', 5000)], 'before')

    expect((await readOn(store, place)).found).toEqual([])
    expect((await readOn(store)).found).toHaveLength(2)
  })

  test('keeps the later of two marks on a user, whichever came first', async () => {
    const store = await running.fresh()

    await store.append([user('1', 5000)], 'before')
    await store.append([user('1', 9000)], 'before')
    await store.append([user('1', 7000)], 'before')

    expect((await readOn(store)).found).toEqual([user('1', 9000)])
  })

  test('raises a mark that is made now to its own clock, and leaves one that is brought back', async () => {
    const store = await running.fresh()

    await store.append([user('1', 5000)], 'now')
    await store.append([user('2', 5000)], 'before')

    const { found } = await readOn(store)
    const marks = new Map(found.map((one) => [one.userId, one.kind === 'user' ? one.before : 0]))
    expect(marks.get('1')).toBeGreaterThan(Date.now() - 60_000)
    expect(marks.get('2')).toBe(5000)
  })

  test('does not let a command whose clock is wrong put a mark into the future', async () => {
    const store = await running.fresh()
    const tomorrow = Date.now() + 86_400_000

    await store.append([{ ...user('1', tomorrow), until: tomorrow * 2 }], 'now')

    // A login dates its token after the mark, and a token of tomorrow is refused until tomorrow.
    const [mark] = (await readOn(store)).found
    expect(mark).toMatchObject({ userId: '1', before: expect.any(Number) })
    expect(mark?.kind === 'user' && mark.before).toBeLessThan(Date.now() + 60_000)
  })

  test('keeps one token of a user, and only while nothing else revokes it', async () => {
    const store = await running.fresh()
    const change = fc.oneof(
      fc.record({ made: fc.constant('now'), kept: fc.option(fc.nat(2), { nil: undefined }) }),
      // A gateway that could not reach the store, with a clock of its own.
      fc.record({ made: fc.integer({ min: -3, max: 3 }), kept: fc.nat(2) }),
      fc.record({ made: fc.constant('token'), kept: fc.nat(2) }),
    )
    let users = 0
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const userId = `p${users++}`
        const issuedAt = Date.now() - 60_000
        const tokens = [0, 1, 2].map((at) => ({ id: `${userId}-${at}`, userId, issuedAt }))
        const live = new Set(tokens)
        let mark = 0
        for (const { made, kept } of changes) {
          const one = kept === undefined ? undefined : tokens[kept]
          if (made === 'token' && one !== undefined) {
            await store.append([{ kind: 'token', ...one, until: later }], 'before')
            live.delete(one)
            continue
          }
          const before = typeof made === 'number' ? Math.max(mark, issuedAt + 5) + made : 5000
          const exception = { kind: 'kept', ...one, before, until: later } as Revocation
          const entries = [...(one === undefined ? [] : [exception]), user(userId, before)]
          // A write that is repeated changes nothing.
          for (let time = 0; time < (made === 'now' ? 1 : 2); time++) {
            await store.append(entries, made === 'now' ? 'now' : 'before')
          }
          const found = (await readOn(store)).found.find(
            (entry) => entry.kind === 'user' && entry.userId === userId,
          )
          const moment = found?.kind === 'user' ? found.before : 0
          if (moment > mark) for (const each of tokens) if (each !== one) live.delete(each)
          mark = moment
        }

        const known = createRevocations(Date.now)
        for (const entry of (await readOn(store)).found) known.add(entry)
        const found = tokens.filter((each) => known.check({ ...each, kind: 'user' }) === 'live')
        expect(found).toEqual(tokens.filter((each) => live.has(each)))
      }),
      { numRuns: 20 },
    )
  })

  test('takes no exception without its mark', async () => {
    const store = await running.fresh()
    const one = { id: 'one', userId: '1', issuedAt: 1000 }
    const exception: Revocation = { kind: 'kept', ...one, before: 5000, until: later }

    await store.append([exception], 'before')
    expect((await readOn(store)).found).toEqual([])

    await store.append([user('1', 5000), exception], 'before')
    expect((await readOn(store)).found).toEqual([exception, user('1', 5000)])
  })

  test('forgets what is over when something is added', async () => {
    const store = await running.fresh()
    await store.append([token('over', { until: Date.now() - 5000 })], 'before')

    await store.append([token('next')], 'before')

    expect((await readOn(store)).found).toEqual([token('next')])
  })

  test('is read whole however long it is', async () => {
    const store = await running.fresh()
    const many = Array.from({ length: PAGE * 2 + 7 }, (_, at) => token(`t${at}`))
    for (let at = 0; at < many.length; at += PAGE) {
      await store.append(many.slice(at, at + PAGE), 'before')
    }

    const { found } = await readOn(store)

    expect(new Set(found.map((one) => one.kind === 'token' && one.id)).size).toBe(many.length)
  })

  test('passes none by that was added while it was being read', async () => {
    const store = await running.fresh()
    const seen = new Set<string>()
    let place: Position | undefined
    let adding = true

    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let at = 0; at < 25; at++) await store.append([token(`${writer}-${at}`)], 'before')
    })
    const written = Promise.all(writers).finally(() => {
      adding = false
    })
    async function readMore() {
      const page = (await store.read(place)) ?? (await store.read(undefined))
      for (const one of page?.revocations ?? []) if (one.kind === 'token') seen.add(one.id)
      place = page?.position
    }
    while (adding) await readMore()
    await written
    await readMore()

    expect(seen.size).toBe(100)
  })
})

/** A store on a Redis of the test's own, and what watches it. */
/** One that ends with the test. */
async function startFeed(store: RevocationStore, revocations = createRevocations(Date.now)) {
  const feed = createRevocationFeed({
    ...{ store, revocations, now: Date.now, maxAgeMs: 60_000, whenStale: 'serve' },
    log: { info: () => {}, warn: () => {} },
  })
  await feed.start()
  onTestFinished(feed.close)
  return feed
}

async function onRedis({ deaf = false } = {}) {
  const server = await startRedis()
  onTestFinished(server.stop)
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  const settings = { url: server.url, prefix: '{test}:', ...timeouts }
  const client = createRedis(settings)
  await client.connect()
  onTestFinished(client.close)
  const elsewhere = { ...settings, url: `redis://127.0.0.1:${await freePort()}` }
  const store = createRedisRevocations(client, deaf ? elsewhere : settings)
  return { server, store }
}

describe('a list in a database', () => {
  test('that was restored is told from the one before, so that nobody reads on in it', async () => {
    const server = await startPostgres()
    onTestFinished(server.stop)
    const database = await openDatabase({ url: server.url, directory: '', ...limits })
    onTestFinished(database.close)
    const store = createDatabaseRevocations(database)
    await store.append([token('a'), token('b')], 'before')
    const { place } = await readOn(store)

    await server.query('truncate postern_revocation restart identity')
    await store.append([token('new')], 'before')

    expect(await store.read(place)).toBeUndefined()
    expect((await readOn(store)).found).toEqual([token('new')])
  })
})

describe('a list in Redis', () => {
  test('is followed by polling where no message arrives', async () => {
    const { store } = await onRedis({ deaf: true })
    const revocations = createRevocations(Date.now)
    const feed = createRevocationFeed({
      ...{ store, revocations, now: Date.now, maxAgeMs: 60_000, whenStale: 'serve' },
      log: { info: () => {}, warn: () => {} },
    })
    await feed.start()
    onTestFinished(feed.close)

    await store.append([token('a'), user('7', 5000)], 'before')

    await until(() => revocations.has(token('a')) && revocations.has(user('7', 5000)))
    expect(feed.state()).toMatchObject({ tokens: 1, users: 1, stale: false, pendingWrites: false })
  })

  test.each(['revoked', 'revoked:order', 'revoked:ends', 'revoked:head'])(
    'of which the key %s was evicted is written back whole',
    async (key) => {
      const { server, store } = await onRedis()
      const feed = await startFeed(store)
      const ended = [token('a'), user('7', 5000)]
      for (const one of ended) expect(await feed.revoke(one)).toBe('everywhere')

      expect(await server.client.del(`{test}:${key}`)).toBe(1)

      await until(async () => (await readOn(store)).found.length === 2)
      expect((await readOn(store)).found).toEqual(expect.arrayContaining(ended))
      for (const each of await server.client.keys('*')) {
        expect(await server.client.pttl(each)).toBeGreaterThan(3_600_000)
      }
    },
  )

  test('takes what is added by a user who may use no channel', async () => {
    const { server } = await onRedis()
    await server.client.call('ACL', 'SETUSER', 'mute', 'on', '>pw', '~*', '+@all', 'resetchannels')
    const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
    const url = server.url.replace('//', '//mute:pw@')
    const client = createRedis({ url, prefix: '{test}:', ...timeouts })
    await client.connect()
    onTestFinished(client.close)
    const store = createRedisRevocations(client, { url, prefix: '{test}:', ...timeouts })

    await store.append([token('a')], 'before')

    expect((await readOn(store)).found).toEqual([token('a')])
  })

  test('that loses what it just took is told again', async () => {
    const { server, store } = await onRedis({ deaf: true })
    const feed = await startFeed(store)

    await feed.revoke(token('a'))
    await server.client.flushall()

    await until(async () => (await readOn(store)).found.length === 1)
  })

  test('that is away is shown as not told of what ended here, until it is told', async () => {
    const { server, store } = await onRedis()
    const feed = await startFeed(store)
    await server.kill()

    expect(await feed.revoke(token('a'))).toBe('here')
    await until(() => feed.state().lastError !== undefined)

    expect(feed.state().pendingWrites).toBe(true)
    await server.start()
    await until(() => !feed.state().pendingWrites)
    expect((await readOn(store)).found).toEqual([token('a')])
  })

  test.each(['reachable', 'unreachable'])(
    'that is %s gets the revocation of all tokens of a user but one',
    async (redis) => {
      const { server, store } = await onRedis()
      const [here, there] = [createRevocations(Date.now), createRevocations(Date.now)]
      const feed = await startFeed(store, here)
      const issued = { userId: '7', issuedAt: Date.now() - 1000, expiresAt: later / 1000 }
      const own: VerifiedToken = {
        ...{ ...issued, kind: 'user', id: 'own' },
        ...{ caller: { ...somebody, userId: '7' }, ...unchecked },
      }
      const other = { ...own, id: 'other' }
      if (redis === 'unreachable') await server.kill()

      const where = await feed.revokeUser(userRevocation('7', { longestLifetimeSeconds: 60 }), own)

      expect(where).toBe(redis === 'reachable' ? 'everywhere' : 'here')
      await until(() => here.check(other) === 'revoked')
      expect(here.check(own)).toBe('live')
      if (redis === 'unreachable') await server.start()
      await startFeed(store, there)
      await until(() => there.check(other) === 'revoked')
      expect([here.check(own), there.check(own)]).toEqual(['live', 'live'])
    },
  )

  test('that was flushed is told from the one before, so that nobody reads on in it', async () => {
    const { server, store } = await onRedis()
    await store.append([token('lost')], 'before')
    const { place } = await readOn(store)

    await server.client.flushall()
    expect(await store.read(place)).toBeUndefined()
    await store.append([token('new')], 'before')

    expect(await store.read(place)).toBeUndefined()
    expect((await readOn(store)).found).toEqual([token('new')])
  })
})

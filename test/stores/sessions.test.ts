import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createDatabaseSessions } from '../../src/stores/sessions/database-sessions.ts'
import { createRedisSessions } from '../../src/stores/sessions/redis-sessions.ts'
import {
  MOST_SESSIONS,
  type Session,
  type SessionStore,
} from '../../src/stores/sessions/session-store.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

interface Kind {
  readonly name: string
  start(): Promise<{ fresh(): Promise<SessionStore>; stop(): Promise<void> }>
}

const databases = testDatabases().map(
  ({ name, start }): Kind => ({
    name,
    async start() {
      const running: RunningDatabase = await start()
      return {
        fresh: async () => createDatabaseSessions(await running.fresh()),
        stop: running.stop,
      }
    },
  }),
)

async function connect(server: RedisServer) {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  const client = createRedis({ url: server.url, prefix: '{test}:', ...timeouts })
  await client.connect()
  onTestFinished(client.close)
  return createRedisSessions(client)
}

const redis: Kind = {
  name: 'Redis',
  async start() {
    const server = await startRedis()
    return {
      async fresh() {
        await server.client.flushall()
        return connect(server)
      },
      stop: server.stop,
    }
  },
}

const minute = 60_000
const now = Date.now()
const session = (id: string, changes: Partial<Session> = {}): Session => ({
  ...{ id, userId: '42', username: 'ann', roleKey: 'clerk', address: '10.0.0.1', agent: 'curl/8' },
  ...{ issuedAt: now - minute, expiresAt: now + 60 * minute, seenAt: now - minute },
  ...changes,
})
const idsOf = (found: readonly Session[]) => found.map(({ id }) => id).sort()

describe.each([redis, ...databases])('sessions in $name', ({ start }) => {
  let running: Awaited<ReturnType<Kind['start']>>
  beforeAll(async () => {
    running = await start()
  })
  afterAll(() => running.stop())

  test('come back as they were added, of all users or of one', async () => {
    const store = await running.fresh()
    const odd = { userId: '9223372036854775807', username: 'a "b" ☃', agent: 'x y|z', address: '' }
    const all = [session('a'), session('b', odd)]

    await store.add(all)

    expect(await store.list()).toEqual(expect.arrayContaining(all))
    expect(await store.list()).toHaveLength(2)
    expect(await store.list('42')).toEqual([session('a')])
    expect(await store.list('4')).toEqual([])
  })

  test('are added once, and not changed by adding them again', async () => {
    const store = await running.fresh()
    await store.add([session('a')])
    await store.add([session('a', { address: '10.9.9.9' }), session('b')])

    expect(idsOf(await store.list())).toEqual(['a', 'b'])
    expect(await store.list()).toContainEqual(session('a'))
  })

  test('are seen later, never earlier, and only if they are recorded', async () => {
    const store = await running.fresh()
    await store.add([session('a'), session('b', { userId: '43' })])

    const seen = (id: string, userId: string, seenAt: number) => ({ id, userId, seenAt })
    await store.markSeen([seen('a', '42', now), seen('b', '43', now - 5 * minute)])
    await store.markSeen([seen('ghost', '42', now), seen('ghost', '44', now)])

    const times = new Map((await store.list()).map(({ id, seenAt }) => [id, seenAt]))
    expect([...times].sort()).toEqual([
      ['a', now],
      ['b', now - minute],
    ])
  })

  test('can be removed', async () => {
    const store = await running.fresh()
    await store.add([session('a'), session('b'), session('c', { userId: '43' })])

    await store.remove([session('a'), session('c', { userId: '43' }), session('ghost')])

    expect(idsOf(await store.list())).toEqual(['b'])
  })

  test('are not listed once they have expired', async () => {
    const store = await running.fresh()
    await store.add([session('over', { expiresAt: Date.now() - 1 }), session('a')])

    expect(idsOf(await store.list())).toEqual(['a'])
    expect(idsOf(await store.list('42'))).toEqual(['a'])
  })

  test('are at most so many of one user: the oldest are dropped', async () => {
    const store = await running.fresh()
    const hundredYears = { expiresAt: now + 3_153_636_000_000 }
    const many = Array.from({ length: MOST_SESSIONS + 5 }, (_, at) =>
      session(`s${at}`, { ...hundredYears, issuedAt: now - 100_000 + at }),
    )
    await store.add([session('other', { userId: '43', issuedAt: 1000 })])
    for (let at = 0; at < many.length; at += 200) await store.add(many.slice(at, at + 200))

    const left = idsOf(await store.list('42'))
    expect(left).toHaveLength(MOST_SESSIONS)
    expect(left).not.toContain('s4')
    expect(left).toContain('s5')
    expect(idsOf(await store.list('43'))).toEqual(['other'])
  })
})

describe('sessions in Redis', () => {
  test('expire with the last token of a user, and unreadable values are ignored', async () => {
    const server = await startRedis()
    onTestFinished(server.stop)
    const store = await connect(server)
    await store.add([session('a'), session('b', { expiresAt: now + 90 * minute })])

    const keys = await server.client.keys('*')
    expect(keys.sort()).toEqual([
      '{test}:sessions',
      '{test}:sessions:42',
      '{test}:sessions:42:order',
    ])
    for (const key of keys) {
      const left = await server.client.pttl(key)
      expect(left).toBeGreaterThan(80 * minute)
      expect(left).toBeLessThanOrEqual(90 * minute)
    }

    await server.client.hset('{test}:sessions:42', 'odd', '1 2 {}', 'c', 'x', 'd', '1 2 [3,4]')
    expect(idsOf(await store.list())).toEqual(['a', 'b'])
  })
})

test('without its table, sessions say how to create it', async () => {
  const database = { shapes: async () => ({ optional: new Set() }) } as unknown as Database

  const store = createDatabaseSessions(database)

  const reason =
    'table postern_session is missing, or this database user may not read it: run "postern db migrate", or grant the table'
  await expect(store.list()).rejects.toThrow(reason)
})

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { prefix, testRedis } from '../support/published-policies.ts'
import {
  liveToken,
  overEverywhere,
  type ReplicaOptions,
  revocationState,
  startReplicas,
  tokenFrom,
  type User,
  verdictOn,
} from '../support/session-replicas.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

async function twoOnRedis(revocation?: ReplicaOptions['revocation']) {
  const redis = await testRedis()
  // What other tests end in the database they share would be taken along.
  const own = { redis, ownDatabase: true }
  const replicas = await startReplicas({ ...own, ...(revocation && { revocation }) })
  const gateways = [await replicas.start(), await replicas.start()] as const
  return { redis, ...replicas, gateways, user: await replicas.addUser() }
}

const logOut = (gateway: TestPostern, token: string) =>
  gateway.call('POST /api/v1/logout', { token, body: '' })

const userCommands: readonly ((user: User) => string)[] = [
  ({ name }) => `token revoke --user ${name}`,
  ({ id }) => `token revoke --user ${id}`,
  ({ name }) => `user disable ${name}`,
  ({ name }) => `user role ${name} viewer`,
  ({ name }) => `user passwd ${name}`,
]

describe('two gateways on one Redis', () => {
  test('both refuse a token after a logout at one of them, and no other token', async () => {
    const { gateways, user } = await twoOnRedis()
    const token = await liveToken(gateways, user)
    const other = await liveToken(gateways, user)

    expect((await logOut(gateways[0], token)).json()).toEqual({ code: 200, msg: 'logged out' })

    await overEverywhere(gateways, token)
    expect(await verdictOn(gateways[1], other)).toBe('live')
  })

  test('both refuse a token that a command ended, and no other token', async () => {
    const { gateways, user, postern } = await twoOnRedis()
    const token = await liveToken(gateways, user)
    const other = await liveToken(gateways, user)

    expect(await postern('token revoke --token -', `${token}\n`)).toMatchObject({ code: 0 })

    await overEverywhere(gateways, token)
    expect(await verdictOn(gateways[1], other)).toBe('live')
  })

  test('both refuse every token of a user after each command that is to end them', async () => {
    const { gateways, postern, addUser, user: bystander } = await twoOnRedis()
    const other = await liveToken(gateways, bystander)

    for (const line of userCommands) {
      const user = await addUser()
      const tokens = [await liveToken(gateways, user), await liveToken(gateways, user)]
      expect(await postern(line(user)), line(user)).toMatchObject({ code: 0 })
      for (const token of tokens) await overEverywhere(gateways, token)
    }

    for (const gateway of gateways) expect(await verdictOn(gateway, other)).toBe('live')
  })

  test('take the token of a login that follows at once, and go on to take it', async () => {
    const { gateways, user, postern } = await twoOnRedis()
    const old = await liveToken(gateways, user)

    await postern(`token revoke --user ${user.name}`)
    await overEverywhere(gateways, old)
    const fresh = await tokenFrom(gateways[0], user)

    for (const gateway of gateways) expect(await verdictOn(gateway, fresh)).toBe('live')
    await pause(1000)
    for (const gateway of gateways) expect(await verdictOn(gateway, fresh)).toBe('live')
  })

  test('refuse the old password and take the new one', async () => {
    const { gateways, user, postern } = await twoOnRedis()

    const { out } = await postern(`user passwd ${user.name}`)

    await expect(tokenFrom(gateways[1], user)).rejects.toThrow('no token')
    await expect(tokenFrom(gateways[1], { ...user, password: out.trim() })).resolves.toEqual(
      expect.any(String),
    )
  })

  test('go by the poll when messages are lost', async () => {
    const { redis, gateways, user, postern } = await twoOnRedis()
    const [token, other] = [await liveToken(gateways, user), await liveToken(gateways, user)]
    const silence = setInterval(() => {
      redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {})
    }, 5)
    onTestFinished(() => clearInterval(silence))

    await postern('token revoke --token -', token)

    await overEverywhere(gateways, token)
    expect(await verdictOn(gateways[0], other)).toBe('live')
  })

  test('remember after a restart', async () => {
    const { gateways, user, start } = await twoOnRedis()
    const token = await liveToken(gateways, user)
    await logOut(gateways[0], token)
    await gateways[1].close()

    const third = await start()

    expect(await verdictOn(third, token)).toBe('over')
  })

  test('remember what Redis lost, and write it back', async () => {
    const { redis, gateways, user, postern, start, addUser } = await twoOnRedis()
    const tokens = [await liveToken(gateways, user), await liveToken(gateways, await addUser())]
    await postern(`token revoke --user ${user.name}`)
    await logOut(gateways[0], tokens[1] ?? '')
    for (const token of tokens) await overEverywhere(gateways, token)

    await redis.client.flushall()
    for (const token of tokens) {
      for (const gateway of gateways) expect(await verdictOn(gateway, token)).toBe('over')
    }
    await until(async () => (await redis.client.hlen(`${prefix}revoked`)) === 2)

    const third = await start()
    for (const token of tokens) expect(await verdictOn(third, token)).toBe('over')
  })

  test('end a token here at once while Redis is away, and later everywhere', async () => {
    const { redis, gateways, user } = await twoOnRedis()
    const token = await liveToken(gateways, user)
    await redis.kill()

    const answer = await logOut(gateways[0], token)

    expect(answer.json()).toMatchObject({ code: 200, msg: expect.stringContaining('here') })
    expect(gateways[0].logText()).toContain('"ended":"here"')
    expect(await verdictOn(gateways[0], token)).toBe('over')
    expect(await verdictOn(gateways[1], token)).toBe('live')
    await redis.start()
    await overEverywhere(gateways, token)
  })

  test('lose an account, and are said to go on taking its tokens, while Redis is away', async () => {
    const { redis, gateways, user, postern } = await twoOnRedis()
    const token = await liveToken(gateways, user)
    await redis.kill()

    const disabled = await postern(`user disable ${user.name}`)

    expect(disabled.code).toBe(5)
    expect(disabled.err).toContain(`the tokens of ${user.name} are still valid`)
    expect(await verdictOn(gateways[0], token)).toBe('live')
    await expect(tokenFrom(gateways[0], user)).rejects.toThrow('no token')
  })

  test('know what ended in the database before there was a Redis', async () => {
    const before = await startReplicas({})
    const gateway = await before.start()
    const [user, disabled] = [await before.addUser(), await before.addUser()]
    const tokens = [await liveToken([gateway], user), await liveToken([gateway], disabled)]
    await logOut(gateway, tokens[0] ?? '')
    await before.postern(`user disable ${disabled.name}`)
    await gateway.close()

    const { start } = await startReplicas({ redis: await testRedis() })
    const after = await start()

    for (const token of tokens) expect(await verdictOn(after, token)).toBe('over')
  })

  test('keep nothing in Redis that does not expire', async () => {
    const { redis, gateways, user } = await twoOnRedis()
    await logOut(gateways[0], await liveToken(gateways, user))

    const written = () => redis.client.keys(`${prefix}revoked*`)
    // A logout does not wait long for Redis: the gateway may write after its response.
    await until(async () => (await written()).length === 4)

    for (const key of await written()) expect(await redis.client.pttl(key)).toBeGreaterThan(0)
  })
})

describe('a gateway whose Redis hangs for longer than revocation.maxAgeMs', () => {
  test('goes on with what it knows, and says so', async () => {
    const { redis, gateways, user } = await twoOnRedis({ maxAgeMs: 1000 })
    const [over, live] = [await liveToken(gateways, user), await liveToken(gateways, user)]
    await logOut(gateways[0], over)
    await overEverywhere(gateways, over)

    redis.pause()
    await until(async () => (await revocationState(gateways[1])).stale)

    expect(await verdictOn(gateways[1], live)).toBe('live')
    expect(await verdictOn(gateways[1], over)).toBe('over')
    expect(await revocationState(gateways[1])).toMatchObject({
      ...{ status: 200, source: 'redis', whenStale: 'serve', tokens: 1 },
      lastError: expect.stringContaining('Redis'),
    })
    expect(gateways[1].logText()).toContain('older than revocation.maxAgeMs')
    const metrics = await fetch(`http://127.0.0.1:${gateways[1].opsPort}/metrics`)
    const figures = await metrics.text()
    expect(figures).toContain('postern_revocations_stale 1\n')
    expect(figures).toContain('postern_revocations{kind="token"} 1\n')
    redis.resume()
    await until(async () => !(await revocationState(gateways[1])).stale)
  })

  test('answers 503 to older tokens where that is the choice, and takes new logins', async () => {
    const { redis, gateways, user } = await twoOnRedis({ maxAgeMs: 1000, whenStale: 'refuse' })
    const old = await liveToken(gateways, user)

    redis.pause()
    await until(async () => (await verdictOn(gateways[1], old)) === 'fault')
    const fresh = await tokenFrom(gateways[1], user)

    expect(await verdictOn(gateways[1], fresh)).toBe('live')
    redis.resume()
    await until(async () => (await verdictOn(gateways[1], old)) === 'live')
  })
})

describe('a gateway that starts while Redis is away', () => {
  test.each([
    ['serve', 'live'],
    ['refuse', 'fault'],
  ] as const)('with whenStale %s finds an older token %s', async (whenStale, verdict) => {
    const { redis, gateways, user, start } = await twoOnRedis({ whenStale })
    const token = await liveToken(gateways, user)
    await redis.kill()

    const third = await start()

    expect(await verdictOn(third, token)).toBe(verdict)
    expect(await revocationState(third)).toMatchObject({ status: 200, stale: true })
    await redis.start()
    await until(async () => (await verdictOn(third, token)) === 'live')
  })
})

describe('without Redis, on the embedded database', () => {
  test('a restart forgets no logout', async () => {
    const { start, addUser } = await startReplicas({ ownDatabase: true })
    const first = await start()
    const token = await liveToken([first], await addUser())
    await logOut(first, token)
    await first.close()

    const second = await start()

    expect(await verdictOn(second, token)).toBe('over')
  })

  test('every command that is to end tokens reaches the gateway that runs', async () => {
    const { start, postern, addUser } = await startReplicas({})
    const gateway = await start()
    const other = await liveToken([gateway], await addUser())

    for (const line of userCommands) {
      const user = await addUser()
      const token = await liveToken([gateway], user)
      expect(await postern(line(user)), line(user)).toMatchObject({ code: 0 })
      await overEverywhere([gateway], token)
    }

    expect(await verdictOn(gateway, other)).toBe('live')
  })
})

describe('without Redis, on PostgreSQL', () => {
  test('gateways that share it refuse what ended at one of them, also after a restart', async () => {
    const server = await startPostgres()
    onTestFinished(server.stop)
    const { start, postern, addUser } = await startReplicas({ databaseUrl: server.url })
    const user = await addUser()
    const gateways = [await start(), await start()] as const
    const [one, another] = [await liveToken(gateways, user), await liveToken(gateways, user)]

    await logOut(gateways[0], one)
    await overEverywhere(gateways, one)
    expect(await verdictOn(gateways[0], another)).toBe('live')
    await postern(`user disable ${user.name}`)
    await overEverywhere(gateways, another)

    await gateways[1].close()
    const third = await start()
    for (const token of [one, another]) expect(await verdictOn(third, token)).toBe('over')
  })
})

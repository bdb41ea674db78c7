import { describe, expect, onTestFinished, test } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import {
  createPolicyStore,
  openPolicyStore,
  type PolicyStore,
} from '../../src/stores/policies/policy-store.ts'
import { readReplicated } from '../../src/stores/redis/redis-replication.ts'
import { startAnswerGate } from '../support/answer-gate.ts'
import { documentOf } from '../support/policy-files.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { followersOf, roleOf, startSteeredSentinel } from '../support/steered-sentinel.ts'
import { until } from '../support/until.ts'

const first = documentOf(['clerk, /first, GET'])
const second = documentOf(['clerk, /second, GET'])

describe('a policy published through Sentinel', () => {
  test('is confirmed when every replica has it', async () => {
    const { url } = await startSteeredSentinel({ replicas: 2 })
    const store = await openStore(url)

    const published = await store.publish(first, undefined, { kind: 'push' })

    expect(published).toEqual({ moved: true, head: await store.head() })
    expect(await store.unconfirmed(published.head ?? fail())).toBeUndefined()
  })

  test('is not confirmed when another replica than the one that has it was promoted', async () => {
    const { url, primary, replicas } = await startSteeredSentinel({ replicas: 2 })
    const store = await openStore(url)
    await store.publish(first, undefined, { kind: 'push' })
    // A failover begins so; the other replica follows the old primary for a little longer.
    await replicas[0]?.client.replicaof('NO', 'ONE')
    await until(async () => (await followersOf(primary)) === 1)

    const published = await store.publish(second, first.revision, { kind: 'push' })

    const why = '1 of 2 replicas of Redis have confirmed it'
    expect(published).toMatchObject({ moved: true, unconfirmed: why })
    expect(await store.unconfirmed(published.head ?? fail())).toBe(why)
  })

  test('is published again when the server that confirms it does not have it', async () => {
    const { primary, sentinel } = await startSteeredSentinel({ replicas: 1 })
    const gate = await startAnswerGate(sentinel.port)
    onTestFinished(gate.close)
    const store = await openStore(`redis+sentinel://127.0.0.1:${gate.port}/postern`)
    // Besides the connection that follows a sentinel, only the confirmation opens one.
    await until(() => gate.open() === 1)
    gate.hold()

    const publishing = store.publish(first, undefined, { kind: 'push' })
    await until(() => gate.held() === 1)
    expect(await primary.client.llen(`${testPrefix}policy:history`)).toBe(1)
    // It comes back without its data, sooner than Sentinel notices; its replica follows it in that.
    await primary.kill()
    gate.pass()
    await primary.start()
    await until(async () => (await store.head()) === undefined)
    await until(async () => (await followersOf(primary)) === 1)
    gate.release()

    expect(await publishing).toEqual({ moved: true, head: await store.head() })
    expect(await store.history()).toMatchObject([{ revision: first.revision }])
  })
})

describe('a policy whose confirmation fails', () => {
  test('is not published again over a rollback', async () => {
    const { redis, other } = await startAlone()
    await other.publish(first, undefined, { kind: 'push' })
    let isFirst = true
    const store = createPolicyStore(
      {
        ...redis,
        async readReplicated(list) {
          if (isFirst) {
            isFirst = false
            await other.publish(first, second.revision, { kind: 'rollback' })
            throw unreachable()
          }
          return { values: await redis.run((commands) => commands.lrange(list, 0, -1)) }
        },
      },
      30_000,
    )

    const published = await store.publish(second, first.revision, { kind: 'push' })

    expect(published).toMatchObject({ moved: true, head: { revision: second.revision } })
    expect(await store.head()).toMatchObject({ revision: first.revision })
    expect((await store.history()).map(({ kind }) => kind)).toEqual(['rollback', 'push', 'push'])
  })

  test('is given up after one failover timeout, not after one for each read', async () => {
    const { redis } = await startAlone()
    let reads = 0
    let isDown = false
    const store = createPolicyStore(
      {
        ...redis,
        async run(command) {
          if (!isDown) return redis.run(command)
          reads++
          throw unreachable()
        },
        async runBulk(command) {
          const value = await redis.runBulk(command)
          // The document does not exist yet, so this replies to the publication.
          isDown ||= value !== null
          if (isDown) throw unreachable()
          return value
        },
      },
      1000,
    )

    await expect(store.publish(first, undefined, { kind: 'push' })).rejects.toThrow('unreachable')

    expect(reads).toBeLessThan(25)
  })
})

test('a list is confirmed by every replica that Sentinel knows at the end', async () => {
  const { primary } = await startSteeredSentinel({ replicas: 1 })
  const counts = [undefined, 2]
  const sentinel = {
    opened: () => undefined,
    ask: async () => ({
      primary: { host: '127.0.0.1', port: primary.port },
      ...{ epoch: 1, replicas: counts.shift(), isAgreed: true },
      ...{ isFailingOver: false, isDoubtful: false },
    }),
    leave: () => {},
  }

  const read = { list: 'list', marker: 'marker', waitMs: 2000 }
  const { atRisk } = await readReplicated({ driver: primary.client, sentinel }, read)

  expect(atRisk).toBe('1 of 2 replicas of Redis have confirmed it')
})

test('a list is not confirmed without Sentinel when the number of replicas is secret', async () => {
  const { primary } = await startSteeredSentinel({ replicas: 2 })
  const rights = ['on', '>password', '~*', '+@all', '-info']
  await primary.client.call('ACL', 'SETUSER', 'ann', ...rights)
  // Its ready check would be INFO.
  const user = { username: 'ann', password: 'password', enableReadyCheck: false }
  const driver = primary.client.duplicate(user)
  onTestFinished(() => driver.disconnect())

  const read = { list: 'list', marker: 'marker', waitMs: 2000 }
  const { atRisk } = await readReplicated({ driver }, read)

  expect(atRisk).toBe('the Redis user lacks +info')
})

test('a connection leaves a primary that Sentinel has replaced and cannot demote', async () => {
  const forbidden = ['--rename-command', 'SLAVEOF', '', '--rename-command', 'REPLICAOF', '']
  const { url, primary, replicas, sentinel } = await startSteeredSentinel({
    replicas: 1,
    args: forbidden,
  })
  const redis = await connectRedis({ url })
  const [replica] = replicas as [RedisServer]

  await sentinel.client.call('SENTINEL', 'FAILOVER', 'postern')
  await until(async () => (await roleOf(replica)) === 'master')

  await until(async () => {
    await redis.run((commands) => commands.set('written', 'here')).catch(() => {})
    return (await replica.client.get('written')) === 'here'
  })
  expect(await roleOf(primary)).toBe('master')
})

/** A Redis that a test makes fail, and a store on it that works. */
async function startAlone() {
  const server = await startRedis()
  onTestFinished(server.stop)
  const redis = await connectRedis(server)
  return { redis, other: createPolicyStore(redis) }
}

function unreachable(): Fault {
  return new Fault('redis', { cause: new Error('unreachable'), reason: 'Redis: unreachable' })
}

async function openStore(url: string): Promise<PolicyStore> {
  const timeouts = { connectTimeoutMs: 20_000, commandTimeoutMs: 2000 }
  const store = await openPolicyStore(
    { url, prefix: testPrefix, ...timeouts },
    { failoverTimeoutMs: 30_000 },
  )
  onTestFinished(store.close)
  return store
}

function fail(): never {
  throw new Error('nothing is published')
}

import { describe, expect, onTestFinished, test } from 'vitest'
import type { PolicyDocument, PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createShadowReports } from '../../src/stores/policies/shadow/shadow-reports.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { ask, prefix, publish, readyz, testStore } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const redis = emptiedRedis()

async function pushShadow(store: PolicyStore, document: PolicyDocument) {
  const over = await store.shadow.read()
  const head = await store.shadow.push(document, { author: 'ada', message: 'to see', over })
  if (head === undefined) throw new Error('not pushed')
  return head
}

async function endShadow(store: PolicyStore): Promise<boolean> {
  const shadow = await store.shadow.read()
  return shadow !== undefined && store.shadow.end(shadow)
}

const documentKey = ({ revision }: PolicyDocument) => `${prefix}policy:rev:${revision}`
const exists = (document: PolicyDocument) => redis.client.exists(documentKey(document))

describe('a shadow in Redis', () => {
  const first = documentOf(['clerk, /first, GET'])
  const second = documentOf(['clerk, /second, GET'])
  const third = documentOf(['clerk, /third, GET'])

  test('says who pushed it, why and when, by the clock of Redis', async () => {
    const store = await testStore(redis)

    const { sequence } = await pushShadow(store, first)

    expect((await store.shadow.read())?.head).toEqual({
      ...{ revision: first.revision, sequence, author: 'ada', message: 'to see' },
    })
    expect(Math.abs(sequence - Date.now())).toBeLessThan(60_000)
    expect(await store.head()).toBeUndefined()
  })

  test('replaces only the one that its author saw', async () => {
    const store = await testStore(redis)
    await pushShadow(store, first)
    const seen = await store.shadow.read()
    await pushShadow(store, second)

    const pushed = await store.shadow.push(third, { author: 'a', message: 'm', over: seen })

    expect(pushed).toBeUndefined()
    expect((await store.shadow.read())?.head?.revision).toBe(second.revision)
    expect(await exists(third)).toBe(0)
  })

  test('has a document that goes with it, unless a move names that', async () => {
    const store = await testStore(redis)
    await publish(redis.url, ['clerk, /first, GET'])
    await publish(redis.url, ['clerk, /live, GET'])

    await pushShadow(store, first)
    await pushShadow(store, second)
    const whileItRuns = [await exists(first), await exists(second)]
    await pushShadow(store, third)
    const replaced = [await exists(first), await exists(second), await exists(third)]
    const ended = await endShadow(store)

    expect({ whileItRuns, replaced, ended }).toEqual({
      whileItRuns: [1, 1],
      replaced: [1, 0, 1],
      ended: true,
    })
    expect([await exists(first), await exists(third)]).toEqual([1, 0])
    expect(await store.shadow.read()).toBeUndefined()
    expect(await endShadow(store)).toBe(false)
  })

  test('keeps its document although it falls out of the history', async () => {
    const store = await testStore(redis)
    const move = (revision: string, sequence: number) =>
      JSON.stringify({ sequence, at: '', revision, author: 'a', message: 'm', kind: 'push' })
    await publish(redis.url, ['clerk, /first, GET'])
    await publish(redis.url, ['clerk, /second, GET'])
    await pushShadow(store, first)
    // Now `first` and `second` are named by the two oldest of a full history.
    await redis.client.ltrim(`${prefix}policy:history`, 1, 0)
    const full = Array.from({ length: 498 }, (_, at) => move('r-000000000000', at + 3))
    const moves = [move(first.revision, 1), move(second.revision, 2), ...full]
    await redis.client.lpush(`${prefix}policy:history`, ...moves)

    await publish(redis.url, ['clerk, /x, GET'])
    await publish(redis.url, ['clerk, /y, GET'])
    await publish(redis.url, ['clerk, /z, GET'])

    expect([await exists(first), await exists(second)]).toEqual([1, 0])
  })

  test('ends when its revision becomes live, and only then', async () => {
    const store = await testStore(redis)
    await pushShadow(store, first)
    await redis.client.hset(`${prefix}policy:shadow:reports`, 'a', '{}')

    await publish(redis.url, ['clerk, /second, GET'])
    const after = await store.shadow.read()
    await publish(redis.url, ['clerk, /first, GET'])

    expect(after?.head?.revision).toBe(first.revision)
    expect(await store.shadow.read()).toBeUndefined()
    expect(await redis.client.exists(`${prefix}policy:shadow:reports`)).toBe(0)
    expect(await exists(first)).toBe(1)
  })

  test('of another form than ours is read as invalid, and can be replaced and ended', async () => {
    const store = await testStore(redis)
    for (const text of ['', '{', '[]', '{"revision":"r-0"}', `"${'x'.repeat(300_000)}"`]) {
      await redis.client.set(`${prefix}policy:shadow`, text)
      expect((await store.shadow.read())?.head).toBeUndefined()
      expect(await endShadow(store)).toBe(true)
    }
    await redis.client.set(`${prefix}policy:shadow`, 'x')

    expect(await pushShadow(store, first)).toMatchObject({ revision: first.revision })
  })
})

describe('reports about a shadow', () => {
  const own = (id: string) => ({
    id,
    evaluatingMs: 5,
    evidence: {
      ...{ evaluated: 1, wouldDeny: 0, wouldAllow: 0, failed: 0 },
      against: [],
      disagreements: [],
    },
  })

  async function reports() {
    const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
    const client = createRedis({ url: redis.url, prefix, ...timeouts })
    onTestFinished(client.close)
    await client.connect()
    return createShadowReports(client)
  }

  test('are refused when they are about another one, or none', async () => {
    const { report, list } = await reports()
    const none = await report(own('a'), 1)
    const { sequence } = await pushShadow(await testStore(redis), documentOf(['clerk, /a, GET']))

    expect(none).toBe(false)
    expect(await report(own('a'), sequence - 1)).toBe(false)
    expect(await report(own('a'), sequence)).toBe(true)
    expect((await list()).map(({ id }) => id)).toEqual(['a'])
  })

  test('are bounded: those who have reported go on, and a further replica is refused', async () => {
    const { report, list } = await reports()
    const { sequence } = await pushShadow(await testStore(redis), documentOf(['clerk, /a, GET']))
    await report(own('a'), sequence)
    const others = Array.from({ length: 1999 }, (_, at) => [at, `other-${at}`]).flat()
    await redis.client.zadd(`${prefix}policy:shadow:replicas`, ...others)

    expect(await report(own('b'), sequence)).toBe(false)
    expect(await report(own('a'), sequence)).toBe(true)
    // The others have an index entry and no report.
    expect((await list()).map(({ id }) => id)).toEqual(['a'])
  })

  test('of another form than ours are left out', async () => {
    const { report, list } = await reports()
    const { sequence } = await pushShadow(await testStore(redis), documentOf(['clerk, /a, GET']))
    await report(own('good'), sequence)
    for (const text of ['', 'x', '{}', '{"evaluatingMs":-1}', ' '.repeat(200_000)]) {
      await redis.client.hset(`${prefix}policy:shadow:reports`, `bad-${text.length}`, text)
      await redis.client.zadd(`${prefix}policy:shadow:replicas`, 1, `bad-${text.length}`)
    }
    await redis.client.zadd(`${prefix}policy:shadow:replicas`, 1e300, 'bad-time')
    await redis.client.hset(`${prefix}policy:shadow:reports`, 'bad-time', JSON.stringify(own('x')))

    expect((await list()).map(({ id }) => id)).toEqual(['good'])
  })
})

describe('a gateway with a shadow', () => {
  const live = ['clerk, /a, GET', 'clerk, /b, GET']

  /** A gateway with a live policy, and the store. */
  async function start(rules: readonly string[] = live) {
    const store = await testStore(redis)
    await publish(redis.url, rules)
    const postern = await startPostern({
      config: {
        redis: { url: redis.url, prefix },
        policy: { source: 'redis', pollSeconds: 1 },
        logger: { decisions: { enabled: true, path: 'hash', userId: 'omit' } },
      },
    })
    const shadowState = async () =>
      ((await readyz(postern.opsPort)).policy as { readonly shadow?: object }).shadow
    const report = async () => (await store.shadow.reports())[0]
    return { store, postern, shadowState, report, ask: (path: string) => ask(postern, path) }
  }

  test('enforces the live policy, and reports what the shadow says', async () => {
    const gateway = await start()
    const document = documentOf(['clerk, /a, GET', 'clerk, /c, GET'])
    await pushShadow(gateway.store, document)
    await until(async () => (await gateway.report()) !== undefined)

    const verdicts = [await gateway.ask('/a'), await gateway.ask('/b'), await gateway.ask('/c')]

    expect(verdicts).toEqual(['allowed', 'allowed', 'denied'])
    await until(async () => (await gateway.report())?.evidence.evaluated === 3)
    expect((await gateway.report())?.evidence).toMatchObject({
      wouldDeny: 1,
      wouldAllow: 1,
      // Hashed, and left out, as the decision log has them.
      disagreements: [
        { would: 'deny', role: 'clerk', path: expect.stringMatching(/^[\w-]{22}$/) },
        { would: 'allow', role: 'clerk', path: expect.stringMatching(/^[\w-]{22}$/) },
      ],
    })
    expect(JSON.stringify(await gateway.report())).not.toContain('userId')
    expect(await gateway.shadowState()).toMatchObject({
      ...{ revision: document.revision, evaluated: 3, wouldDeny: 1, wouldAllow: 1 },
    })
    const lines = gateway.postern.logText().split('\n')
    expect(lines.filter((line) => line.includes('"decision"')).map(shadowIn)).toEqual([
      { revision: document.revision, result: 'allow', rule: { file: 'policy.csv', line: 1 } },
      { revision: document.revision, result: 'deny' },
      { revision: document.revision, result: 'allow', rule: { file: 'policy.csv', line: 2 } },
    ])
    const metrics = await (
      await fetch(`http://127.0.0.1:${gateway.postern.opsPort}/metrics`)
    ).text()
    expect(metrics).toContain(`postern_policy_shadow_active{revision="${document.revision}"} 1\n`)
    for (const [result, count] of [
      ['same', 1],
      ['would-deny', 1],
      ['would-allow', 1],
      ['failed', 0],
    ]) {
      expect(metrics).toContain(
        `postern_policy_shadow_decisions_total{result="${result}"} ${count}\n`,
      )
    }
  })

  test('ends it with Redis, and has no field or metric of it any more', async () => {
    const gateway = await start()
    await pushShadow(gateway.store, documentOf(['clerk, /a, GET']))
    await until(async () => (await gateway.report()) !== undefined)

    await endShadow(gateway.store)
    await until(async () => (await gateway.shadowState()) === undefined)
    await gateway.ask('/a')

    expect(gateway.postern.logText()).not.toContain('"shadow":')
    expect(gateway.postern.logText()).toContain('shadow policy ended')
    // A late report about it is refused.
    expect(await gateway.store.shadow.reports()).toEqual([])
  })

  test('counts on against the next live revision', async () => {
    const gateway = await start()
    await pushShadow(gateway.store, documentOf(['clerk, /a, GET']))
    await until(async () => (await gateway.report()) !== undefined)
    await gateway.ask('/b')

    await publish(redis.url, ['clerk, /b, GET', 'clerk, /c, GET'])
    await until(async () => (await gateway.ask('/c')) === 'allowed')
    await gateway.ask('/b')

    await until(async () => ((await gateway.report())?.evidence.against.length ?? 0) === 2)
    expect((await gateway.report())?.evidence.wouldDeny).toBeGreaterThanOrEqual(3)
  })

  test.each([
    ['is missing', async (key: string) => redis.client.del(key), /is missing/],
    ['is cut short', async (key: string) => redis.client.set(key, '{"revision":'), /invalid/],
  ])('goes on without one whose document %s', async (_, damage, reason) => {
    const gateway = await start()
    const document = documentOf(['clerk, /a, GET'])
    const { revision, sequence, ...head } = await pushShadow(gateway.store, document)
    await until(async () => (await gateway.report()) !== undefined)
    await gateway.ask('/b')
    await damage(documentKey(document))
    // As if it had been pushed again.
    const again = { revision, sequence: sequence + 1, ...head }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(again))
    await redis.client.del(`${prefix}policy:shadow:reports`, `${prefix}policy:shadow:replicas`)

    await until(async () => (await gateway.report())?.problem !== undefined)

    expect(await gateway.report()).toMatchObject({
      evaluatingMs: 0,
      problem: expect.stringMatching(reason),
      // Not what the shadow before had counted.
      evidence: { evaluated: 0, wouldDeny: 0, against: [], disagreements: [] },
    })
    expect([await gateway.ask('/a'), await gateway.ask('/c')]).toEqual(['allowed', 'denied'])
    expect(await gateway.shadowState()).toMatchObject({ lastError: expect.stringMatching(reason) })
  })
})

function shadowIn(line: string): unknown {
  return (JSON.parse(line) as { readonly shadow?: unknown }).shadow
}

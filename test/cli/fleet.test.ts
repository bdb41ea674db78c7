import { describe, expect, test } from 'vitest'
import { readFacts } from '../../src/fleet/read-facts.ts'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, publish } from '../support/published-policies.ts'
import { freePort } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const redis = emptiedRedis()
const facts = {
  startedAt: '2026-11-17T01:00:00.000Z',
  mode: 'prod',
  ready: true,
  keys: { signer: 'k1', ids: ['k1'], count: 1, since: '2026-11-17T01:00:00.000Z', rejected: false },
  upstreams: { targets: 2, out: 0, named: [] },
  outcomes: { passed: 3, 'not-permitted': 1 },
}

/** What a gateway says once; `secondsAgo` is how long it has been silent since. */
async function report(id: string, revision: string, secondsAgo = 0, more = {}): Promise<void> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  const own = { id, revision, sequence: 1, stale: false, version: '1.0.0', ...more }
  await createReplicas(client).report(own)
  await client.close()
  await redis.client.zincrby(`${prefix}replicas:known`, -secondsAgo * 1000, id)
}

const env = () => ({ POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix })

describe('postern fleet', () => {
  test('shows what one gateway says of itself, with targets that get no requests', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [dead], breaker: { failures: 2 } } } },
    })
    const ops = `http://127.0.0.1:${postern.opsPort}`
    for (let turn = 0; turn < 3; turn++)
      await postern.call('GET /api/v1/public/a', { as: 'editor' })
    const { code, out } = await runCommand(['fleet', '--ops', ops, '--output', 'json'])
    const shown = JSON.parse(out)

    expect(code).toBe(0)
    expect(shown).toMatchObject({ source: 'gateway', converged: true, counts: { current: 1 } })
    expect(shown.replicas[0]).toMatchObject({
      id: 'gateway',
      state: 'current',
      revision: shown.revision,
      facts: {
        ready: true,
        upstreams: {
          targets: 1,
          out: 1,
          named: [{ upstream: 'backend', target: dead, state: 'circuit-open' }],
        },
      },
    })
    const { outcomes } = shown.replicas[0].facts
    expect(outcomes['upstream-unreachable'] + outcomes['upstream-failing']).toBe(3)
    const table = await runCommand(['fleet', '--ops', ops])
    expect(table.out).toMatch(/^1\/1 on r-/)
    expect(table.out).toMatch(/^gateway +current .*1 of 1 +3$/m)
  })

  test('lists every gateway that reports to Redis, also lost ones and those of older versions', async () => {
    const revision = await publish(redis.url, ['clerk, /orders, GET'])
    await report('gw-1', revision, 0, { facts })
    await report('gw-2', revision, 60, { facts })
    await report('gw-3', 'r-000000000000')
    const { code, out } = await runCommand(['fleet', '--output', 'json'], { env: env(), cwd: '/' })
    const shown = JSON.parse(out)

    expect(code).toBe(1)
    expect(shown).toMatchObject({
      source: 'redis',
      revision,
      converged: false,
      counts: { current: 1, behind: 1, stale: 0, lost: 1 },
      replicas: [
        { id: 'gw-1', state: 'current', facts },
        { id: 'gw-2', state: 'lost', facts },
        { id: 'gw-3', state: 'behind' },
      ],
    })
    expect(shown.replicas[2]).not.toHaveProperty('facts')
    const table = await runCommand(['fleet'], { env: env(), cwd: '/' })
    expect(table.out).toMatch(/^gw-1 +current .* k1 +- +0 of 2 +4$/m)
  })
})

describe('a gateway whose clock is two hours ahead', () => {
  const ahead = () => Date.now() / 1000 + 7200

  test('says so in its log, its metrics and the fleet', async () => {
    const store = { url: redis.url, prefix }
    const postern = await startPostern({ now: ahead, config: { redis: store } })
    const ops = `http://127.0.0.1:${postern.opsPort}`
    const offset = async () => {
      const text = await (await fetch(`${ops}/metrics`)).text()
      return Number(/^postern_clock_offset_seconds (\S+)$/m.exec(text)?.[1])
    }
    await until(async () => (await offset()) > 7000)

    expect(await offset()).toBeLessThanOrEqual(7200)
    expect(postern.logText()).toMatch(
      /"level":"warn".*"aheadSeconds":7\d{3}\.?\d*,"source":"Redis".*"clock offset too large"/,
    )
    const { code, out, err } = await runCommand(['fleet', '--ops', ops])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^gateway +current .* \+7(?:200|1\d\d)\.\d s /m),
    ])
    expect(err).toMatch(/^warning: the clock of gateway is 7\d{3}\.\d s ahead of Redis, /)
  })

  test('is named by policy status and fleet, unless a slow answer may explain it', async () => {
    const revision = await publish(redis.url, ['clerk, /orders, GET'])
    const clock = (aheadMs: number, withinMs: number) => ({
      facts: { ...facts, clock: { aheadMs, withinMs, source: 'Redis' } },
    })
    await report('gw-1', revision, 0, clock(2, 1))
    await report('gw-2', revision, 0, clock(-7_200_000, 20))
    await report('gw-3', revision, 0, clock(6000, 6000))
    await report('gw-4', revision, 60, clock(7_200_000, 1))
    for (const command of [['fleet'], ['policy', 'status']]) {
      const { err } = await runCommand(command, { env: env(), cwd: '/' })
      const named = err.split('\n').filter((line) => line.includes(' clock of '))

      expect(named).toEqual([
        expect.stringMatching(/^warning: the clock of gw-2 is 7200\.0 s behind Redis, .* \(NTP\)$/),
      ])
    }
    const { out } = await runCommand(['policy', 'status', '--output', 'json'], {
      env: env(),
      cwd: '/',
    })
    expect(JSON.parse(out).replicas[1].facts.clock).toEqual(clock(-7_200_000, 20).facts.clock)
  })
})

describe('facts that someone else wrote to Redis', () => {
  test('are cut to their limits', () => {
    const long = 'x'.repeat(10_000)
    const read = readFacts({
      ...facts,
      mode: long,
      keys: { ...facts.keys, ids: Array.from({ length: 99 }, () => long), count: -1 },
      upstreams: { targets: 'many', out: 1e99, named: [{ upstream: 7, state: '<b>' }] },
      outcomes: Object.fromEntries(Array.from({ length: 999 }, (_, at) => [`o${at}`, at])),
    })

    expect(read?.mode.length).toBe(120)
    expect(read?.keys).toMatchObject({ count: 0 })
    expect(read?.keys.ids.map(({ length }) => length)).toEqual(Array(10).fill(120))
    expect(read?.upstreams).toEqual({
      targets: 0,
      out: 0,
      named: [{ upstream: '', target: '', state: 'unhealthy' }],
    })
    expect(Object.keys(read?.outcomes ?? {}).length).toBe(100)
  })

  test.each([[undefined], ['text'], [[]], [{ startedAt: 'yesterday', mode: 'prod' }]])(
    '%j is no report',
    (value) => expect(readFacts(value)).toBeUndefined(),
  )
})

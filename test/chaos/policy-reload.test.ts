import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, readyz, testRedis, testStore } from '../support/published-policies.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const seconds = Number(process.env['POSTERN_SOAK_SECONDS'] ?? 10)
const everyMs = 200

const a = documentOf(['clerk, /both/*, GET', 'clerk, /a/*, GET'])
const b = documentOf(['clerk, /both/*, GET', 'clerk, /b/*, GET'])
const allowedBy: Readonly<Record<string, RegExp>> = {
  [a.revision]: /^\/(?:both|a)\//,
  [b.revision]: /^\/(?:both|b)\//,
}
const paths = ['/both/1', '/a/1', '/b/1', '/none/1']

describe('two gateways on one Redis', () => {
  test('decide every call by one of two revisions that take turns, and none in error', {
    timeout: (seconds + 30) * 1000,
  }, async () => {
    const redis = await testRedis()
    const store = await testStore(redis)
    await store.publish(a, undefined, { kind: 'push' })
    const gateways = await startGateways(redis.url, 2)

    const end = Date.now() + seconds * 1000
    const publishing = publishInTurns(store, end)
    const answers = await Promise.all(gateways.map((gateway) => load(gateway, end)))
    const publications = await publishing

    for (const counts of answers) {
      expect([counts['/both/1 denied'], counts['/none/1 allowed'], counts['error']]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      expect(Object.keys(counts).sort()).toEqual([
        '/a/1 allowed',
        '/a/1 denied',
        '/b/1 allowed',
        '/b/1 denied',
        '/both/1 allowed',
        '/none/1 denied',
      ])
    }
    const last = await store.head()
    for (const { log, opsPort } of gateways) {
      await until(async () => (await readyz(opsPort)).policy.sequence === last?.sequence)
      expect((await readyz(opsPort)).policy.reloads).toEqual({
        ok: expect.toSatisfy((reloads: number) => reloads > publications / 2),
        failed: 0,
      })
      expect(log.filter((line) => line['msg'] === 'request').filter(isWrong)).toEqual([])
    }
    await until(async () => {
      const replicas = await store.replicas()
      return replicas.filter(({ sequence }) => sequence === last?.sequence).length === 2
    })
    expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual([0, 0])
    expect(await store.replicas()).toEqual([])
  })
})

/** Whether a line of the log says something else than the revision in it does. */
function isWrong(line: Readonly<Record<string, unknown>>): boolean {
  const { path, revision, outcome } = line
  const rule = allowedBy[String(revision)]
  if (rule === undefined) return true
  return outcome !== (rule.test(String(path)) ? 'passed' : 'not-permitted')
}

async function startGateways(url: string, count: number): Promise<GatewayProcess[]> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-reload-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const config = {
    application: { host: '127.0.0.1', port: 0, dataDirectory: inject('sharedData') },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    redis: { url, prefix },
    policy: { source: 'redis' },
    upstreams: { backend: { targets: [upstream.origin] } },
    routes: [{ path: '/', upstream: 'backend' }],
  }
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const gateway = await startGatewayProcess(join(directory, `${index}.yaml`), config)
      onTestFinished(async () => void (await gateway.stop()))
      return gateway
    }),
  )
}

async function publishInTurns(
  store: Awaited<ReturnType<typeof testStore>>,
  end: number,
): Promise<number> {
  let publications = 0
  for (; Date.now() < end; publications++) {
    const [from, to] = publications % 2 === 0 ? [a, b] : [b, a]
    expect((await store.publish(to, from.revision, { kind: 'push' })).moved).toBe(true)
    await pause(everyMs)
  }
  return publications
}

/** About a hundred calls a second, in turn on every path. Counts what came of them. */
async function load({ publicPort }: GatewayProcess, end: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const headers = { Authorization: `Bearer ${tokenOf('clerk')}` }

  async function lane(): Promise<void> {
    for (let turn = 0; Date.now() < end; turn++) {
      const path = paths[turn % paths.length] ?? ''
      const verdict = await fetch(`http://127.0.0.1:${publicPort}${path}`, { headers })
        .then(async (answer) => (answer.ok ? ((await answer.json()) as object) : {}))
        .catch(() => ({}))
      const word = 'ok' in verdict ? 'allowed' : 'code' in verdict ? 'denied' : undefined
      const key = word === undefined ? 'error' : `${path} ${word}`
      counts[key] = (counts[key] ?? 0) + 1
      await pause(20)
    }
  }

  await Promise.all([lane(), lane(), lane()])
  return counts
}

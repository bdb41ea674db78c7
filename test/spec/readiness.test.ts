import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPublished, testRedis } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

async function readyz(opsPort: number, query = '') {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz${query}`)
  return { status: answer.status, body: await answer.json() }
}

async function snapshotFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-ready-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'policy.snapshot')
}

describe('/readyz', () => {
  test('says yes, and with verbose by what', async () => {
    const { opsPort, revision } = await startPostern()

    expect(await readyz(opsPort)).toEqual({
      status: 200,
      body: { ready: true, revision, problems: [] },
    })
    expect((await readyz(opsPort, '?verbose')).body).toMatchObject({
      ready: true,
      policy: { revision, stale: false, confirmedAt: expect.any(String) },
      keys: expect.any(Object),
      revocation: expect.any(Object),
    })
  })

  test('says no while there is no policy', async () => {
    const { postern } = await startPublished({ redis: await testRedis() })

    expect(await readyz(postern.opsPort, '?verbose')).toMatchObject({
      status: 503,
      body: {
        ready: false,
        revision: null,
        problems: [{ name: 'policy', problem: expect.stringContaining('no policy is loaded') }],
      },
    })
  })

  test('says no once the policy is older than policy.maxAge, and yes when it is confirmed', async () => {
    const snapshot = await snapshotFile()
    const redis = await testRedis()
    const before = await startPublished({ redis, rules: ['clerk, /x, GET'], policy: { snapshot } })
    await before.postern.close()
    await redis.kill()
    const longAgo = new Date(Date.now() - 3_600_000)
    await utimes(snapshot, longAgo, longAgo)

    const { postern } = await startPublished({ redis, policy: { snapshot, maxAge: 600 } })
    expect(await readyz(postern.opsPort, '?verbose')).toMatchObject({
      status: 503,
      body: {
        problems: [{ name: 'policy', problem: expect.stringContaining('policy.maxAge') }],
        policy: { stale: true },
      },
    })

    await redis.start()
    const again = await startPublished({ redis, rules: ['clerk, /x, GET'] })
    await until(async () => (await readyz(postern.opsPort)).status === 200)
    expect((await readyz(again.postern.opsPort)).status).toBe(200)
  })

  test('says no from the moment it is told to end, while it still takes requests', async () => {
    const postern = await startPostern({ config: { shutdown: { graceMs: 1500 } } })

    const closed = postern.close()
    await until(async () => (await readyz(postern.opsPort)).status === 503)

    expect((await readyz(postern.opsPort, '?verbose')).body).toMatchObject({
      ready: false,
      problems: [
        { name: 'shutdown', problem: 'draining' },
        { name: 'life', problem: 'closing' },
      ],
    })
    expect((await postern.call('GET /api/v1/public/x', { as: 'editor' })).status).toBe(200)
    await closed
  })
})

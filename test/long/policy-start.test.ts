import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startFakeRedis } from '../support/fake-redis.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { ask, publish, startPublished, testRedis } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const first = ['clerk, /first, GET']
const second = ['clerk, /second, GET']

async function snapshotFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-snapshot-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return join(directory, 'below', 'policy.snapshot')
}

/** A snapshot as a gateway leaves it behind, and the Redis it came from. */
async function leaveSnapshot(file: string) {
  const published = await startPublished({ rules: first, policy: { snapshot: file } })
  await until(() =>
    stat(file).then(
      () => true,
      () => false,
    ),
  )
  await published.postern.close()
  return published.redis
}

describe('a gateway that starts while Redis is away', () => {
  test('answers 503 to everybody, says why, and is ready once there is a policy', async () => {
    const redis = await testRedis()
    await redis.kill()
    const published = await startPublished({ redis })

    expect(await published.readyz()).toMatchObject({
      status: 503,
      revision: null,
      problems: [{ name: 'policy', problem: expect.stringContaining('ECONNREFUSED') }],
    })
    expect(await published.ask('/first')).toBe('fault')
    expect(await ask(published.postern, '/first', 'admin')).toBe('fault')
    expect(published.postern.upstream.requests).toEqual([])

    await redis.start()
    await publish(redis.url, first)
    await until(async () => (await published.readyz()).status === 200)
    expect(await published.ask('/first')).toBe('allowed')
  })

  test('is not made ready by a Redis that is empty', async () => {
    const published = await startPublished()

    await until(async () => (await published.readyz()).policy.reloads.failed > 1)

    expect(await published.readyz()).toMatchObject({
      status: 503,
      problems: [{ problem: expect.stringContaining('policy push') }],
    })
    expect(await published.ask('/first')).toBe('fault')
  })

  test('serves on its snapshot, says that it is stale, and follows Redis once it is back', async () => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    await redis.kill()

    const published = await startPublished({ redis, policy: { snapshot } })

    expect(await published.ask('/first')).toBe('allowed')
    expect(await published.readyz()).toMatchObject({ status: 200, policy: { stale: true } })
    expect(published.postern.logText()).toContain('started from the policy snapshot')
    await redis.start()
    await publish(redis.url, second)
    await until(async () => (await published.ask('/second')) === 'allowed')
    expect((await published.readyz()).policy.stale).toBe(false)
  })

  test('serves on its snapshot when Redis hangs', async () => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    const proxy = await startFaultProxy(redis.port)
    onTestFinished(proxy.close)
    proxy.inject({ hold: true })

    const published = await startPublished({ redis, port: proxy.port, policy: { snapshot } })

    expect(await published.ask('/first')).toBe('allowed')
  })

  test.each(['LOADING', 'NOAUTH'])('serves on its snapshot when Redis says %s', async (word) => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    const fake = await startFakeRedis(() => `-${word} for a test`)
    onTestFinished(fake.close)

    const published = await startPublished({ redis, port: fake.port, policy: { snapshot } })

    expect(await published.ask('/first')).toBe('allowed')
    expect((await published.readyz()).policy.lastError).toContain(word)
  })

  const spoiled: readonly (readonly [string, (text: string) => string])[] = [
    ['cut short', (text) => text.slice(0, -10)],
    ['empty', () => ''],
    ['with another rule', (text) => text.replace('/first', '/other')],
    ['with a higher sequence', (text) => text.replace('"sequence":', '"sequence":9')],
    ['no snapshot at all', () => 'garbage'],
  ]

  test.each(spoiled)('does not use a snapshot that is %s, and says so', async (_, spoil) => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    await writeFile(snapshot, spoil(await readFile(snapshot, 'utf8')))
    await redis.kill()

    const published = await startPublished({ redis, policy: { snapshot } })

    expect((await published.readyz()).status).toBe(503)
    expect(await published.ask('/first')).toBe('fault')
    expect(published.postern.logText()).toContain('policy snapshot corrupted; ignoring it')
  })
})

describe('a policy snapshot', () => {
  test('is readable by its owner only and follows every new policy', async () => {
    const snapshot = await snapshotFile()
    const published = await startPublished({ rules: first, policy: { snapshot } })

    const revision = await published.publish(second)

    await until(async () => (await readFile(snapshot, 'utf8').catch(() => '')).includes(revision))
    expect((await stat(snapshot)).mode & 0o777).toBe(0o600)
  })

  test('is not undone by a Redis that went back to an older policy', async () => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    const old = JSON.stringify({ revision: 'r-000000000000', sequence: 5 })
    await redis.client.set('{test}:policy:head', old)

    const published = await startPublished({ redis, policy: { snapshot } })

    expect(await published.ask('/first')).toBe('allowed')
    expect((await published.readyz()).policy.lastError).toContain('older')
  })

  test('that cannot be written costs a log line and nothing else', async () => {
    const notADirectory = import.meta.filename
    const published = await startPublished({
      rules: first,
      policy: { snapshot: join(notADirectory, 'policy.snapshot') },
    })

    await until(() => published.postern.logText().includes('policy snapshot not written'))

    expect(await published.ask('/first')).toBe('allowed')
  })

  test('that is older than policy.maxAge is not decided by', async () => {
    const snapshot = await snapshotFile()
    const redis = await leaveSnapshot(snapshot)
    await redis.kill()
    const longAgo = new Date(Date.now() - 3_600_000)
    await utimes(snapshot, longAgo, longAgo)

    const published = await startPublished({ redis, policy: { snapshot, maxAge: 600 } })

    expect(await published.ask('/first')).toBe('fault')
    expect(await published.readyz()).toMatchObject({
      status: 503,
      problems: [{ problem: expect.stringContaining('policy.maxAge') }],
    })
    await redis.start()
    await publish(redis.url, first)
    await until(async () => (await published.ask('/first')) === 'allowed')
  })
})

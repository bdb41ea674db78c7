import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { confirmationLine } from '../../src/stores/revocations/revocation-lines.ts'
import { prefix, testRedis } from '../support/published-policies.ts'
import {
  liveToken,
  revocationState,
  startReplicas,
  verdictOn,
} from '../support/session-replicas.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

/** Gateways on one Redis, and a file for the list of each that starts. */
async function setUp(revocation: Readonly<Record<string, unknown>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-restart-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const snapshot = join(directory, 'revocations.snapshot')
  const redis = await testRedis()
  const options = { redis, revocation: { snapshot, ...revocation } }
  return { snapshot, redis, ...(await startReplicas(options)) }
}

function idOf(token: string): string {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  return (JSON.parse(payload) as { jti: string }).jti
}

const logOut = (gateway: TestPostern, token: string) =>
  gateway.call('POST /api/v1/logout', { token, body: '' })

describe('a gateway that starts while Redis is unreachable', () => {
  test('still refuses the tokens that were revoked before, and says how old its list is', async () => {
    const { redis, start, addUser } = await setUp()
    const before = await start()
    const user = await addUser()
    const [ended, live] = [await liveToken([before], user), await liveToken([before], user)]
    await logOut(before, ended)
    await before.close()
    await redis.kill()

    const after = await start()

    expect(await verdictOn(after, ended)).toBe('over')
    expect(await verdictOn(after, live)).toBe('live')
    expect(after.logText()).toContain('"outcome":"token-revoked"')
    expect(after.logText()).toContain('started from the revocation snapshot')
    expect(await revocationState(after)).toMatchObject({
      ageSeconds: expect.any(Number),
    })
    expect(await after.ops.metrics.text()).toMatch(/^postern_revocations_age_seconds [\d.]+$/m)
  })

  test('says so when it has no list at all', async () => {
    const { redis, start } = await setUp()
    await redis.kill()

    const gateway = await start()

    expect(gateway.logText()).toContain('started without a revocation list')
    expect((await revocationState(gateway)).ageSeconds).toBeUndefined()
  })

  test('knows a logout that Redis never heard of, after a crash too, and tells it then', async () => {
    const { redis, snapshot, start, addUser } = await setUp()
    const before = await start()
    const user = await addUser()
    const token = await liveToken([before], user)
    await until(async () => (await revocationState(before)).snapshot?.current === true)
    await redis.kill()
    expect((await logOut(before, token)).json()).toMatchObject({
      msg: expect.stringContaining('logged out here'),
    })
    // As the disk would be found if the process were killed now.
    await copyFile(snapshot, `${snapshot}.crashed`)
    await before.close()
    await copyFile(`${snapshot}.crashed`, snapshot)

    const after = await start()
    expect(await verdictOn(after, token)).toBe('over')

    await redis.start()
    await until(async () => (await redis.client.hlen(`${prefix}revoked`)) > 0)
    const names = await redis.client.hkeys(`${prefix}revoked`)
    expect(names).toContain(`t:${idOf(token)}`)
  })
})

describe('revocation.whenStale: refuse', () => {
  test.each([
    ['a list from before revocation.maxAgeMs', 120_000, 'fault'],
    ['a list from a moment ago', 0, 'live'],
  ])('goes by the true age of %s', async (_, ageMs, verdict) => {
    const { redis, snapshot, start, addUser } = await setUp({
      whenStale: 'refuse',
      maxAgeMs: 60_000,
    })
    const before = await start()
    const token = await liveToken([before], await addUser())
    await before.close()
    await redis.kill()
    await writeFile(snapshot, confirmationLine(Date.now() - ageMs))

    expect(await verdictOn(await start(), token)).toBe(verdict)
  })
})

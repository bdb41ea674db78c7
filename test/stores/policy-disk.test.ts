import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mountSmallDisk, smallDiskProblem } from '../support/full-disk.ts'
import { type Published, startPublished } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const problem = smallDiskProblem()
if (problem !== undefined) console.log(`left out: policy snapshots on a full disk: ${problem}`)

const first = ['clerk, /first, GET']
/** Takes the rule of the first away, and more room than that one leaves. */
const second = Array.from({ length: 600 }, (_, at) => `clerk, /second/${at}/of/many, GET`)

async function metric({ postern }: Published, name: string): Promise<number> {
  const text = await postern.ops.metrics.text()
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
}

const isCurrent = (published: Published) => metric(published, 'postern_policy_snapshot_current')

describe.skipIf(problem !== undefined)('a policy snapshot on a disk that takes no more', () => {
  test('does not bring a withdrawn policy back, and is written once there is space', async () => {
    const disk = mountSmallDisk(128)
    const snapshot = join(disk.directory, 'policy.snapshot')
    const before = await startPublished({ rules: first, policy: { snapshot } })
    const { redis } = before
    await until(async () => (await isCurrent(before)) === 1)

    await disk.fill()
    await before.publish(second)

    await until(async () => (await isCurrent(before)) === 0)
    await until(() => before.postern.logText().includes('policy snapshot not written'))
    expect(await before.ask('/first')).toBe('denied')
    expect(await metric(before, 'postern_policy_snapshot_write_failures_total')).toBeGreaterThan(0)
    const { policy } = (await before.readyz()) as unknown as Record<string, object>
    expect(policy).toMatchObject({
      snapshot: { current: false, lastError: expect.stringContaining('ENOSPC') },
    })

    await before.postern.close()
    await redis.kill()
    const after = await startPublished({ redis, policy: { snapshot } })

    expect(await after.ask('/first')).toBe('fault')
    expect((await after.readyz()).status).toBe(503)

    await redis.start()
    await after.publish(second)
    await until(async () => (await after.ask('/second/1/of/many')) === 'allowed')
    expect(await isCurrent(after)).toBe(0)
    await disk.free()
    await until(async () => (await isCurrent(after)) === 1)
  })

  test('that cannot be removed either keeps its time, for policy.maxAge', async () => {
    const disk = mountSmallDisk(512)
    const snapshot = join(disk.directory, 'policy.snapshot')
    const published = await startPublished({ rules: first, policy: { snapshot } })
    await until(async () => (await isCurrent(published)) === 1)
    const { mtimeMs } = await stat(snapshot)

    disk.protect()
    await published.publish(second)

    await until(() => published.postern.logText().includes('"outdated":"kept"'))
    await published.postern.close()
    expect((await stat(snapshot)).mtimeMs).toBe(mtimeMs)
  })
})

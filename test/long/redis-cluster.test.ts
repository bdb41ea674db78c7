import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClusterNode, type ClusterSite, startClusterSite } from '../support/redis-cluster.ts'
import { startUnderLoad } from '../support/redis-under-load.ts'

let site: ClusterSite
beforeAll(async () => {
  site = await startClusterSite()
})
afterAll(() => site.stop())

/** When one of these nodes takes a write to our slot. */
async function takesWrites(nodes: readonly ClusterNode[]): Promise<number> {
  for (;;) {
    for (const { client } of nodes) {
      const written = await client.set('{postern}:probe', '1', 'PX', 1000).catch(() => undefined)
      if (written === 'OK') return performance.now()
    }
    await pause(10)
  }
}

describe('Redis Cluster of six nodes, over TLS and with an ACL user', () => {
  test('loses nodes and moves our slot under load: callers do not notice, logins recover, nothing is lost', async () => {
    const { load, author, usualMs, recovery, nothingLost } = await startUnderLoad(site)

    const primary = await site.owner()
    await primary.kill()
    const killed = performance.now()
    const moment = await takesWrites(site.nodes.filter((node) => node !== primary))
    const recoveredMs = await recovery(moment)
    console.info(
      `cluster: new primary after ${Math.round(moment - killed)} ms, login ${recoveredMs} ms later (usually ${usualMs} ms)`,
    )
    // By itself, and not by a timeout of minutes; how fast is printed above.
    expect(recoveredMs).toBeLessThan(30_000)
    await primary.start()
    await site.settled()

    const from = await site.owner()
    const to = site.nodes.slice(0, 3).find((node) => node !== from && node !== primary)
    if (to === undefined) throw new Error('no other primary')
    await site.move(to, () => pause(300))
    const movedMs = await recovery(performance.now())
    console.info(`cluster: slot moved, login ${movedMs} ms later (usually ${usualMs} ms)`)
    expect(await site.owner()).toBe(to)

    for (const node of site.nodes) {
      await node.kill()
      await pause(200)
      await node.start()
      await site.settled()
      await site.owner()
      const restartedMs = await recovery(performance.now())
      console.info(
        `cluster: ${node.name} restarted, login ${restartedMs} ms later (usually ${usualMs} ms)`,
      )
    }

    await nothingLost()
    expect(author.failed).toEqual([])
    console.info(
      `cluster: ${load.calls.total} calls, ${load.revoked.length} revocations, ${load.attempts.length} logins`,
      author.counts,
    )
  })
})

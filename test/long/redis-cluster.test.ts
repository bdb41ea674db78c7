import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ClusterNode, startClusterSite } from '../support/redis-cluster.ts'
import { startUnderLoad } from '../support/redis-under-load.ts'

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
    // Each try has servers of its own: what one has left behind cannot fail the next.
    const site = await startClusterSite()
    onTestFinished(site.stop)
    const { load, author, usualMs, recovery, nothingLost } = await startUnderLoad(site)

    const primary = await site.owner()
    await primary.kill()
    const killed = performance.now()
    const moment = await takesWrites(site.nodes.filter((node) => node !== primary))
    const recoveredMs = await recovery(moment)
    console.info(
      `cluster: new primary after ${Math.round(moment - killed)} ms, login ${recoveredMs} ms later (usually ${usualMs} ms)`,
    )
    // The goal is two seconds, and what it took is printed. On busy cores a login alone can take
    // longer, so the bound tells recovering by itself from waiting for a timeout of minutes.
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

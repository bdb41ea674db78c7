import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { startReplicas, verdictOn } from '../support/session-replicas.ts'
import { startPostern } from '../support/start-postern.ts'
import { startStoreLoad } from '../support/store-load.ts'
import { until } from '../support/until.ts'

/** A primary with an account in it, and a standby without which it acknowledges nothing. */
async function startPair() {
  const primary = await startPostgres()
  onTestFinished(primary.stop)
  const user = await (await startReplicas({ databaseUrl: primary.url })).addUser()
  const standby = await startPostgres({ standbyOf: primary })
  onTestFinished(standby.stop)
  await primary.query(`alter system set synchronous_standby_names = '*'`)
  await primary.query('select pg_reload_conf()')
  await until(async () => {
    const rows = await primary.query<{ sync_state: string }>('select * from pg_stat_replication')
    return rows[0]?.sync_state === 'sync'
  })
  return { primary, standby, user }
}

async function promote(standby: PostgresServer): Promise<number> {
  await standby.query('select pg_promote(false)')
  await until(async () => {
    const [row] = await standby.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    return row?.standby === false
  })
  return performance.now()
}

test.each(['redis', 'database'])(
  'PostgreSQL fails over under load, revocations in %s: callers do not notice, logins recover, no row is lost or doubled',
  async (revocations) => {
    const { primary, standby, user } = await startPair()
    const redis = await startRedis()
    onTestFinished(redis.stop)
    const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',')
    const url = `postgres://postern@${hosts}/postgres?target_session_attrs=read-write`
    const config = {
      database: { url },
      ...(revocations === 'redis' && { redis: { url: redis.url } }),
      login: { perAddressPerMinute: 100_000, captchaPerAddressPerMinute: 100_000 },
    }
    const start = () => startPostern({ config })
    const gateways = [await start(), await start()]
    const load = startStoreLoad(gateways, user)
    onTestFinished(load.stop)
    await until(() => load.logins.filter(({ ok }) => ok).length >= 6)

    await primary.kill()
    await pause(1000)
    const promoted = await promote(standby)
    const recoveredMs = Math.round((await load.loggedInAfter(promoted)) - promoted)
    console.info(
      `PostgreSQL, revocations in ${revocations}: login ${recoveredMs} ms after promotion`,
    )
    await until(() => load.logins.filter(({ ok, from }) => ok && from > promoted).length >= 6)
    await load.stop()

    // The goal is five seconds, and what it took is printed. On busy cores a login alone can take
    // longer, so the bound tells recovering by itself from waiting for a timeout of minutes.
    expect(recoveredMs).toBeLessThan(60_000)
    expect(load.calls.failed).toEqual([])
    expect(load.attempts.length).toBeGreaterThan(10)
    const rows = async () => {
      const found = await standby.query<{ remark: string }>('select remark from sys_login_log')
      return found.map(({ remark }) => remark).filter((remark) => load.attempts.includes(remark))
    }
    await until(async () => new Set(await rows()).size >= load.attempts.length)
    expect((await rows()).sort()).toEqual([...load.attempts].sort())
    const newcomer = await start()
    expect(load.revoked.length).toBeGreaterThan(10)
    // Gateways write back what the new primary lacks within seconds.
    for (const token of load.revoked) {
      await until(async () => (await verdictOn(newcomer, token)) === 'over')
    }
    console.info(
      `PostgreSQL: ${load.calls.total} calls, ${load.attempts.length} attempts, ${load.revoked.length} revocations`,
    )
  },
)

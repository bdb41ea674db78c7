import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { inParallel } from '../support/in-parallel.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** How long PostgreSQL is away. The catalogue's 30 s are for a run of its own. */
const outageMs = Number(process.env['POSTERN_TEST_OUTAGE_SECONDS'] ?? 3) * 1000
const prefix = '{test}:'
const key = `${prefix}login:log`

interface Site {
  readonly redis: RedisServer
  readonly postgres: PostgresServer
  readonly gateways: readonly GatewayProcess[]
  /** Starts one more. */
  more(): Promise<GatewayProcess>
}

async function startSite(
  count: number,
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-log-'))
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
  const running: GatewayProcess[] = []
  onTestFinished(async () => {
    await Promise.all(running.map((gateway) => gateway.kill()))
    await Promise.all([redis.stop(), postgres.stop()])
    await rm(directory, { recursive: true, force: true })
  })

  async function more(): Promise<GatewayProcess> {
    const file = join(directory, `${running.length}.yaml`)
    const gateway = await startGatewayProcess(file, {
      application: { host: '127.0.0.1', port: 0, dataDirectory: directory },
      ops: { port: 0 },
      jwt: { secret: testSecret },
      database: { url: postgres.url },
      redis: { url: redis.url, prefix },
      login: { perAddressPerMinute: 1_000_000 },
      policy: { directory: join(process.cwd(), 'policies') },
      shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 2000 },
      ...config,
      logger: { enableddb: true, ...config['logger'] },
    })
    running.push(gateway)
    return gateway
  }

  const gateways: GatewayProcess[] = []
  for (let started = 0; started < count; started++) gateways.push(await more())
  return { redis, postgres, gateways, more }
}

/** An attempt with a captcha that was never issued; whether it was answered, with no or with not now. */
async function attempt({ publicPort }: GatewayProcess, username: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${publicPort}/api/v1/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password: 'x', uuid: 'x', code: 'x' }),
  })
    .then((response) => response.json())
    .catch(() => undefined)
  if (answer === undefined) return false
  expect([400, 503]).toContain((answer as { code: number }).code)
  return true
}

/** How often each name is in the login log. */
async function written({ postgres }: Site): Promise<ReadonlyMap<string, number>> {
  const rows = await postgres.query<{ username: string; many: string }>(
    'select username, count(*) as many from sys_login_log group by username',
  )
  return new Map(rows.map(({ username, many }) => [username, Number(many)]))
}

async function stateOf({ opsPort }: GatewayProcess): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return ((await answer.json()) as { loginLog: Record<string, number> }).loginLog
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name}-${at}`)

describe('the login log of two gateways', () => {
  test('has every answered attempt once, although PostgreSQL and a gateway are killed', {
    timeout: 300_000 + outageMs,
  }, async () => {
    const site = await startSite(2)
    const [first, second] = site.gateways as [GatewayProcess, GatewayProcess]
    const answered: string[] = []
    async function load(gateways: readonly GatewayProcess[], names: readonly string[]) {
      await inParallel([...names.entries()], async ([at, name]) => {
        const gateway = gateways[at % gateways.length] ?? first
        if (await attempt(gateway, name)) answered.push(name)
      })
    }

    await load([first, second], numbered('before', 300))
    const during = load([first, second], numbered('during', 300))
    await until(() => answered.length > 350)
    await site.postgres.kill()
    await until(() => answered.length > 450)
    await second.kill()
    await during
    await load([first], numbered('after', 1000 - answered.length))
    const inStream = await site.redis.client.xlen(key)
    await pause(outageMs)
    await site.postgres.start()
    await until(async () => (await site.redis.client.xlen(key)) === 0)

    expect(answered).toHaveLength(1000)
    // The outage was felt: without it, there would be nothing left to write.
    expect(inStream).toBeGreaterThan(400)
    const rows = await written(site)
    expect(answered.filter((name) => rows.get(name) !== 1)).toEqual([])
    expect([...rows].filter(([, many]) => many !== 1)).toEqual([])
    expect(await stateOf(first)).toMatchObject({ queued: 0, dropped: 0, refused: 0 })
  })

  test('has what a lone gateway left in the stream when it was killed', async () => {
    const site = await startSite(1)
    const [only] = site.gateways as [GatewayProcess]
    await site.postgres.kill()
    const names = numbered('user', 100)
    await inParallel(names, async (name) => void (await attempt(only, name)))
    await only.kill()
    await site.postgres.start()

    await site.more()
    await until(async () => (await site.redis.client.xlen(key)) === 0)

    const rows = await written(site)
    expect(names.filter((name) => rows.get(name) !== 1)).toEqual([])
    expect(rows.size).toBe(100)
  })

  test('has what was attempted while Redis was killed, hung and empty', async () => {
    const site = await startSite(2)
    async function load(name: string): Promise<void> {
      await inParallel([...numbered(name, 60).entries()], async ([at, one]) => {
        const gateway = site.gateways[at % 2]
        if (gateway !== undefined) expect(await attempt(gateway, one)).toBe(true)
      })
    }

    await load('well')
    // This Redis keeps nothing on disk: what it alone holds when it is killed is gone.
    await until(async () => (await written(site)).size === 60)
    await site.redis.kill()
    await load('killed')
    await site.redis.start()
    await load('empty')
    site.redis.pause()
    await load('hung')
    site.redis.resume()
    await load('again')
    await until(async () => (await written(site)).size === 300)

    expect([...(await written(site))].filter(([, many]) => many !== 1)).toEqual([])
  })

  test('is written whole before a gateway that is told to end has ended', async () => {
    const site = await startSite(1)
    const [only] = site.gateways as [GatewayProcess]
    await inParallel(numbered('user', 200), async (name) => void (await attempt(only, name)))

    const code = await only.stop()

    expect(code).toBe(0)
    expect((await written(site)).size).toBe(200)
    expect(await site.redis.client.xlen(key)).toBe(0)
    expect(await site.redis.client.xinfo('CONSUMERS', key, 'writers')).toEqual([])
  })
})

describe('with logger.enableddb off', () => {
  test('there is no row, no entry in the stream and no use of the table', async () => {
    const site = await startSite(0, { logger: { enableddb: false } })
    await makeTables(site.postgres.url)
    let before = await uses(site)
    // PostgreSQL counts the scans of making them a moment after the connection closed.
    await until(async () => {
      before = await uses(site)
      return before.every((table) => Number(table['seq_scan']) > 0)
    })
    const only = await site.more()
    const monitor = await site.redis.client.duplicate().monitor()
    onTestFinished(() => monitor.disconnect())
    const commands: string[] = []
    monitor.on('monitor', (_, args: string[]) => commands.push(args.join(' ')))

    await inParallel(numbered('user', 50), async (name) => void (await attempt(only, name)))
    await site.redis.client.ping('the end')
    await until(() => commands.some((command) => command.includes('the end')))
    await only.stop()

    expect(commands.filter((command) => command.includes('login:log'))).toEqual([])
    expect(await site.redis.client.exists(key)).toBe(0)
    expect(await uses(site)).toEqual(before)
    expect((await written(site)).size).toBe(0)
  })
})

/** As an earlier start did: making them would count as using them. */
async function makeTables(url: string): Promise<void> {
  const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 5000 }
  const database = await openDatabase({ url, directory: '', ...limits })
  await database.close()
}

/** How often the tables of the login log were read or written, as PostgreSQL counts it. */
function uses({ postgres }: Site) {
  return postgres.query(
    `select relname, n_tup_ins, seq_scan, idx_scan from pg_stat_user_tables
     where relname in ('sys_login_log', 'postern_login_attempt') order by relname`,
  )
}

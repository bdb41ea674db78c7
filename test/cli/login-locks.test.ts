import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createLockoutRecorder } from '../../src/login/lockouts/lockout-recorder.ts'
import { sealLockout } from '../../src/login/lockouts/sealed-lockout.ts'
import { createThrottle } from '../../src/login/throttle.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createDatabaseLockouts } from '../../src/stores/limits/database-lockouts.ts'
import { createMemoryCounters } from '../../src/stores/limits/memory-counters.ts'
import { createRedisCounters } from '../../src/stores/limits/redis-counters.ts'
import { createRedisLockouts } from '../../src/stores/limits/redis-lockouts.ts'
import { createLastingKey } from '../../src/token/derived-keys.ts'
import { secretAlone } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import { logInFrom } from '../support/log-in.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const secret = 'a secret of the test that is long enough for anybody'
const limits = {
  ...{ failuresPerAccount: 3, failuresPerPair: 2, failureWindowSeconds: 900 },
  ...{ perAddressPerMinute: 6, captchaPerAddressPerMinute: 3, knownAddressDays: 30 },
  ...{ waitSeconds: 600, longestWaitSeconds: 900 },
}

let directory: string
/** A gateway's: as long as it is open, every command works through it. */
let database: Database
let redis: RedisServer
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'postern-locks-'))
  const seeded = await seededDatabase(directory)
  database = seeded.database
  redis = await startRedis()
  const jwt = `jwt: { secret: ${secret} }\n${seeded.settings}`
  await writeFile(join(directory, 'database.yaml'), jwt)
  const shared = `${jwt}redis: { url: '${redis.url}', prefix: '${testPrefix}' }\n`
  await writeFile(join(directory, 'redis.yaml'), shared)
})
afterAll(async () => {
  await redis.stop()
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

/** What a gateway does about logins, all of which have the wrong password. */
async function gateway(store: 'redis' | 'database', signedWith = secret) {
  await redis.client.flushall()
  const local = createMemoryCounters()
  const client = await connectRedis(redis)
  const keys = secretAlone(await secretKey(signedWith))
  const recorder = createLockoutRecorder({
    records:
      store === 'redis'
        ? createRedisLockouts(client).records
        : createDatabaseLockouts(database).recordsOf(String(Math.random())),
    sealKey: createLastingKey(() => keys, 'lockout'),
    forget: local.forget,
    log: createLog('silent', { write: () => {} }),
    pollMs: 20,
  })
  onTestFinished(() => recorder.close(10_000))
  const throttle = createThrottle({
    counters:
      store === 'redis'
        ? createRedisCounters({ redis: client, local, onUnreachable: () => {} })
        : local,
    limits,
    digestKey: createLastingKey(() => keys, 'throttle'),
    onLockoutBegan: recorder.began,
  })

  async function isRefused(attempt: Promise<unknown>): Promise<boolean> {
    return attempt.then(
      () => false,
      () => true,
    )
  }
  async function times(many: number, attempt: () => Promise<unknown>): Promise<boolean[]> {
    const refused: boolean[] = []
    for (let turn = 0; turn < many; turn++) refused.push(await isRefused(attempt()))
    return refused
  }
  async function run(...args: readonly string[]) {
    const ran = await runCommand([...args, '--config', `${store}.yaml`], { cwd: directory })
    return { ...ran, json: () => JSON.parse(ran.out) }
  }
  const from = (address: string, foreign = false) => ({ address, foreign })
  return {
    guess: (name: string, address: string, many = 1) =>
      times(many, () => throttle.password(name, address)),
    call: (address: string, many: number, foreign = false) =>
      times(many, () => throttle.address(from(address, foreign))),
    captcha: (address: string, many: number) => times(many, () => throttle.captcha(from(address))),
    run,
    /** Records are written after the answer. */
    async listed(many: number): Promise<readonly Record<string, unknown>[]> {
      for (;;) {
        const { json } = await run('login', 'locks', '--output', 'json')
        const { lockouts } = json()
        if (lockouts.length === many) return lockouts
      }
    },
    async audited(subject: string) {
      const { json } = await run('audit', 'list', '--subject', subject, '--output', 'json')
      return JSON.stringify(json())
    },
  }
}

describe.each(['redis', 'database'] as const)('lock-outs in the %s', (store) => {
  test('are listed by account, by account and address, by address and by captchas', async () => {
    const { guess, call, captcha, listed, run } = await gateway(store)
    await guess('editor', '192.0.2.2', 3)
    await guess('Editor', '2001:db8::3', 2)
    await guess('hunter2', '192.0.2.4', 3)
    await call('192.0.2.5', 7)
    await call('192.0.2.5', 7, true)
    await captcha('192.0.2.6', 4)

    const lockouts = await listed(6)

    for (const { since, until: end } of lockouts) {
      const [begin, finish] = [Date.parse(String(since)), Date.parse(String(end))]
      expect(Math.abs(finish - begin - 600_000)).toBeLessThan(30_000)
      expect(Math.abs(Date.now() - begin)).toBeLessThan(60_000)
    }
    const crossSite = false
    expect(lockouts.map(({ since: _, until: __, ...rest }) => rest)).toEqual(
      expect.arrayContaining([
        { kind: 'pair', username: 'editor', address: '192.0.2.2', crossSite, attempts: 2 },
        { kind: 'account', username: 'Editor', attempts: 3 },
        { kind: 'pair', username: null, address: '192.0.2.4', crossSite, attempts: 2 },
        { kind: 'address', address: '192.0.2.5', crossSite, attempts: 6 },
        { kind: 'address', address: '192.0.2.5', crossSite: true, attempts: 6 },
        { kind: 'captcha', address: '192.0.2.6', crossSite, attempts: 3 },
      ]),
    )

    const text = await run('login', 'locks')
    expect(text.out).toMatch(/^KIND {5}USER {12}ADDRESS {17}SINCE {21}UNTIL {21}ATTEMPTS$/m)
    expect(text.out).toMatch(/^pair +\(unknown name\) {2}192\.0\.2\.4 .*Z {2}2$/m)
    expect(text.out).toMatch(/^account +Editor +- .*Z {2}3$/m)
    expect(text.out).toMatch(/^address +- +192\.0\.2\.5 \(cross-site\) .*Z {2}6$/m)
    expect(text.out).not.toContain('hunter2')
    expect(text.err).toContain('masked 1 name that matches no account')
    expect((await run('login', 'locks', '--show-names')).out).toContain('hunter2')
  })

  test('of a user are ended, with those at every address, and nothing else', async () => {
    const { guess, listed, run, audited } = await gateway(store)
    await guess('editor', '192.0.2.2', 3)
    await guess('editor', '192.0.2.3', 2)
    await guess('admin', '192.0.2.2', 3)
    await listed(3)
    expect(await guess('editor', '192.0.2.9')).toEqual([true])
    expect((await run('user', 'show', 'editor')).out).toMatch(/^locked out +until /m)
    expect((await run('user', 'show', 'admin')).out).toMatch(
      /^locked out +logins from 192\.0\.2\.2, until /m,
    )

    const { code, err } = await run('login', 'unlock', 'EDITOR')

    const later = store === 'redis' ? '' : '; every gateway follows within two seconds'
    expect([code, err]).toEqual([0, `postern: ended 2 lock-outs of user EDITOR${later}\n`])
    await until(async () => (await guess('editor', '192.0.2.8'))[0] === false)
    expect(await guess('editor', '192.0.2.2')).toEqual([false])
    expect(await guess('admin', '192.0.2.2')).toEqual([true])
    expect(await listed(1)).toMatchObject([{ kind: 'pair', username: 'admin' }])
    expect(await audited('editor')).toMatch(
      /"action":"login.unlock".*"lockouts":\["(?:account","pair 192.0.2.2|pair 192.0.2.2","account)"\]/,
    )
  })

  test('of an address are ended, with those of accounts there', async () => {
    const { guess, call, captcha, listed, run, audited } = await gateway(store)
    await guess('editor', '2001:db8::2', 3)
    await call('2001:db8::3', 7)
    await captcha('2001:db8::4', 4)
    await guess('admin', '192.0.2.3', 3)
    await listed(4)

    const { code, json } = await run('login', 'unlock', '2001:db8::9', '--output', 'json')

    expect(code).toBe(0)
    expect(json()).toEqual({ address: '2001:db8:0:0::/64', ended: 3 })
    await until(async () => (await call('2001:db8::2', 1))[0] === false)
    expect(await guess('editor', '2001:db8::2')).toEqual([false])
    expect(await captcha('2001:db8::2', 1)).toEqual([false])
    expect(await guess('admin', '192.0.2.3')).toEqual([true])
    expect(await audited('2001:db8:0:0::/64')).toContain('"action":"login.unlock"')
  })

  test('begin anew after that, with the full number of attempts', async () => {
    const { guess, listed, run } = await gateway(store)
    await guess('editor', '192.0.2.2', 3)
    await listed(1)
    await run('login', 'unlock', 'editor')
    await until(async () => (await guess('editor', '192.0.2.2'))[0] === false)

    expect(await guess('editor', '192.0.2.2', 2)).toEqual([false, true])

    expect(await listed(1)).toMatchObject([{ kind: 'pair', attempts: 2 }])
  })

  test('of another name are not ended, and a name that is nearly right is suggested', async () => {
    const { guess, listed, run } = await gateway(store)
    await guess('editor', '192.0.2.2', 3)
    await guess('hunter2', '192.0.2.3', 3)
    await listed(2)

    expect(await run('login', 'unlock', 'edtior')).toMatchObject({
      code: 1,
      err: 'postern: nothing is locked out for user edtior: no account has this name; did you mean editor?\n',
    })
    expect(await run('login', 'unlock', 'hunter3')).toMatchObject({
      code: 1,
      err: 'postern: nothing is locked out for user hunter3: no account has this name\n',
    })
    expect((await run('login', 'unlock', 'admin')).err).toBe(
      'postern: nothing is locked out for user admin\n',
    )
  })

  test('of a name without an account leave no name in the audit log', async () => {
    const { guess, listed, run, audited } = await gateway(store)
    await guess('hunter2', '192.0.2.3', 3)
    await listed(1)

    expect((await run('login', 'unlock', 'hunter2')).code).toBe(0)

    expect(await audited('hunter2')).not.toContain('login.unlock')
    expect(await audited('(unknown name)')).toContain('"action":"login.unlock"')
  })

  test('that other signing keys recorded are counted, not shown', async () => {
    const { guess, listed, run } = await gateway(store, `another ${secret}`)
    await guess('editor', '192.0.2.2', 3)
    await until(async () => {
      return (await run('login', 'locks', '--output', 'json')).json().unreadable === 1
    })

    expect(await listed(0)).toEqual([])
    expect((await run('login', 'locks')).err).toContain(
      '1 more lock-out cannot be read: recorded with another signing key',
    )
  })

  test('are those of a running gateway', async () => {
    const postern = await startPostern({
      config: {
        application: { mode: 'dev' },
        login: { failuresPerPair: 1, failuresPerAccount: 10, perAddressPerMinute: 10_000 },
        ...(store === 'redis' && { redis: { url: redis.url, prefix: '{gateway}:' } }),
      },
      // Without Redis, lock-outs are rows: those of other tests would be in a shared database.
      ownDatabase: store === 'database',
      verifyPassword: async () => undefined,
    })
    const config = join(dirname(postern.policyDirectory), 'postern.yaml')
    const run = (...args: readonly string[]) => runCommand(['login', ...args, '--config', config])
    const fields = { username: 'editor', password: 'wrong', uuid: '-', code: '-' }
    const logIn = () => logInFrom(postern, '127.0.0.7', fields)
    expect([await logIn(), await logIn()]).toEqual([400, 429])
    await until(async () => (await run('locks')).out.includes('127.0.0.7'))

    expect((await run('unlock', 'editor')).code).toBe(0)

    await until(async () => (await logIn()) === 400)
  })
})

describe('postern login unlock', () => {
  test('says when nothing is locked out, and refuses a range', async () => {
    const { run } = await gateway('database')

    expect(await run('login', 'locks')).toMatchObject({
      ...{ code: 0, out: '', err: 'postern: nothing is locked out\n' },
    })
    expect(await run('login', 'unlock', '2001:db8::1')).toMatchObject({
      code: 1,
      err: 'postern: nothing is locked out for address 2001:db8:0:0::/64\n',
    })
    expect((await run('login', 'unlock', '2001:db8:0:0::/64')).code).toBe(1)
    const range = await run('login', 'unlock', '192.0.2.0/24')
    expect(range.code).toBe(2)
    expect(range.err).toContain('"192.0.2.0/24" is a range: give one address')
  })

  test('of thousands shows some, and the audit log says how many more', async () => {
    const { run } = await gateway('database')
    const keys = secretAlone(await secretKey(secret))
    const sealKey = createLastingKey(() => keys, 'lockout')()
    const records = createDatabaseLockouts(database).recordsOf('crowd')
    const crowd = Array.from({ length: 2000 }, (_, at) => {
      const key = `login:pair:${at}`
      const block = `10.9.${at >> 8}.${at & 255}`
      const lockout = { key, kind: 'pair', name: 'editor', block, lockoutMs: 60_000 } as const
      return {
        ...lockout,
        sealed: sealLockout(sealKey, { ...lockout, attempts: 2 }),
        leftMs: 60_000,
      }
    })
    await records.add(crowd.map(({ key, kind, sealed, leftMs }) => ({ key, kind, sealed, leftMs })))
    onTestFinished(() => records.leave?.())

    const { out } = await run('user', 'show', 'editor')
    expect(out.match(/^locked out/gm)).toHaveLength(11)
    expect(out).toContain('and 1990 more: see "postern login locks"')
    expect((await run('login', 'unlock', 'editor')).err).toMatch(/^postern: ended 2,000 lock-outs/)
    const audit = await run('audit', 'list', '--action', 'login.unlock', '--output', 'json')
    expect(audit.json()[0].before).toMatchObject({ more: 1900 })
  })

  test('changes nothing when it ends nothing', async () => {
    const { guess, run } = await gateway('redis')
    await guess('editor', '192.0.2.7', 2)
    const counts = await redis.client.keys('*')

    expect((await run('login', 'unlock', 'editor')).code).toBe(1)

    expect((await redis.client.keys('*')).sort()).toEqual(counts.sort())
  })

  test('also means the user whose name is an address', async () => {
    const { guess, listed, run } = await gateway('database')
    const add = await run('user', 'add', '192.0.2.99', '--role', 'viewer')
    expect(add.code).toBe(0)
    await guess('192.0.2.99', '192.0.2.1', 3)
    await listed(1)

    const { code, err } = await run('login', 'unlock', '192.0.2.99')

    expect({ code, err }).toEqual({
      code: 0,
      err: 'postern: ended 1 lock-out of address 192.0.2.99 and user 192.0.2.99; every gateway follows within two seconds\n',
    })
  })

  test('changes nothing where the audit log is missing', async () => {
    const { guess, listed, run } = await gateway('redis')
    await guess('editor', '192.0.2.8', 3)
    await listed(1)
    await sql`alter table postern_audit rename to hidden`.execute(database.db)
    onTestFinished(async () => {
      await sql`alter table hidden rename to postern_audit`.execute(database.db)
    })

    const { code, err } = await run('login', 'unlock', 'editor')

    expect(code).toBe(5)
    expect(err).toMatch(/^postern: table postern_audit is missing, .*"postern db migrate"/)
    expect(await guess('editor', '192.0.2.8')).toEqual([true])
  })

  test('finds the count of an account and of an address although Redis lost the record', async () => {
    const { guess, call, listed, run } = await gateway('redis')
    await guess('editor', '192.0.2.2', 2)
    await guess('editor', '192.0.2.3', 2)
    await call('192.0.2.2', 7)
    await listed(2)
    await redis.client.del(`${testPrefix}login:lockouts`)

    expect((await run('login', 'unlock', 'editor')).code).toBe(0)
    expect((await run('login', 'unlock', '192.0.2.2')).code).toBe(0)
    expect(await guess('editor', '192.0.2.3')).toEqual([false])
    expect(await call('192.0.2.2', 1)).toEqual([false])
  })
})

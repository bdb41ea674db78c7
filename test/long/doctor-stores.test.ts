import { createHash } from 'node:crypto'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { startCertifiedProvider } from '../support/certified-provider.ts'
import { examine, examineFile, ownDirectory } from '../support/examine.ts'
import { fakeClient, oidcSettings } from '../support/fake-provider.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { findMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'
import { testSigner } from '../support/policy-signers.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { prefix, publish } from '../support/published-policies.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.ts'
import { gatewayRights } from '../support/redis-users.ts'
import {
  type Slapd,
  serviceDn,
  servicePassword,
  slapdMissing,
  startSlapd,
  suffix,
} from '../support/slapd.ts'
import { testSecret } from '../support/tokens.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')
if (slapdMissing !== undefined) process.stderr.write(`slapd: skipped, ${slapdMissing}\n`)

const slow = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
const patient = { connectTimeoutMs: 60_000, commandTimeoutMs: 60_000 }

describe('doctor and Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const as = (who: string) => `redis://${who}@127.0.0.1:${redis.port}`

  async function examined(url: string, settings: object = {}) {
    return examine({ redis: { url, ...patient }, ...settings })
  }

  test('finds the documented rights sufficient, compares clocks, and writes nothing', async () => {
    await redis.client.call('ACL', 'SETUSER', 'full', 'on', '>full-word', ...gatewayRights)
    const { of, problems, out } = await examined(as('full:full-word'))

    expect(problems).toEqual([])
    expect(of('redis')[0]?.message).toMatch(
      new RegExp(`^127\\.0\\.0\\.1:${redis.port} \\(standalone\\): version \\d+\\.`),
    )
    expect(of('redis rights')[0]).toMatchObject({ status: 'ok' })
    expect(of('clock')[0]).toMatchObject({ status: 'ok', message: 'agrees with Redis' })
    expect(out).not.toContain('full-word')
    expect(await redis.client.dbsize()).toBe(0)
  })

  test.each([
    ['a command', ['-xautoclaim', '-hset'], 'the user lacks +hset +xautoclaim'],
    ['EVAL', ['-eval'], 'the user lacks +eval'],
    ['the keys', ['resetkeys', '~other:*'], 'the user lacks the keys ~{postern}:*'],
    [
      'the channels',
      ['resetchannels'],
      'the user lacks +subscribe +publish, or the channels &{postern}:*',
    ],
  ])('names %s that the user lacks', async (name, changes, message) => {
    const user = `without-${name.replaceAll(' ', '-')}`
    await redis.client.call('ACL', 'SETUSER', user, 'on', '>word', ...gatewayRights, ...changes)
    const { of, code } = await examined(as(`${user}:word`))

    expect(code).toBe(1)
    expect(of('redis rights')).toMatchObject([
      { status: 'problem', message, fix: expect.stringContaining('docs/stores.md') },
    ])
  })

  test('says which setting has the password, wrong or missing', async () => {
    const locked = await startRedis()
    onTestFinished(locked.stop)
    await locked.client.call('CONFIG', 'SET', 'requirepass', 'right-word')
    const fix = 'set user and password of Redis in redis.url (variable POSTERN_REDIS__URL)'

    const wrong = await examined(`redis://:wrong-word@127.0.0.1:${locked.port}`)
    expect(wrong.of('redis')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('WRONGPASS'), fix },
    ])
    expect(wrong.out).not.toContain('wrong-word')
    const none = await examined(locked.url)
    expect(none.of('redis')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('NOAUTH'), fix },
    ])
  })

  test('reports a replica, and warns of eviction', async () => {
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] })
    onTestFinished(replica.stop)
    await replica.client.call('CONFIG', 'SET', 'maxmemory', '100mb')
    await replica.client.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const { of } = await examined(replica.url)

    expect(of('redis')).toMatchObject([
      { status: 'ok' },
      { status: 'problem', message: expect.stringContaining('is a replica') },
      { status: 'warning', fix: 'set maxmemory-policy noeviction' },
    ])
  })

  test('does not wait for one that hangs', async () => {
    const hung = await startRedis()
    onTestFinished(hung.stop)
    hung.pause()
    const { of } = await examine({ redis: { url: hung.url } }, ['--timeout', '30'])

    expect(of('redis')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('timeout') },
    ])
  })

  test('loads the published policy as a gateway does', async () => {
    const settings = { policy: { source: 'redis' } }
    const of = async (policy: object = {}) => {
      const url = redis.url
      const all = { redis: { url, prefix, ...patient }, policy: { ...settings.policy, ...policy } }
      return (await examine(all)).of('policy')
    }

    expect(await of()).toMatchObject([
      {
        status: 'problem',
        message: `${prefix}policy:head is missing`,
        fix: 'publish with "postern policy push"',
      },
    ])
    const revision = await publish(redis.url, ['clerk, /orders, GET'])
    expect(await of()).toMatchObject([
      { status: 'ok', message: expect.stringContaining(`1 rule, revision ${revision}`) },
    ])
    expect(await of({ trust: { keys: [testSigner('ada').line] } })).toMatchObject([
      { status: 'problem', fix: expect.stringContaining('policy.trust') },
    ])
    await publish(redis.url, ['clerk, /orders/:id, GET', 'clerk, /orders/7, GET'])
    expect(await of()).toMatchObject([
      { status: 'ok' },
      { status: 'warning', message: '1 warning: 1 useless-rule' },
    ])
  })
})

describe('doctor and PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  let count = 0
  async function empty(): Promise<string> {
    const name = `shop_${count++}`
    await server.query(`create database ${name}`)
    return server.url.replace(/postgres$/, name)
  }

  async function examined(url: string, more: object = {}) {
    return examine({ database: { url, ...slow, ...more } })
  }

  async function migrated(): Promise<string> {
    const url = await empty()
    const { openDatabase } = await import('../../src/stores/database/open-database.ts')
    const options = { url, directory: '', poolSize: 1, ...slow }
    await (await openDatabase(options)).close()
    return url
  }

  async function on(url: string, text: string): Promise<void> {
    const { Client } = await import('pg')
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }

  test('says what the first start creates, and creates none of it', async () => {
    const url = await empty()
    const first = await examined(url)
    expect(first.problems).toEqual([])
    expect(first.of('database tables')).toMatchObject([
      { status: 'ok', message: expect.stringMatching(/^missing: sys_role, .*the first start/) },
    ])
    // Still missing: the run before created nothing.
    expect((await examined(url, { migrate: 'never' })).of('database tables')).toMatchObject([
      { status: 'problem', fix: expect.stringContaining('postern db migrate') },
    ])
  })

  test('finds migrated tables complete, and compares clocks', async () => {
    const { of, problems } = await examined(await migrated())

    expect(problems).toEqual([])
    expect(of('database tables')).toMatchObject([{ status: 'ok' }])
    expect(of('clock')[0]?.message).toBe('agrees with the database')
  })

  test('reports a user who may not create tables, or may not use them', async () => {
    await server.query("create role guest login password 'guest-word'")
    const as = (url: string) => url.replace('postern@', 'guest:guest-word@')
    const bare = await examined(as(await empty()))
    expect(bare.of('database tables')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('this user may not create them') },
    ])
    const url = await migrated()
    await on(url, 'grant select on all tables in schema public to guest')
    const reader = await examined(as(url))
    expect(reader.of('database tables')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(/^the user lacks insert on sys_login_log, .*delete on/),
    })
    expect(reader.out).not.toContain('guest-word')
  })

  test('reports a column that does not fit, and warns of a missing optional table', async () => {
    const url = await migrated()
    await on(url, 'drop table postern_session; alter table sys_user drop column username')
    expect((await examined(url)).of('database tables')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('has no column username') },
    ])
    const other = await migrated()
    await on(other, 'drop table postern_session')
    expect((await examined(other, { migrate: 'never' })).of('database tables')).toMatchObject([
      { status: 'warning', message: 'missing: postern_session' },
    ])
  })

  test('reports a read-only server, and a database or server that does not exist', async () => {
    const url = await migrated()
    const name = new URL(url).pathname.slice(1)
    await server.query(`alter database ${name} set default_transaction_read_only = on`)
    expect((await examined(url)).problems).toMatchObject([
      { check: 'database', message: expect.stringContaining('read-only') },
    ])
    const absent = await examined(server.url.replace(/postgres$/, 'nowhere'))
    expect(absent.of('database')).toMatchObject([
      { status: 'problem', fix: expect.stringContaining('create the database') },
    ])
    const away = await examined('postgres://postern:hidden@127.0.0.1:1/shop')
    expect(away.of('database')).toMatchObject([
      { status: 'problem', fix: 'start the database server there, or correct database.url' },
    ])
  })
})

describe.skipIf(findMariadb() === undefined)('doctor and MariaDB', () => {
  let server: MariadbServer
  beforeAll(async () => {
    server = await startMariadb()
  })
  afterAll(() => server.stop())

  async function examined(url: string) {
    return examine({ database: { url, ...slow } })
  }

  test('goes from no tables to complete ones, and names rights that are missing', async () => {
    await server.query('create database shop')
    const url = server.urlOf('shop')
    expect((await examined(url)).of('database tables')).toMatchObject([
      { status: 'warning', message: expect.stringMatching(/^missing: sys_role, /) },
    ])
    const { openDatabase } = await import('../../src/stores/database/open-database.ts')
    await (await openDatabase({ url, directory: '', poolSize: 1, ...slow })).close()
    const complete = await examined(url)
    expect(complete.problems).toEqual([])
    expect(complete.of('database tables')).toMatchObject([{ status: 'ok' }])

    await server.query("create user guest@'127.0.0.1' identified by 'guest-word'")
    await server.query("grant select on shop.* to guest@'127.0.0.1'")
    const reader = await examined(server.urlOf('shop', 'guest:guest-word'))
    expect(reader.of('database tables')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(/^the user lacks insert on sys_login_log, .*delete on/),
    })
    const wrong = await examined(server.urlOf('shop', 'guest:wrong-word'))
    expect(wrong.of('database')).toMatchObject([
      { status: 'problem', fix: expect.stringContaining('POSTERN_DATABASE__URL') },
    ])
    expect(wrong.out).not.toContain('wrong-word')
  })
})

describe.skipIf(slapdMissing !== undefined)('doctor and a directory', () => {
  let certificates: Certificates
  let slapd: Slapd
  beforeAll(async () => {
    certificates = await createCertificates('127.0.0.1')
    slapd = await startSlapd({ ldif: '', certificates })
  })
  afterAll(async () => {
    await slapd.stop()
    await certificates.remove()
  })

  async function examined(ldap: object) {
    const sound = {
      urls: [slapd.ldaps],
      caFile: certificates.authority,
      bindDn: serviceDn,
      bindPassword: servicePassword,
      search: { base: suffix, filter: '(uid={username})' },
      ...{ connectTimeoutMs: 60_000, timeoutMs: 60_000 },
    }
    return (await examine({ login: { ldap: { ...sound, ...ldap } } })).of('login.ldap')
  }

  test('binds with the service account, and says what keeps it from that', async () => {
    expect(await examined({})).toMatchObject([
      { status: 'ok', message: `${slapd.ldaps} accepts bindDn` },
    ])
    expect(await examined({ bindPassword: 'wrong-word' })).toMatchObject([
      { status: 'problem', message: `${slapd.ldaps} refused login.ldap.bindDn` },
    ])
    expect(await examined({ caFile: undefined })).toMatchObject([
      { status: 'problem', fix: expect.stringContaining('login.ldap.caFile') },
    ])
    expect(await examined({ urls: ['ldaps://127.0.0.1:1', slapd.ldaps] })).toMatchObject([
      { status: 'warning', message: expect.stringContaining('ECONNREFUSED') },
      { status: 'ok' },
    ])
  })
})

describe('doctor and an identity provider', () => {
  const callback = 'http://127.0.0.1:22000/api/v1/login/oidc/corp/callback'

  test('reads its discovery document and its keys, for logins and for tokens', async () => {
    const { issuer } = await startCertifiedProvider({ redirectUris: [callback] })
    const ofTokens = {
      issuer,
      discovery: true,
      audience: 'shop',
      claims: { roleKey: 'groups' },
      roles: [{ value: 'staff', role: 'editor' }],
    }
    const login = (more: object = {}) => ({
      oidc: [oidcSettings(issuer, { ...fakeClient, timeoutMs: 30_000, ...more })],
    })
    const sound = await examine({ issuers: [ofTokens], login: login() })
    expect(sound.problems).toEqual([])
    expect(sound.of('issuers[0]')[0]?.message).toBe(`${issuer} publishes 1 usable key`)
    expect(sound.of('login.oidc[0]')[0]?.message).toContain('a valid discovery document')
    expect(sound.of('clock')[0]?.message).toContain(new URL(issuer).host)

    const wrong = await examine({ login: login({ idTokenAlgorithm: 'EdDSA' }) })
    expect(wrong.of('login.oidc[0]')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('set idTokenAlgorithm') },
    ])
    const away = await examine({
      issuers: [{ ...ofTokens, issuer: 'http://127.0.0.1:1' }],
      login: login(),
    })
    expect(away.of('issuers[0]')).toMatchObject([
      { status: 'problem', fix: 'start the provider there, or correct issuers[0].issuer' },
    ])
  })
})

describe('doctor beside a running gateway', () => {
  async function contentOf(directory: string): Promise<Readonly<Record<string, string>>> {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const files = entries.filter((each) => each.isFile())
    const pairs = files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name)
      return [
        file,
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      ] as const
    })
    return Object.fromEntries(await Promise.all(pairs))
  }

  test('asks it for the embedded database, knows its ports, and changes no file', async () => {
    const directory = await ownDirectory()
    const dataDirectory = join(directory, 'data')
    const file = join(directory, 'postern.yaml')
    const gateway = await startGatewayProcess(file, {
      application: { mode: 'test', host: '127.0.0.1', port: await freePort(), dataDirectory },
      ops: { host: '127.0.0.1', port: await freePort() },
      jwt: { secret: testSecret },
      policy: { directory: resolve('policies') },
    })
    onTestFinished(async () => void (await gateway.kill()))
    const beside = await examineFile(file)
    expect(beside.problems).toEqual([])
    expect(beside.of('application.port')[0]?.message).toContain(`(pid ${gateway.pid})`)
    expect(beside.of('database tables')).toMatchObject([{ status: 'ok' }])

    const copy = join(directory, 'copy.yaml')
    await copyFile(file, copy)
    const other = await examineFile(copy)
    expect(other.problems).toMatchObject([
      { check: 'application.port', message: expect.stringContaining(`configuration is ${file}`) },
      { check: 'ops.port', message: expect.stringContaining(`configuration is ${file}`) },
    ])

    await gateway.stop()
    const before = await contentOf(dataDirectory)
    const alone = await examineFile(file)
    expect(alone.of('database')[0]?.message).toContain('no process has it open')
    expect(alone.of('application.port')[0]?.message).toContain('is free')
    expect(await contentOf(dataDirectory)).toEqual(before)
  })
})

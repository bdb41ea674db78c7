import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import { folder, policy } from '../cli/policy-runner.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.query('drop table if exists casbin_rule')
  await server.query(
    'create table casbin_rule (id serial primary key, ptype varchar(100), v0 varchar(100), v1 varchar(100), v2 varchar(100), v3 varchar(100), v4 varchar(100), v5 varchar(100))',
  )
  await add('clerk', '/api/v1/dept', 'GET')
})
const add = (role: string, path: string, method: string) =>
  server.query(
    `insert into casbin_rule (ptype, v0, v1, v2) values ('p', '${role}', '${path}', '${method}')`,
  )

const follow = { database: true, intervalMs: 500 }
const isAllowed = async (postern: Awaited<ReturnType<typeof startPostern>>, line: string) =>
  !(await postern.call(line, { as: 'clerk' })).body.includes('"code":401')

test('a gateway follows what is saved and deleted in go-admin, and says when it cannot', async () => {
  const postern = await startPostern({
    rules: ['stale, /x, GET'],
    config: { database: { url: server.url }, policy: { follow } },
  })
  // The first request already sees what go-admin has.
  expect(await isAllowed(postern, 'GET /api/v1/dept')).toBe(true)

  await add('clerk', '/api/v1/post', 'GET')
  await until(() => isAllowed(postern, 'GET /api/v1/post'))
  await server.query(`delete from casbin_rule where v1 = '/api/v1/dept'`)
  await until(async () => !(await isAllowed(postern, 'GET /api/v1/dept')))
  expect(postern.logText()).toContain('"author":"go-admin"')

  const ops = async (path: string) =>
    (await fetch(`http://127.0.0.1:${postern.opsPort}${path}`)).text()
  expect(await ops('/metrics')).toMatch(/^postern_policy_follow_last_reload_success 1$/m)
  await server.query('delete from casbin_rule')
  await until(async () =>
    /^postern_policy_follow_last_reload_success 0$/m.test(await ops('/metrics')),
  )
  expect(await ops('/readyz?verbose')).toContain('the Casbin table: has no rows')
  expect(postern.logText()).toContain('go-admin policy rejected; keeping the last good revision')
  expect(await isAllowed(postern, 'GET /api/v1/post')).toBe(true)

  await add('clerk', '/api/v1/role', 'GET')
  await until(() => isAllowed(postern, 'GET /api/v1/role'))
  expect(await isAllowed(postern, 'GET /api/v1/post')).toBe(false)
})

test('tests of the directory ask for the routes of the current configuration', async () => {
  const postern = await startPostern({
    rules: ['stale, /x, GET'],
    routes: [{ path: '/', upstream: 'backend' }],
    config: { database: { url: server.url }, policy: { follow } },
  })
  await mkdir(join(postern.policyDirectory, 'tests'))
  await writeFile(
    join(postern.policyDirectory, 'tests/open_test.yaml'),
    '- { role: clerk, method: GET, path: /open/a, expect: allow }\n',
  )
  await add('clerk', '/api/v1/post', 'GET')
  await until(() => postern.logText().includes('test failed: clerk GET /open/a'))
  expect(await isAllowed(postern, 'GET /api/v1/post')).toBe(false)

  const opened = { path: '/open', upstream: 'backend', access: 'authenticated', reason: 'test' }
  await postern.apply({
    ...postern.config,
    routes: [...(postern.config.routes ?? []), opened as never],
  })
  await until(() => isAllowed(postern, 'GET /api/v1/post'))
})

// Its own tables would give our user 1 the tokens of go-admin's administrator.
test('a gateway that follows does not start on another database, and makes no tables in it', async () => {
  await server.query('drop table casbin_rule')
  await server.query('drop schema public cascade')
  await server.query('create schema public')
  const started = startPostern({ config: { database: { url: server.url }, policy: { follow } } })

  await expect(started).rejects.toThrow('no table casbin_rule or sys_casbin_rule')
  expect(await server.query(`select 1 from pg_tables where schemaname = 'public'`)).toEqual([])
})

test('the command publishes to Redis with author go-admin, and not over what others published', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const cwd = await folder({
    'x.yaml': `application: { mode: dev }\nredis: { url: '${redis.url}' }\npolicy: { source: redis, directory: imported }\n`,
  })
  const env = { POSTERN_DATABASE__URL: server.url }
  const run = (...args: readonly string[]) => policy([...args, '--config', 'x.yaml'], { cwd, env })
  await run('import', 'database', 'imported')
  const once = (...more: readonly string[]) => run('follow', 'database', '--once', ...more)
  const store = await openPolicyStore(
    { url: redis.url, prefix: '{postern}:', connectTimeoutMs: 5000, commandTimeoutMs: 5000 },
    { failoverTimeoutMs: 0 },
  )
  onTestFinished(() => store.close())

  expect(await once()).toMatchObject({ code: 0 })
  await add('clerk', '/api/v1/post', 'GET')
  expect(await once('--metrics', 'follow.prom')).toMatchObject({ code: 0 })
  const [last] = await store.history(1)
  expect(last).toMatchObject({
    author: 'go-admin',
    kind: 'push',
    message: 'go-admin: 1 line added, 0 removed',
  })
  expect(await readFile(join(cwd, 'follow.prom'), 'utf8')).toContain('last_reload_success 1')

  // ann opens an endpoint; the table changes later.
  await run('pull', 'live', 'ann')
  await writeFile(
    join(cwd, 'ann/exclusions.yaml'),
    '- { method: GET, path: /ann, reason: "Hers." }\n',
  )
  await run('push', 'ann', '-m', 'open', '--yes', '--no-tests', '--no-wait', '--author', 'ann')
  await add('clerk', '/api/v1/role', 'GET')
  const refused = await once()
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('push by ann') })
  expect((await store.head())?.author).toBe('ann')

  const replaced = await once('--over', 'live')
  expect(replaced.code).toBe(0)
  expect((await store.head())?.author).toBe('go-admin')
})

test('the command runs until a signal, and stops with a message while a row is not understood', async () => {
  const cwd = await folder({ 'x.yaml': `application: { mode: dev }\n` })
  const env = { POSTERN_DATABASE__URL: server.url }
  await policy(['import', 'database', 'policies', '--config', 'x.yaml'], { cwd, env })
  await mkdir(join(cwd, 'data'), { recursive: true })
  let out = ''
  const args = ['follow', 'database', 'policies', '--interval', '0.5', '--output', 'json']
  const running = policy([...args, '--config', 'x.yaml'], {
    cwd,
    env,
    onOut: (text) => {
      out += text
    },
  })
  await add('clerk', '/(a|b)', 'GET')
  await until(() => out.includes('cannot be imported'))
  await server.query(`delete from casbin_rule where v1 like '/(%'`)
  await add('editor', '/b', 'GET')
  await until(() => out.includes('go-admin policy published'))
  process.emit('SIGTERM')

  expect((await running).code).toBe(0)
  expect(await readFile(join(cwd, 'policies/policy.csv'), 'utf8')).toContain('p, editor, /b, GET')
})

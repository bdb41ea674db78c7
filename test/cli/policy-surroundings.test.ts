import { readFileSync } from 'node:fs'
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { freePort } from '../support/redis-server.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const filesOf = (...rules: readonly string[]) => ({
  'policies/model.conf': model,
  'policies/policy.csv': rules.map((rule) => `p, ${rule}\n`).join(''),
})
const secret = 'a secret of the test that is long enough for anybody'

describe('policy check with routes', () => {
  const upstreams = 'upstreams: { app: { targets: ["http://127.0.0.1:1"] } }'
  const routes = 'routes: [{ path: /api/v1/orders, upstream: app }]'
  const config = (...lines: readonly string[]) =>
    [`jwt: { secret: ${secret} }`, upstreams, ...lines].join('\n')

  async function warnings(rules: readonly string[], configuration: string) {
    const cwd = await folder({ ...filesOf(...rules), 'x.yaml': configuration })
    const { err } = await policy(['check', '--config', 'x.yaml'], { cwd })
    return err
  }

  test('names the nearest route of a mistyped path', async () => {
    const err = await warnings(['clerk, /api/v1/oders/:id, GET'], config(routes))

    expect(err).toBe(
      'policies/policy.csv:1:11: warning: no route serves "/api/v1/oders", so permitted callers get 404; did you mean the route "/api/v1/orders"?\n',
    )
  })

  test('warns once of all lines below a path', async () => {
    const rules = [
      'clerk, /api/v1/articles, GET',
      'clerk, /api/v1/articles/:id, GET',
      'clerk, /api/v1/articles/:id/comments/*, GET',
    ]

    const err = await warnings(rules, config(routes))

    expect(err).toBe(
      'policies/policy.csv:1:11: warning: no route serves "/api/v1/articles", so permitted callers get 404 (and 2 more lines below it); the nearest route is "/api/v1/orders"\n',
    )
  })

  test.each([
    ['a route serves the path', '/api/v1/orders/7', config(routes)],
    ['a route serves a path that the pattern matches', '/api/:version/*', config(routes)],
    ['a prefix reaches a route', '/api/v1/ord*', config(routes)],
    ['a parameter stands for a part of a route', '/:a/:b/:c/7', config(routes)],
    ['one route serves everything', '/anything', config('routes: [{ path: /, upstream: app }]')],
    ['an own endpoint serves the path', '/api/v1/user/profile', config(routes)],
    ['the configuration has no routes', '/anything', config()],
    [
      'another proxy routes',
      '/anything',
      config(
        routes,
        'forwardAuth: { enabled: true }',
        'application: { trustedProxies: [10.0.0.1] }',
      ),
    ],
  ])('is quiet when %s', async (_, path, configuration) => {
    const err = await warnings([`clerk, ${path}, PUT`], configuration)

    expect(err).not.toContain('no route serves')
    expect(err).not.toContain('error')
  })

  test('warns once of all lines on a route that does not ask the policy', async () => {
    const open = 'routes: [{ path: /api/v1/orders, upstream: app, access: authenticated }]'
    const rules = ['clerk, /api/v1/orders, GET', 'clerk, /api/v1/orders/:id, GET']

    const err = await warnings(rules, config(open))

    expect(err).toBe(
      'policies/policy.csv:1:11: warning: no effect: the route "/api/v1/orders" has access authenticated, so the policy does not decide there (and 1 more line below it)\n',
    )
  })

  test('has nothing against a rule that also reaches a route that asks the policy', async () => {
    const both =
      'routes: [{ path: /api/v1/orders, upstream: app }, { path: /api/v1/orders/open, upstream: app, access: authenticated }]'

    expect(await warnings(['clerk, /api/v1/orders/*, GET'], config(both))).toBe('')
  })

  test('tells a path without a route from one that has routes below it', async () => {
    const open = 'routes: [{ path: /api/v1/orders, upstream: app, access: authenticated }]'
    const rules = ['clerk, /api, GET', 'clerk, /api/v1/orders/7, GET', 'clerk, /apis/v1, GET']

    const err = await warnings(rules, config(open))

    expect(err.match(/(?:no route serves|the route) "[^"]+"/g)).toEqual([
      'no route serves "/api"',
      'the route "/api/v1/orders"',
      'no route serves "/apis"',
    ])
  })

  test('does not ignore a configuration that the user named and that is not valid', async () => {
    const cwd = await folder({ ...filesOf('clerk, /orders, GET'), 'x.yaml': 'routes: 7' })

    const named = await policy(['check', 'policies', '--config', 'x.yaml'], { cwd })
    const byDefault = await policy(['check', 'policies'], { cwd })

    expect(named).toMatchObject({ code: 3, out: '', err: expect.stringContaining('x.yaml:1:') })
    expect(byDefault).toMatchObject({ code: 0, err: '' })
  })

  test('looks at exclusions too', async () => {
    const cwd = await folder({
      ...filesOf('clerk, /api/v1/orders, GET'),
      'policies/exclusions.yaml': '- { method: GET, path: /health, reason: says nothing }',
      'x.yaml': config(routes),
    })

    const { err } = await policy(['check', '--config', 'x.yaml'], { cwd })

    expect(err).toMatch(/^policies\/exclusions\.yaml:1:1: warning: no route serves "\/health"/)
  })
})

describe('policy check --accounts', () => {
  const rules = ['editor, /orders, GET', 'viewr, /orders, POST', 'base, /orders, PUT']

  async function database() {
    const cwd = await folder({ ...filesOf(...rules), 'x.yaml': `jwt: { secret: ${secret} }` })
    await cp(inject('databaseTemplate'), join(cwd, 'data'), { recursive: true })
    return cwd
  }
  const check = (cwd: string) => policy(['check', '--accounts', '--config', 'x.yaml'], { cwd })

  test('warns of roles that no account can have', async () => {
    const { code, err } = await check(await database())

    expect(code).toBe(0)
    expect(err.split('\n')).toEqual([
      'policies/policy.csv:2:4: warning: role "viewr" has no row in sys_role, and neither has a role that inherits from it: no account can have it; did you mean "viewer"?',
      'policies/policy.csv:3:4: warning: role "base" has no row in sys_role, and neither has a role that inherits from it: no account can have it',
      '',
    ])
  })

  test('is an option of push too', async () => {
    const cwd = await database()
    const args = ['push', '--no-tests', '-m', 'x', '--accounts', '--config', 'x.yaml']
    const away = { POSTERN_REDIS__URL: `redis://127.0.0.1:${await freePort()}` }

    const { err } = await policy(args, { cwd, env: away })

    expect(err).toContain('warning: role "viewr" has no row in sys_role')
  })

  test('creates no database, and exits with 5 without one', async () => {
    const cwd = await folder({ ...filesOf(...rules), 'x.yaml': `jwt: { secret: ${secret} }` })

    const { code, out, err } = await check(cwd)

    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(err).toMatch(/^postern: --accounts: data has no embedded database: .+\n$/)
    expect(await readdir(cwd)).toEqual(['policies', 'x.yaml'])
  })

  test('exits with 5 when the database is unreachable, but shows errors of the files first', async () => {
    const url = `postgres://u:hunter2@127.0.0.1:${await freePort()}/x`
    const config = `jwt: { secret: ${secret} }\ndatabase: { url: "${url}" }`
    const sound = await check(await folder({ ...filesOf(...rules), 'x.yaml': config }))
    const broken = await check(await folder({ ...filesOf('clerk'), 'x.yaml': config }))

    expect(sound).toMatchObject({ code: 5, out: '' })
    expect(sound.err).not.toContain('hunter2')
    expect(broken).toMatchObject({ code: 3, err: expect.stringContaining('2 columns') })
  })
})

describe('new roles', () => {
  const redis = emptiedRedis()
  const env = () => ({ POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix })

  test('are warned of by check --against live, a revision or a directory', async () => {
    const document = documentOf(['clerk, /orders, GET'])
    await (await testStore(redis)).publish(document, undefined, { kind: 'push' })
    const cwd = await folder(filesOf('clerk, /orders, GET', 'clrek, /orders, POST'))
    await mkdir(join(cwd, 'old'))
    await writeFile(join(cwd, 'old/model.conf'), model)
    await writeFile(join(cwd, 'old/policy.csv'), 'p, clerk, /orders, GET\n')

    for (const [against, name] of [
      ['live', `the live policy ${document.revision}`],
      [document.revision.slice(0, 14), document.revision.slice(0, 14)],
      ['old', 'old'],
    ] as const) {
      const ran = await policy(['check', '--against', against], { cwd, env: env() })

      expect(ran.code).toBe(0)
      expect(ran.err).toContain(
        `policies/policy.csv:2:4: warning: role "clrek" is new: ${name} does not name it; did you mean "clerk"?\n`,
      )
      expect(ran.err).not.toContain('"clerk" is new')
    }
  })

  test('cannot be looked for when nothing is published or Redis is unreachable: exit code 5', async () => {
    const cwd = await folder(filesOf('clerk, /orders, GET'))
    const away = { POSTERN_REDIS__URL: `redis://127.0.0.1:${await freePort()}` }

    const empty = await policy(['check', '--against', 'live'], { cwd, env: env() })
    const unreachable = await policy(['check', '--against', 'live'], { cwd, env: away })

    expect(empty).toEqual({ code: 5, out: '', err: 'postern: nothing is published yet\n' })
    expect(unreachable).toMatchObject({ code: 5, out: '' })
  })

  test('are warned of by push, compared with the live policy', async () => {
    const first = documentOf(['clerk, /orders, GET'])
    await (await testStore(redis)).publish(first, undefined, { kind: 'push' })
    const cwd = await folder(filesOf('clerk, /orders, GET', 'auditor, /orders, POST'))
    const args = ['push', '--no-tests', '-m', 'x', '--yes', '--no-wait', '--over', 'live']

    const { code, err } = await policy(args, { cwd, env: env() })

    expect(code).toBe(0)
    expect(err).toContain(
      `policies/policy.csv:2:4: warning: role "auditor" is new: the live policy ${first.revision} does not name it\n`,
    )
  })

  test('are no news when nothing was published before', async () => {
    const cwd = await folder(filesOf('clerk, /orders, GET'))
    const args = ['push', '--no-tests', '-m', 'x', '--yes', '--no-wait']

    const { code, err } = await policy(args, { cwd, env: env() })

    expect(code).toBe(0)
    expect(err).not.toContain('warning')
  })
})

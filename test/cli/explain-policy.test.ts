import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { prefix, publish, testRedis } from '../support/published-policies.ts'
import { runCommand } from '../support/run-command.ts'
import { folder } from './policy-runner.ts'

async function workspace(changes: Readonly<Record<string, unknown>> = {}) {
  const base = {
    application: { mode: 'dev' },
    upstreams: { a: { targets: ['http://127.0.0.1:1'] } },
    routes: [{ path: '/orders', upstream: 'a' }],
  }
  const cwd = await folder({
    'postern.yaml': stringify({ ...base, ...changes }),
    'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
    'policies/policy.csv': 'p, clerk, /orders, GET\n',
  })
  return {
    explain: (line: string) =>
      runCommand(['policy', 'explain', ...line.split(' '), '--config', 'postern.yaml'], { cwd }),
  }
}

async function published() {
  const redis = await testRedis()
  const settings = { redis: { url: redis.url, prefix }, policy: { source: 'redis' } }
  return { redis, ...(await workspace(settings)) }
}

describe('the policy that postern policy explain asks', () => {
  test('is the live one if the gateway loads that, unless another is named', async () => {
    const { redis, explain } = await published()
    const old = await publish(redis.url, ['clerk, /orders, PUT'])
    const live = await publish(redis.url, ['clerk, /orders, POST'])

    const byDefault = await explain('clerk POST /orders')
    const named = await explain('clerk POST /orders --revision live --output json')
    const before = await explain(`clerk PUT /orders --revision ${old.slice(0, 14)}`)
    const directory = await explain('clerk GET /orders --policies policies')

    expect(byDefault).toMatchObject({ code: 0, err: '' })
    expect(byDefault.out).toContain(`  policy  live, ${live}\n`)
    expect(JSON.parse(named.out)).toMatchObject({ policy: 'live', revision: live, allowed: true })
    expect(before).toMatchObject({ code: 0, out: expect.stringContaining(`  policy  ${old}\n`) })
    expect(directory).toMatchObject({ code: 0 })
    expect(directory.out).toMatch(/ {2}policy {2}policies, r-[0-9a-f]{32}\n/)
  })

  test('is that of the directory if the gateway loads that', async () => {
    const { explain } = await workspace()

    expect((await explain('clerk GET /orders')).out).toContain('  policy  policies, r-')
  })

  test('cannot be asked when nothing is published, it does not exist, or Redis is unreachable', async () => {
    const { redis, explain } = await published()

    const nothing = await explain('clerk GET /orders')
    await publish(redis.url, ['clerk, /orders, PUT'])
    const missing = await explain('clerk GET /orders --revision r-000000000000')
    await redis.kill()
    const unreachable = await explain('clerk GET /orders')
    const directory = await explain('clerk GET /orders --policies policies')
    const anonymous = await explain('--anonymous GET /orders')

    expect(nothing).toMatchObject({ code: 5, err: 'postern: nothing is published yet\n' })
    expect(missing).toMatchObject({ code: 5, err: expect.stringContaining('does not exist') })
    expect(unreachable).toMatchObject({ code: 5, out: '', err: expect.stringContaining('Redis') })
    expect(directory.code).toBe(0)
    expect(anonymous).toMatchObject({ code: 1, err: '' })
  })

  test.each([
    [
      '--policies live',
      '--policies names a directory: write --revision live, or --policies ./live',
    ],
    ['--policies r-000000000000', '--policies names a directory: write --revision r-000000000000'],
    ['--revision policies', '--revision: "policies" is not a revision'],
    ['--policies x --revision live', '--policies and --revision are both given'],
  ])('is bad usage with %s', async (options, message) => {
    const { explain } = await workspace()

    const { code, err } = await explain(`clerk GET /orders ${options}`)

    expect(code).toBe(2)
    expect(err.split('\n')[0]).toContain(`postern: ${message}`)
  })

  test('is not asked with --anonymous', async () => {
    const { explain } = await workspace()

    const { code, err } = await explain('--anonymous GET /orders --revision live')

    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('--anonymous asks no policy'),
    })
  })
})

describe('postern policy explain', () => {
  test.each([
    ['orders', 'a path starts with "/"'],
    ['/orders?a#b', 'percent-encode "#", spaces and non-ASCII characters'],
    ['/orders?é', 'percent-encode'],
    ['/bücher', 'percent-encode'],
    ['/orders//7', 'two parsers could read this path differently'],
    ['/orders/%2e%2e/x', 'two parsers could read this path differently'],
    ['*', 'a path starts with "/"'],
    [`/orders?${'x'.repeat(20_000)}`, '414: path and query together exceed limits.targetBytes'],
  ])('says what is wrong with the target %.30s', async (target, words) => {
    const { explain } = await workspace()

    const { code, out } = await explain(`clerk GET ${target}`)

    expect(code).toBe(1)
    expect(out).toMatch(/^refused: the gateway answers 4/)
    expect(out).toContain(words)
  })

  test('names a role that the policy does not name, and the nearest that it does', async () => {
    const { explain } = await workspace()

    const mistyped = await explain('clrek GET /orders')
    const strange = await explain('角色 GET /orders --output json')
    const known = await explain('clerk PUT /orders')

    expect(mistyped).toMatchObject({
      code: 1,
      err: 'note: the policy does not name the role "clrek"; did you mean clerk?\n',
    })
    expect(JSON.parse(strange.out)).toMatchObject({
      notes: ['the policy does not name the role "角色"'],
    })
    expect(known).toMatchObject({ code: 1, err: '' })
  })

  test('says where forward-auth answers otherwise, and which routes are for it alone', async () => {
    const { explain } = await workspace({
      application: { mode: 'dev', trustedProxies: ['127.0.0.1'] },
      forwardAuth: { enabled: true },
      routes: [{ path: '/orders' }],
    })

    const own = await explain('clerk POST /api/v1/login')
    const spelled = await explain('clerk GET /%6Frders')
    const plain = await explain('clerk GET /orders')
    const unrouted = await explain('clerk GET /nowhere')

    expect(unrouted.out).toContain(
      'route   none: for forward-auth only, the public port answers 404',
    )
    expect(own.err).toBe(
      'note: forward-auth answers 404 to this request: the proxy must route this path to Postern\n',
    )
    expect(spelled.err).toContain('forward-auth answers 400 to this request: percent-encoded')
    expect(plain).toMatchObject({ code: 0, err: '' })
    expect(plain.out).toContain('upstream none: for forward-auth only')
  })
})

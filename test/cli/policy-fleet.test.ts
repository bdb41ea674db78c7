import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { openFeed } from '../stores/trusted-feed.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const redis = emptiedRedis()
const live = async () => (await testStore(redis)).head()

async function run(args: readonly string[], cwd?: string, types?: string) {
  const env = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix }
  return policy(args, { cwd: cwd ?? (await folder()), env, ...(types !== undefined && { types }) })
}

const copyOf = (rule: string, files: Readonly<Record<string, string>> = {}) =>
  folder({
    'policies/model.conf': model,
    'policies/policy.csv': `p, clerk, ${rule}\n`,
    ...files,
  })

async function push(rule: string, ...options: readonly string[]) {
  const always = ['push', '--no-tests', '-m', 'why', '--yes', '--over', 'live']
  return run([...always, ...options], await copyOf(rule))
}

/** Publishes a policy before any gateway reports, and returns its revision. */
async function published(rule: string): Promise<string> {
  expect((await push(rule, '--no-wait')).code).toBe(0)
  return (await live())?.revision ?? ''
}

/** What a replica says, once; `secondsAgo` is how long it has been silent since. */
async function report(
  id: string,
  revision: string,
  more: { lastError?: string; secondsAgo?: number; sequence?: number } = {},
) {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  const { lastError, secondsAgo = 0, sequence = 1 } = more
  const stale = lastError !== undefined
  const own = { id, revision, sequence, stale, lastError, version: '1.0.0' }
  await createReplicas(client).report(own)
  await client.close()
  await redis.client.zincrby(`${prefix}replicas:known`, -secondsAgo * 1000, id)
}

describe('a sequence that someone planted', () => {
  test.each([
    ['of no head', Number.MAX_SAFE_INTEGER],
    ['of the far future', 8.64e15 - 1],
  ])('%s does not end the wait for the replicas', async (_, sequence) => {
    const before = await published('/orders, GET')
    for (const id of ['gw-1', 'gw-2']) await report(id, before, { sequence })
    let ended = false
    const pushing = push('/stock, GET', '--wait', '60').finally(() => {
      ended = true
    })
    await until(async () => (await live())?.revision !== before)
    // Several rounds of the wait.
    for (let round = 0; round < 10; round++) await (await testStore(redis)).replicas()
    expect(ended).toBe(false)

    const revision = (await live())?.revision ?? ''
    for (const id of ['gw-1', 'gw-2']) await report(id, revision, { sequence })
    expect(await pushing).toMatchObject({ code: 0, out: `2/2 on ${revision}\n` })
  })

  test('makes a head that gateways and commands refuse, and the next push is loaded', async () => {
    const before = await published('/orders, GET')
    const gateway = await openFeed(redis, {})
    const head = { revision: before, sequence: Number.MAX_SAFE_INTEGER }
    await redis.client.set(`${prefix}policy:head`, JSON.stringify(head))
    await redis.client.publish(`${prefix}policy`, '{}')
    await until(() => gateway.state().stale)
    const refused = await push('/stock, GET')
    expect(gateway.state()).toMatchObject({ revision: before, sequence: expect.any(Number) })
    expect(refused.err).toContain('is not a valid policy head: delete that key and push')
    await redis.client.del(`${prefix}policy:head`)

    const done = await push('/stock, GET')
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^1\/1 on r-/) })
    expect(done.out).toContain(gateway.revision())
  })
})

describe('--replicas', () => {
  test.each([
    [1, 'push', 1, 'expected 1 replica, but 2 report: "postern policy status" shows all of them'],
    [2, 'push', 0, ''],
    [3, 'push', 1, 'expected 3 replicas, but 2 report: check redis.url and redis.prefix'],
    [3, 'rollback', 1, 'expected 3 replicas, but 2 report'],
  ])('%d of 2: %s exits with %d... %s', async (expected, command, code, text) => {
    const revision = await published('/orders, GET')
    for (const id of ['gw-1', 'gw-2']) await report(id, revision)

    const options = ['--replicas', String(expected), '--wait', '0.2']
    const ran =
      command === 'push'
        ? await push('/orders, GET', ...options)
        : await run(['rollback', revision, '--yes', ...options])

    expect(ran).toMatchObject({ code, out: `2/2 on ${revision}\n` })
    expect(ran.err).toContain(text)
  })

  test('waits until as many replicas report', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision)

    const pushing = push('/orders, GET', '--replicas', '2', '--wait', '60')
    await report('gw-2', revision)

    expect(await pushing).toMatchObject({ code: 0, out: `2/2 on ${revision}\n` })
  })

  test('counts neither lost replicas nor those that are behind', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision)
    await report('gw-2', revision, { secondsAgo: 60 })
    await report('gw-3', 'r-000000000000')

    const options = ['--allow-lost', '--wait', '0']
    expect((await push('/orders, GET', '--replicas', '3', ...options)).code).toBe(1)
    await report('gw-3', revision)
    expect((await push('/orders, GET', '--replicas', '3', ...options)).code).toBe(1)
    expect((await push('/orders, GET', '--replicas', '2', ...options)).code).toBe(0)
  })

  test('is in the JSON, and cannot be combined with --no-wait', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision)

    const ran = await push('/orders, GET', '--replicas', '2', '--wait', '0', '--output', 'json')

    expect(JSON.parse(ran.out)).toMatchObject({ convergence: { expected: 2, replicas: [{}] } })
    expect(await push('/orders, GET', '--replicas', '2', '--no-wait')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--replicas and --no-wait cannot be combined'),
    })
  })
})

describe('push --dry-run', () => {
  const dryRun = (cwd: string, ...options: readonly string[]) =>
    run(['push', '--no-tests', '-m', 'why', '--dry-run', ...options], cwd)

  test('shows the diff and what it would do, and changes nothing', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision)
    const before = await live()
    const cwd = await copyOf('/orders, POST')

    const ran = await dryRun(cwd, '--over', 'live')

    expect(ran.code).toBe(0)
    expect(ran.out).toMatch(
      new RegExp(`^dry run: would publish r-\\w+ over ${revision} and wait for 1 replica\n$`),
    )
    expect(ran.err).toMatch(/ {2}\+ {2}clerk {2}POST {2}\/orders /)
    expect(await live()).toEqual(before)
    expect(await (await testStore(redis)).history()).toHaveLength(1)
    expect(await readdir(join(cwd, 'policies'))).toEqual(['model.conf', 'policy.csv'])
  })

  test.each([
    [1, 'no replicas have reported', [], []],
    [1, 'gone-1 is lost', ['gone-1'], []],
    [0, 'gone-1 is lost', ['gone-1'], ['--allow-lost']],
    [1, 'expected 2 replicas, but 1 reports', ['gw-1'], ['--replicas', '2']],
    [0, '', [], ['--no-wait']],
  ])('exits with %d: %s', async (code, text, ids, options) => {
    const revision = await published('/orders, GET')
    for (const id of ids) await report(id, revision, { secondsAgo: id.startsWith('gone') ? 60 : 0 })

    const ran = await dryRun(await copyOf('/orders, POST'), '--over', 'live', ...options)

    expect(ran.code).toBe(code)
    expect(ran.err).toContain(text)
    expect(ran.out.includes('then exit with 1')).toBe(code === 1)
  })

  test.each([
    [3, 'an invalid policy', { 'policies/policy.csv': 'p, clerk' }, []],
    [
      4,
      'a failing test',
      {
        'policies/tests/x_test.yaml':
          '- { role: clerk, method: PUT, path: /orders, expect: allow }',
      },
      [],
    ],
    [1, 'a revision that the author has not seen', {}, ['--over', 'r-000000000000']],
  ])('exits with %d for %s', async (code, _, files, options) => {
    await published('/orders, GET')

    const ran = await dryRun(await copyOf('/orders, POST', files), ...options)

    expect(ran).toMatchObject({ code, out: '' })
  })

  test('says so when the policy is already live, and in JSON', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision)

    const same = await dryRun(await copyOf('/orders, GET'))
    const other = await dryRun(await copyOf('/orders, POST'), '--over', 'live', '--output', 'json')

    expect(same).toMatchObject({
      code: 0,
      out: 'dry run: would publish nothing and wait for 1 replica\n',
    })
    expect(JSON.parse(other.out)).toMatchObject({
      dryRun: true,
      ok: true,
      publishes: true,
      parent: revision,
      diff: expect.any(Object),
      replicas: [{ id: 'gw-1', lost: false }],
    })
  })
})

describe('a gateway', () => {
  test('reports why it keeps its policy, and forgets others after policy.replicaMemory', async () => {
    const { redis: own } = await startPublished({
      rules: ['clerk, /orders, GET'],
      policy: { replicaMemory: 60 },
    })
    const { sequence = 0 } = (await (await testStore(own)).head()) ?? {}
    const broken = { revision: 'r-000000000000', sequence: sequence + 1 }
    await own.client.set(`${prefix}policy:head`, JSON.stringify(broken))

    const error = `${prefix}policy:rev:r-000000000000 is missing: publish with "postern policy push"`
    const env = { POSTERN_REDIS__URL: own.url, POSTERN_REDIS__PREFIX: prefix }
    const status = async () => policy(['status'], { cwd: await folder(), env })
    await until(async () => (await status()).out.includes(` last error: ${error}`))
    expect(await own.client.pttl(`${prefix}replicas:known`)).toBeLessThanOrEqual(60_000)
  })
})

describe('the log line of a loaded policy', () => {
  test('names the author of the move, also of one that went back, and no signer', async () => {
    const { redis: own, postern, publish } = await startPublished({ rules: ['clerk, /a, GET'] })
    const store = await testStore(own)
    const first = await store.head()
    const second = await publish(['clerk, /b, GET'])
    const back = documentOf(['clerk, /a, GET'], { author: 'oncall' })
    await store.publish(back, second, { kind: 'rollback' })

    const loaded = () =>
      postern
        .logText()
        .split('\n')
        .filter((line) => line.includes('"policy loaded"'))
        .map((line) => JSON.parse(line))
    await until(() => loaded().at(-1)?.author === 'oncall')
    expect(loaded().at(0)).toMatchObject({ revision: first?.revision, author: 'ada', signers: [] })
    expect(loaded().at(-1)).toMatchObject({ revision: first?.revision, signers: [] })
  })
})

describe('the last error of a replica', () => {
  const lastError = 'the policy document of r-1 is invalid: \u001b[31mchecksum mismatch'
  const shown = 'the policy document of r-1 is invalid: \\u{1b}[31mchecksum mismatch'

  test('is in status, without its control codes', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision, { lastError })
    await report('gw-2', revision)

    const { out } = await run(['status'])
    const json = await run(['status', '--output', 'json'])

    expect(out).toContain(`\ngw-1 last error: ${shown}\n`)
    expect(out).not.toContain('gw-2 last error')
    expect(JSON.parse(json.out).replicas).toMatchObject([{ id: 'gw-1', lastError }, { id: 'gw-2' }])
  })

  test('is in what push prints about a replica that stays behind', async () => {
    const revision = await published('/orders, GET')
    await report('gw-1', revision, { lastError })

    const { err } = await push('/orders, POST', '--wait', '0')

    expect(err).toContain(`gw-1 uses ${revision}, cannot confirm it (reported `)
    expect(err).toContain(` s ago): ${shown}\n`)
  })

  test('is cut, whoever wrote it', async () => {
    await published('/orders, GET')
    await report('gw-1', 'r-000000000000', { lastError: 'x'.repeat(5000) })
    const stored = await redis.client.hget(`${prefix}replicas:reports`, 'gw-1')
    expect(stored?.length).toBeLessThan(1000)
    const planted = JSON.stringify({ version: '1', lastError: 'y'.repeat(100_000) })
    await redis.client.hset(`${prefix}replicas:reports`, 'gw-1', planted)

    expect((await run(['status'])).out.length).toBeLessThan(1500)
  })
})

describe('a record of the base that another user prepared', () => {
  test.each([
    ['a pipe', 'is not a regular file', (path: string) => void execFileSync('mkfifo', [path])],
    [
      'a link to elsewhere',
      'is a link that leaves',
      (path: string) => symlink('/etc/passwd', path),
    ],
    ['a huge file', 'is too large', (path: string) => writeFile(path, 'x'.repeat(100_000))],
  ])('is refused at once: %s', async (_, text, prepare) => {
    const cwd = await copyOf('/orders, GET')
    await mkdir(join(cwd, 'policies/.postern'))
    await prepare(join(cwd, 'policies/.postern/base'))

    const ran = await run(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait'], cwd)

    expect(ran.code).toBe(3)
    expect(ran.err).toContain(`policies/.postern/base: ${text}`)
    expect(await live()).toBeUndefined()
  })

  test('does not make push write through a link', async () => {
    const cwd = await copyOf('/orders, GET', { 'elsewhere/precious': 'mine\n' })
    await mkdir(join(cwd, 'policies/.postern'))
    await symlink(join(cwd, 'elsewhere/precious'), join(cwd, 'policies/.postern/.gitignore'))
    const other = await copyOf('/orders, GET', { 'elsewhere/precious': 'mine\n' })
    await symlink(join(other, 'elsewhere'), join(other, 'policies/.postern'))

    const args = ['push', '--no-tests', '-m', 'why', '--yes', '--no-wait']
    const inside = await run(args, cwd)
    const outside = await run(args, other)

    expect([inside.code, outside.code]).toEqual([0, 0])
    expect(outside.err).toContain('policies/.postern/base cannot be written')
    for (const directory of [cwd, other]) {
      expect(await readdir(join(directory, 'elsewhere'))).toEqual(['precious'])
      expect(await readFile(join(directory, 'elsewhere/precious'), 'utf8')).toBe('mine\n')
    }
  })
})

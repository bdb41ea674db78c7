import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDocument, type PolicyDocument } from '../../src/stores/policies/policy-store.ts'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import type { RunOptions } from '../support/run-command.ts'
import { until } from '../support/until.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const filesOf = (...rules: readonly string[]) => ({
  'policies/model.conf': model,
  'policies/policy.csv': `${rules.map((rule) => `p, ${rule}\n`).join('')}`,
})
const first = ['clerk, /orders, GET']
const second = ['clerk, /orders, GET', 'clerk, /orders, POST']

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.client.flushall()
})

/** Runs a command as somebody who has no configuration and names Redis in the environment. */
async function run(args: readonly string[], options: RunOptions = {}) {
  const env = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix, ...options.env }
  return policy(args, { cwd: await folder(), ...options, env })
}

async function push(
  rules: readonly string[],
  message = 'for a test',
  waiting: readonly string[] = ['--no-wait'],
) {
  const cwd = await folder(filesOf(...rules))
  const ran = await run(
    ['push', '--no-tests', '-m', message, '--yes', '--over', 'live', ...waiting],
    { cwd },
  )
  const head = await (await testStore(redis)).head()
  return { ...ran, cwd, revision: head?.revision ?? '' }
}

/** Says what a replica would say, once. */
async function report(id: string, revision: string, stale = false) {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  await createReplicas(client).report({ id, revision, sequence: 1, stale, version: '1.0.0' })
  await client.close()
}

describe('postern policy push', () => {
  test('checks, tests, shows the difference, publishes, and waits for the gateways', async () => {
    const gateway = await startPublished({ redis, rules: first })
    const cwd = await folder(filesOf(...second))
    await until(async () => (await (await testStore(redis)).replicas()).length === 1)

    const { code, out, err } = await run(
      ['push', '--no-tests', '-m', 'clerks may order', '--yes', '--over', 'live'],
      { cwd },
    )

    expect({ code, err }).toMatchObject({ code: 0 })
    expect(out).toMatch(/^1\/1 on r-[0-9a-f]{32}\n$/)
    expect(err).toMatch(/ {2}\+ {2}clerk {2}POST {2}\/orders .*\naccess widens: 1 gain /)
    expect(gateway.postern.upstream.requests).toEqual([])
    const answer = await gateway.postern.call('POST /orders', { as: 'clerk' })
    expect(answer.status).toBe(200)
    expect(gateway.postern.upstream.requests).toHaveLength(1)
  })

  test('keeps who, why and what came before', async () => {
    const { revision: parent } = await push(first, 'the first')

    const { revision } = await push(second, 'the second')

    const store = await testStore(redis)
    expect(await store.history(5)).toMatchObject([
      { revision, author: 'ada', message: 'the second', kind: 'push', origin: hostname() },
      { revision: parent, author: 'ada', message: 'the first', kind: 'push' },
    ])
    expect(await store.read(revision)).toMatchObject({ parent })
  })

  test.each([
    ['a person who says yes', 'yes', 0],
    ['a person who says nothing', '', 1],
    ['a person who says no', 'n', 1],
  ])('asks %s', async (_, types, code) => {
    const cwd = await folder(filesOf(...first))

    const ran = await run(['push', '--no-tests', '-m', 'x', '--no-wait'], { cwd, types })

    expect(ran.code).toBe(code)
    expect(ran.err).toContain('Type yes: ')
    expect((await (await testStore(redis)).head()) === undefined).toBe(code === 1)
  })

  test('does not publish without a terminal and without --yes', async () => {
    const ran = await run(['push', '--no-tests', '-m', 'x'], {
      cwd: await folder(filesOf(...first)),
    })

    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('not a terminal: review the diff above, then run again with --yes')
    expect(await (await testStore(redis)).head()).toBeUndefined()
  })

  test.each([
    [3, 'cannot be used', { 'policies/policy.csv': 'p, clerk' }],
    [
      4,
      'fails its tests',
      {
        'policies/tests/x_test.yaml': '- { role: clerk, method: GET, path: /orders, expect: deny }',
      },
    ],
    [1, 'has no rules', { 'policies/policy.csv': '# postern: empty' }],
  ])('exits with %d and publishes nothing when the policy %s', async (code, _, files) => {
    const cwd = await folder({ ...filesOf(...first), ...files })

    const ran = await run(['push', '--no-tests', '-m', 'x', '--yes'], { cwd })

    expect(ran).toMatchObject({ code, out: '' })
    expect(await (await testStore(redis)).head()).toBeUndefined()
  })

  test.each([
    ['no directory of tests', {}],
    ['no file in the directory of tests', { 'policies/tests/README': '' }],
  ])('refuses a policy with %s, unless told to publish it', async (_, files) => {
    const cwd = await folder({ ...filesOf(...first), ...files })

    const refused = await run(['push', '-m', 'x', '--yes', '--no-wait'], { cwd })
    const head = await (await testStore(redis)).head()
    const json = await run(['push', '-m', 'x', '--yes', '--no-wait', '--output', 'json'], { cwd })
    const told = await run(['push', '-m', 'x', '--yes', '--no-wait', '--no-tests'], { cwd })

    expect({ ...refused, head }).toEqual({
      code: 4,
      out: '',
      err: expect.stringMatching(/^postern: refused: policies has no tests: .+ --no-tests\n$/m),
      head: undefined,
    })
    expect([json.code, JSON.parse(json.out)]).toMatchObject([4, { ok: false, tests: 0 }])
    expect(told.code).toBe(0)
  })

  test('runs the tests also when told that none are needed', async () => {
    const cwd = await folder({
      ...filesOf(...first),
      'policies/tests/a_test.yaml':
        '- { role: clerk, method: GET, path: /orders, expect: deny, reason: why }',
    })

    const { code } = await run(['push', '-m', 'x', '--yes', '--no-wait', '--no-tests'], { cwd })

    expect(code).toBe(4)
  })

  test('says what failed as "policy test" does, with the dates of the files', async () => {
    const csv = '# postern: until 2099-01-01\np, clerk, /orders, GET\n'
    const cwd = await folder({
      ...{ ...filesOf(...first), 'policies/policy.csv': csv },
      'policies/tests/a_test.yaml':
        '- { role: clerk, method: GET, path: /orders, expect: deny, reason: why }',
    })

    const pushed = await run(['push', '-m', 'x', '--yes', '--output', 'json'], { cwd })
    const tested = await run(['test', '--output', 'json'], { cwd })

    expect([pushed.code, JSON.parse(pushed.out)]).toEqual([4, JSON.parse(tested.out)])
    expect(JSON.parse(pushed.out).failures[0].decision.rule.until).toBe('2099-01-01')
  })

  test('publishes a policy without rules when told to', async () => {
    const cwd = await folder({ ...filesOf(), 'policies/policy.csv': '# postern: empty' })

    const { code } = await run(
      ['push', '--no-tests', '-m', 'x', '--yes', '--allow-empty', '--no-wait'],
      {
        cwd,
      },
    )

    expect(code).toBe(0)
  })

  test('is refused, with what happened, when somebody was faster', async () => {
    await push(first)
    const cwd = await folder(filesOf(...second))
    const store = await testStore(redis)
    const faster = createDocument(
      [
        { name: 'model.conf', text: model },
        { name: 'a.csv', text: 'p, a, /a, GET' },
      ],
      {
        ...{ author: 'eve\u001b[2J', message: 'mine', parent: undefined, now: new Date() },
      },
    )
    const publishFirst = async () => {
      await store.publish(faster, (await store.head())?.revision, { kind: 'push' })
      return 'yes'
    }

    const ran = await run(['push', '--no-tests', '-m', 'x'], { cwd, types: publishFirst })

    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toMatch(
      /refused: r-\w+ was live when you looked, now r-\w+ is live \(push by eve\\u\{1b\}\[2J at .+: mine\)/,
    )
    expect(ran.err).not.toContain('\u001b')
    expect((await store.head())?.revision).toBe(faster.revision)
  })

  test('says that there is nothing to do when it is live already', async () => {
    const { cwd, revision } = await push(first)

    const { code, out, err } = await run(
      ['push', '--no-tests', '-m', 'again', '--yes', '--no-wait'],
      { cwd },
    )

    expect({ code, out }).toEqual({ code: 0, out: `${revision} is live; replicas not checked\n` })
    expect(err).toContain(`${revision} is already live`)
    expect(await (await testStore(redis)).history(5)).toHaveLength(1)
  })

  test('exits with 1 and names the replica that does not follow in time', async () => {
    await report('slow-1', 'r-000000000000')

    const { code, out, err, revision } = await push(first, 'for a test', ['--wait', '0'])

    expect({ code, out }).toEqual({ code: 1, out: `0/1 on ${revision}\n` })
    expect(err).toContain('slow-1 uses r-000000000000')
  })

  test('mends a published document that is broken', async () => {
    const { revision } = await push(first)
    await redis.client.set(`${prefix}policy:rev:${revision}`, '{"cut":')
    const cwd = await folder(filesOf(...second))

    const args = ['push', '--no-tests', '-m', 'x', '--yes', '--no-wait', '--over', revision]
    const { code, err } = await run(args, { cwd })

    expect(code).toBe(0)
    expect(err).toContain('is invalid')
  })

  test('answers in JSON, and talks on stderr', async () => {
    const cwd = await folder(filesOf(...first))

    const { code, out } = await run(
      ['push', '--no-tests', '-m', 'x', '--yes', '--no-wait', '--output', 'json', '--author', 'ci'],
      { cwd },
    )

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ head: { revision: expect.stringMatching(/^r-/) } })
    expect((await (await testStore(redis)).history(1))[0]?.author).toBe('ci')
  })

  test('exits with 5 and one line when Redis is unreachable', async () => {
    const cwd = await folder(filesOf(...first))
    const env = { POSTERN_REDIS__URL: 'redis://127.0.0.1:1' }

    const { code, err } = await run(['push', '--no-tests', '-m', 'x', '--yes'], { cwd, env })

    expect(code).toBe(5)
    expect(err.trimEnd().split('\n').at(-1)).toBe(
      'postern: Redis: connect ECONNREFUSED 127.0.0.1:1',
    )
  })
})

describe('postern policy pull', () => {
  test('writes what was pushed, to the byte, into a new directory', async () => {
    const { cwd, revision } = await push(second)

    const { code, out } = await run(['pull', 'fresh'], { cwd })

    expect({ code, out }).toEqual({ code: 0, out: `${revision}: wrote 2 files to fresh\n` })
    for (const name of ['model.conf', 'policy.csv']) {
      const [pulled, pushed] = await Promise.all(
        ['fresh', 'policies'].map((each) => readFile(join(cwd, each, name), 'utf8')),
      )
      expect(pulled).toBe(pushed)
    }
  })

  test('leaves other policy files alone unless forced, and tests always', async () => {
    const { revision } = await push(first)
    const cwd = await folder({
      ...filesOf(...second),
      'policies/more.csv': 'p, a, /a, GET',
      'policies/tests/x_test.yaml': 'x',
      'policies/notes.md': 'mine',
    })

    const refused = await run(['pull', revision], { cwd })
    const forced = await run(['pull', revision, 'policies', '--force'], { cwd })
    const again = await run(['pull', '--output', 'json'], { cwd })

    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('add --force')
    expect(forced.code).toBe(0)
    expect((await readdir(join(cwd, 'policies'))).sort()).toEqual([
      '.postern',
      'model.conf',
      'notes.md',
      'policy.csv',
      'tests',
    ])
    expect(JSON.parse(again.out)).toEqual({ revision, directory: 'policies', written: 0 })
  })

  test.each([
    ['nothing is published', ['pull'], 'nothing is published yet'],
    [
      'there is no such revision',
      ['pull', 'r-0123456789ab'],
      'revision r-0123456789ab does not exist: "postern policy history" shows all revisions',
    ],
  ])('says no when %s', async (_, args, words) => {
    const { code, out, err } = await run(args)

    expect({ code, out, err }).toEqual({ code: 5, out: '', err: `postern: ${words}\n` })
  })

  // Whoever can write to Redis could else overwrite any file of whoever pulls.
  test('refuses a document whose files lie elsewhere', async () => {
    const store = await testStore(redis)
    const sound = createDocument(
      [
        { name: 'model.conf', text: model },
        { name: 'a.csv', text: 'p, a, /a, GET' },
      ],
      { author: 'eve', message: 'x', parent: undefined, now: new Date() },
    )
    await store.publish(sound, undefined, { kind: 'push' })
    const cwd = await folder()
    const escaping = sound.files.map(({ name, text }) => ({ name: `../${name}`, text }))
    await redis.client.set(
      `${prefix}policy:rev:${sound.revision}`,
      sealed({ ...sound, files: escaping }),
    )

    const { code, err } = await run(['pull', 'here'], { cwd })

    expect(code).toBe(1)
    expect(err).toContain('not a policy file')
    expect(await readdir(cwd)).toEqual([])
  })
})

/** A document with the checksum that its content has now, as an attacker would make it. */
function sealed({ checksum: _, ...content }: PolicyDocument): string {
  return JSON.stringify({ ...content, checksum: hash('sha256', JSON.stringify(content)) })
}

describe('postern policy rollback', () => {
  test('puts an old revision in force again, as a new entry of the history', async () => {
    const old = await push(first)
    const young = await push(second)

    const { code, out, err } = await run(['rollback', old.revision, '--yes', '--no-wait'])

    expect({ code, out }).toEqual({
      code: 0,
      out: `${old.revision} is live; replicas not checked\n`,
    })
    expect(err).toContain('access narrows: 0 gains, 1 loss')
    const store = await testStore(redis)
    const moves = await store.history(5)
    expect(moves.map(({ kind, revision }) => [kind, revision])).toEqual([
      ['rollback', old.revision],
      ['push', young.revision],
      ['push', old.revision],
    ])
    expect(moves[0]?.message).toBe(`back to ${old.revision}`)
    expect(moves[0]?.sequence).toBeGreaterThan(moves[1]?.sequence ?? 0)
  })

  test('finds a revision by its first twelve digits', async () => {
    const old = await push(first)
    await push(second)

    const { code, out } = await run(['rollback', old.revision.slice(0, 14), '--yes', '--no-wait'])

    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(old.revision) })
  })

  test('says no to a revision that nobody published', async () => {
    const { code, err } = await run(['rollback', 'r-0123456789ab', '--yes'])

    expect({ code, err }).toEqual({
      code: 5,
      err: 'postern: revision r-0123456789ab does not exist: "postern policy history" shows all revisions\n',
    })
  })
})

describe('postern policy status', () => {
  test('lists who decides by what, and exits with 1 while somebody does not', async () => {
    const { revision } = await push(first)
    await report('a-1', revision)
    await report('b-2', 'r-000000000000')
    await report('c-3', revision, true)

    const { code, out } = await run(['status'])

    expect(code).toBe(1)
    expect(out).toMatch(
      new RegExp(`^1/3 on ${revision}\nREPLICA +REVISION +STATE +REPORTED +VERSION\n`),
    )
    expect(out).toMatch(/a-1 .+ current .+\nb-2 +r-000000000000 +behind .+\nc-3 .+ stale .+\n$/)
  })

  test('exits with 0 when all do, and answers in JSON', async () => {
    const { revision } = await push(first)
    await report('a-1', revision)

    const { code, out } = await run(['status', '--output', 'json'])

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      converged: true,
      head: { revision },
      signatures: 0,
      replicas: [{ id: 'a-1', revision, stale: false }],
    })
  })

  test('exits with 1 when nothing is published', async () => {
    expect(await run(['status'])).toMatchObject({ code: 1, out: 'nothing is published yet\n' })
  })
})

describe('postern policy history', () => {
  test('lists moves newest first, and obeys no escape sequence in them', async () => {
    await push(first, 'one')
    await push(second, 'two \u001b[2J')

    const { code, out } = await run(['history', '--limit', '1'])
    const all = await run(['history', '--output', 'json'])

    expect(code).toBe(0)
    expect(out).toMatch(
      /^AT +REVISION +KIND +AUTHOR +WHY\n\S+ +r-\w+ +push +ada \(unverified\) +two \\u\{1b\}\[2J\n$/,
    )
    expect(JSON.parse(all.out)).toHaveLength(2)
  })
})

describe('postern policy diff and explain', () => {
  test('read what is live and what was', async () => {
    const old = await push(first)
    const { cwd } = await push(second)
    await writeFile(join(cwd, 'policies/policy.csv'), 'p, clerk, /orders, GET\n')

    const withLive = await run(['diff'], { cwd })
    const between = await run(['diff', old.revision, 'live'], { cwd })
    const answer = await run(['explain', 'clerk', 'POST', '/orders', '--revision', 'live'], { cwd })

    expect(withLive).toMatchObject({ code: 0, out: expect.stringContaining('access narrows') })
    expect(between).toMatchObject({ code: 1, out: expect.stringContaining('access widens') })
    expect(answer).toMatchObject({ code: 0, out: expect.stringContaining('policy.csv:2') })
  })

  test('take Redis from the configuration', async () => {
    await push(first)
    const config = `application: { mode: dev }\nredis: { url: '${redis.url}', prefix: '${prefix}' }\n`
    const cwd = await folder({
      ...filesOf(...first),
      'x.yaml': config,
      'y.yaml': 'application: { mode: dev }\n',
    })

    const found = await policy(['diff', '--config', 'x.yaml'], { cwd })
    const missing = await policy(['diff', '--config', 'y.yaml'], { cwd })

    expect(found).toMatchObject({ code: 0, out: expect.stringContaining('no difference') })
    expect(missing).toMatchObject({
      code: 3,
      err: expect.stringContaining('redis.url is required'),
    })
  })
})

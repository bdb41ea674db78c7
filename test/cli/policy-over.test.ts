import { cpSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readBase, writeBase } from '../../src/operations/publish/base.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import type { RunOptions } from '../support/run-command.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')

const redis = emptiedRedis()

const live = async () => (await (await testStore(redis)).head())?.revision ?? ''

async function run(args: readonly string[], options: RunOptions = {}) {
  const env = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix }
  return policy(args, { cwd: await folder(), ...options, env })
}

/** A working copy with these rules, which says nothing about where they come from. */
const copyOf = (...rules: readonly string[]) =>
  folder({
    'policies/model.conf': model,
    'policies/policy.csv': rules.map((rule) => `p, clerk, ${rule}\n`).join(''),
  })

const edit = (cwd: string, ...rules: readonly string[]) =>
  writeFile(join(cwd, 'policies/policy.csv'), rules.map((rule) => `p, clerk, ${rule}\n`).join(''))

const push = (cwd: string, ...more: readonly string[]) =>
  run(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait', ...more], { cwd })

/** Publishes a first policy, and gives two working copies of it, one pulled and one copied. */
async function twoCopies() {
  const ann = await copyOf('/orders, GET')
  expect((await push(ann)).code).toBe(0)
  const base = await live()
  const bob = await folder()
  expect((await run(['pull', 'live', 'policies'], { cwd: bob })).code).toBe(0)
  return { ann, bob, base }
}

describe('the second of two pushes from one base', () => {
  test('is refused, with who published what and what to do', async () => {
    const { ann, bob, base } = await twoCopies()
    await edit(ann, '/orders, GET', '/orders, POST')
    await edit(bob, '/orders, GET', '/orders, PUT')

    const first = await push(ann)
    const published = await live()
    const second = await push(bob)
    const asked = await run(['push', '--no-tests', '-m', 'why', '--no-wait'], {
      cwd: bob,
      types: 'yes',
    })

    expect(first.code).toBe(0)
    for (const refused of [second, asked]) {
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toMatch(
        `refused: policies comes from ${base}, but ${published} is live (push by ada at `,
      )
      expect(refused.err).toContain(`postern policy diff ${base} ${published}`)
      expect(refused.err).toContain(`--over ${published}`)
    }
    expect(await live()).toBe(published)
  })

  test('passes once the first is seen, and the copy then knows what it is made from', async () => {
    const { ann, bob } = await twoCopies()
    await edit(ann, '/orders, GET', '/orders, POST')
    await push(ann)
    await edit(bob, '/orders, GET', '/orders, POST', '/orders, PUT')

    const merged = await push(bob, '--over', (await live()).slice(0, 14))
    await edit(bob, '/orders, GET', '/orders, POST')
    const next = await push(bob)

    expect(merged.code).toBe(0)
    expect(next.code).toBe(0)
    const base = await readFile(join(bob, 'policies/.postern/base'), 'utf8')
    expect(base).toMatch(new RegExp(`^[0-9a-f]{12} ${await live()}\n$`))
    expect(await readFile(join(bob, 'policies/.postern/.gitignore'), 'utf8')).toBe('*\n')
  })

  test('is refused after a rollback too, and of a copy that was made with cp', async () => {
    const { ann, base } = await twoCopies()
    await edit(ann, '/orders, GET', '/orders, POST')
    await push(ann)
    const copy = await folder()
    cpSync(join(ann, 'policies'), join(copy, 'policies'), { recursive: true })
    await run(['rollback', base, '--yes', '--no-wait'])
    await edit(copy, '/orders, GET', '/orders, POST', '/orders, PUT')

    const refused = await push(copy)

    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('(rollback by ada') })
    expect(await live()).toBe(base)
  })

  test('of two at the same moment, exactly one is published', async () => {
    const { ann, bob } = await twoCopies()
    for (let round = 0; round < 5; round++) {
      const base = await live()
      await edit(ann, `/orders/${round}, GET`)
      await edit(bob, `/orders/${round}, PUT`)

      const codes = await Promise.all(
        [ann, bob].map(async (cwd) => (await push(cwd, '--over', base)).code),
      )

      expect(codes.toSorted()).toEqual([0, 1])
    }
  })
})

describe('files that do not say what they were made from', () => {
  test('are published when nothing is, and not over a live policy unseen', async () => {
    const first = await copyOf('/orders, GET')
    const other = await copyOf('/orders, PUT')

    expect((await push(first)).code).toBe(0)
    const refused = await push(other)
    const named = await push(other, '--over', await live())

    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('policies does not record which revision it comes from')
    expect(refused.err).toContain('access widens')
    expect(named.code).toBe(0)
  })

  test('need --yes and --over where no person can be asked, and both are named at once', async () => {
    await push(await copyOf('/orders, GET'))
    const cwd = await copyOf('/orders, PUT')

    const refused = await run(['push', '--no-tests', '-m', 'why', '--no-wait'], { cwd })

    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(`run again with --yes --over ${await live()}`)
  })

  test('are what a directory holds in which nothing can be noted, and pull says so', async () => {
    await push(await copyOf('/orders, GET'))
    const cwd = await folder({ 'policies/.postern': 'a file where a directory has to be' })

    const pulled = await run(['pull', 'live', 'policies'], { cwd })

    expect(pulled.code).toBe(0)
    expect(pulled.err).toContain(
      'note: policies/.postern/base cannot be written: the next push needs --over',
    )
  })

  test('are published by a person who has seen the difference', async () => {
    await push(await copyOf('/orders, GET'))
    const other = await copyOf('/orders, PUT')

    const ran = await run(['push', '--no-tests', '-m', 'why', '--no-wait'], {
      cwd: other,
      types: 'yes',
    })

    expect(ran.code).toBe(0)
  })

  test('are already live when they say the same, whatever --over names', async () => {
    await push(await copyOf('/orders, GET'))

    const again = await push(await copyOf('/orders, GET'))
    const over = await push(await copyOf('/orders, GET'), '--over', 'r-000000000000')

    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('already live') })
    expect(over.code).toBe(0)
  })
})

describe('--over', () => {
  test.each([
    ['a revision that is not live', 1, 'r-000000000000', 'but r-'],
    ['no revision', 2, 'yesterday', '--over: "yesterday" is neither "live" nor a revision'],
  ])('with %s publishes nothing', async (_, code, over, words) => {
    await push(await copyOf('/orders, GET'))
    const before = await live()

    const pushed = await push(await copyOf('/orders, PUT'), '--over', over)
    const rolled = await run(['rollback', before, '--yes', '--no-wait', '--over', over])

    expect(pushed).toMatchObject({ code, err: expect.stringContaining(words) })
    if (code === 2) expect(rolled.code).toBe(2)
    expect(await live()).toBe(before)
  })

  test('keeps a rollback from undoing what was published meanwhile', async () => {
    const cwd = await copyOf('/orders, GET')
    await push(cwd)
    const old = await live()
    await edit(cwd, '/orders, PUT')
    await push(cwd)
    const seen = await live()
    await edit(cwd, '/orders, POST')
    await push(cwd)

    const refused = await run(['rollback', old, '--yes', '--no-wait', '--over', seen])
    const passed = await run(['rollback', old, '--yes', '--no-wait', '--over', await live()])

    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('push by ada') })
    expect(passed.code).toBe(0)
  })

  test('with a revision is refused where nothing is published', async () => {
    const ran = await push(await copyOf('/orders, GET'), '--over', 'r-000000000000')

    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('nothing is published') })
  })
})

describe('the note of what files were made from', () => {
  test('is for each Redis and prefix, so that one copy can be pushed to several', async () => {
    const other = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: '{staging}:' }
    const pushTo = (cwd: string, env: Readonly<Record<string, string>>) =>
      policy(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait'], { cwd, env })
    const production = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix }
    const cwd = await copyOf('/orders, GET')
    await pushTo(cwd, other)
    await pushTo(cwd, production)

    await edit(cwd, '/orders, PUT')
    const codes = [await pushTo(cwd, other), await pushTo(cwd, production)].map(({ code }) => code)

    expect(codes).toEqual([0, 0])
    const base = await readFile(join(cwd, 'policies/.postern/base'), 'utf8')
    expect(base.trimEnd().split('\n')).toHaveLength(2)
  })

  test('names neither the address of Redis nor its password', async () => {
    const cwd = await copyOf('/orders, GET')
    await redis.client.call('ACL', 'SETUSER', 'ann', 'on', '>pass@word', '~*', '&*', '+@all')
    const url = redis.url.replace('//', '//ann:pass%40word@')
    const env = { POSTERN_REDIS__URL: url, POSTERN_REDIS__PREFIX: prefix }

    const named = await policy(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait'], {
      cwd,
      env,
    })
    await edit(cwd, '/orders, PUT')
    const plain = await push(cwd)

    expect([named.code, plain.code]).toEqual([0, 0])
    const base = await readFile(join(cwd, 'policies/.postern/base'), 'utf8')
    expect(base).toMatch(/^[0-9a-f]{12} r-[0-9a-f]+\n$/)
  })

  test('stays that of its Redis when the password for the sentinels changes, and only of that one', async () => {
    const cwd = await copyOf('/orders, GET')
    const placeAt = (host: string, password: string) => {
      const url = `redis+sentinel://${host}/postern?sentinelPassword=${password}`
      const timeouts = { connectTimeoutMs: 1, commandTimeoutMs: 1 }
      return { directory: 'policies', cwd, redis: { url, prefix, ...timeouts } }
    }

    await writeBase(placeAt('staging', 'old@1'), 'r-3f2a9c81d604')

    expect(await readBase(placeAt('staging', 'new@2'))).toBe('r-3f2a9c81d604')
    expect(await readBase(placeAt('production', 'old@1'))).toBeUndefined()
  })

  test('is refused when it is none', async () => {
    const cwd = await copyOf('/orders, GET')
    await mkdir(join(cwd, 'policies/.postern'))
    await writeFile(join(cwd, 'policies/.postern/base'), 'garbage')

    const ran = await push(cwd)

    expect(ran).toMatchObject({ code: 3, err: expect.stringContaining('policies/.postern/base') })
    expect(await live()).toBe('')
  })

  test('is not part of the policy, and a file in its place does no harm', async () => {
    const cwd = await copyOf('/orders, GET')
    await writeFile(join(cwd, 'policies/.postern'), 'a file')

    const ran = await push(cwd)

    expect(ran).toMatchObject({ code: 0, err: expect.stringContaining('cannot be written') })
    expect((await run(['diff'], { cwd })).out).toContain('no difference')
  })
})

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import type { RunOptions } from '../support/run-command.ts'
import { folder, policy } from './policy-runner.ts'

const files = {
  'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
  'policies/policy.csv': 'p, clerk, /orders, GET\n',
}

const redis = emptiedRedis()

async function run(args: readonly string[], { env, ...options }: RunOptions = {}) {
  const where = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix, ...env }
  return policy(args, { cwd: await folder(files), ...options, env: where })
}

const push = (options?: RunOptions) =>
  run(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait'], options)

/** The URL of a user who may do everything but this. */
async function urlWithout(command: string): Promise<string> {
  await redis.client.call('ACL', 'SETUSER', 'eve', 'reset', 'on', '>secret', '~*', '&*', '+@all')
  await redis.client.call('ACL', 'SETUSER', 'eve', `-${command}`)
  return redis.url.replace('//', '//eve:secret@')
}

describe('postern policy push', () => {
  test.each([
    ['was lost', (key: string) => redis.client.del(key)],
    ['is garbage', (key: string) => redis.client.set(key, 'garbage')],
    [
      'is cut short',
      async (key: string) => redis.client.set(key, `${await redis.client.get(key)}`.slice(0, -9)),
    ],
  ])('publishes the live revision again when its document %s', async (_, spoil) => {
    await push()
    const store = await testStore(redis)
    const before = await store.head()
    await spoil(`${prefix}policy:rev:${before?.revision}`)

    const { code, err } = await push()

    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('published r-') })
    const head = await store.head()
    expect(head?.sequence).toBeGreaterThan(before?.sequence ?? 0)
    expect(await store.read(head?.revision ?? '')).toMatchObject({ message: 'why' })
  })

  test('replaces a live policy that can no longer be used', async () => {
    const content = {
      at: '2026-01-01T00:00:00.000Z',
      author: 'eve',
      files: [{ name: 'policy.csv', text: 'p, nonsense\n' }],
      message: '',
      revision: 'r-000000000000',
    }
    const checksum = hash('sha256', JSON.stringify(content))
    const document = JSON.stringify({ ...content, checksum })
    await redis.client.set(`${prefix}policy:rev:${content.revision}`, document)
    const head = JSON.stringify({ revision: content.revision, sequence: 7 })
    await redis.client.set(`${prefix}policy:head`, head)

    const args = [
      'push',
      '--no-tests',
      '-m',
      'why',
      '--yes',
      '--no-wait',
      '--over',
      content.revision,
    ]
    const { code, err } = await run(args)

    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('is invalid') })
    expect((await (await testStore(redis)).head())?.sequence).toBeGreaterThan(7)
  })

  test('leaves a live revision alone whose document is sound', async () => {
    await push()
    const store = await testStore(redis)
    const before = await store.head()

    const { code, err } = await push()

    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('already live') })
    expect(await store.head()).toEqual(before)
  })

  test.each(['text', 'json'])(
    'does not say that all is well when nobody can be asked (%s)',
    async (output) => {
      const env = { POSTERN_REDIS__URL: await urlWithout('zrange') }

      const { code, out, err } = await run(
        ['push', '--no-tests', '-m', 'why', '--yes', '--wait', '0', '--output', output],
        { env },
      )

      expect(code).toBe(5)
      expect(err).toContain('published r-')
      // Redis says it so inside a script, with or without NOPERM by its version.
      expect(output === 'json' ? JSON.parse(out).convergence.problem : err).toMatch(
        /NOPERM|can't run this command/,
      )
    },
  )

  test('does not obey what others wrote into their reports', async () => {
    await push()
    await redis.client.zadd(`${prefix}replicas`, Date.now(), 'a\u001b[2Jb')
    const report = JSON.stringify({ version: '1', revision: 'r-\u001b[31m' })
    await redis.client.set(`${prefix}replica:a\u001b[2Jb`, report)

    const { code, err } = await run(['push', '--no-tests', '-m', 'why', '--yes', '--wait', '0'])

    expect(code).toBe(1)
    expect(err).toContain('a\\u{1b}[2Jb uses r-\\u{1b}[31m')
  })
})

describe('a configuration that cannot be used', () => {
  const broken = 'redis: { prefix: "{shop}:" }\nnonsense: true\n'

  test.each([
    ['named on the command line', ['--config', 'shop.yaml'], {}],
    ['named in the environment', [], { POSTERN_CONFIG: 'shop.yaml' }],
  ])('and was %s is not replaced by guesses about the keys', async (_, args, env) => {
    const cwd = await folder({ ...files, 'shop.yaml': broken })

    const ran = await run(['push', '--no-tests', '-m', 'x', '--yes', 'policies', ...args], {
      cwd,
      env,
    })

    expect(ran).toMatchObject({ code: 3, err: expect.stringContaining('shop.yaml:2') })
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('and was not named is said to be left out', async () => {
    const cwd = await folder({ ...files, 'config/postern.yaml': broken })
    const env = { POSTERN_REDIS__URL: redis.url }

    const { err } = await policy(['push', '--no-tests', '-m', 'x', '--yes', '--wait', '0'], {
      cwd,
      env,
    })

    expect(err).toContain('note: config/postern.yaml is not valid, so redis.prefix is {postern}:')
    expect(err).toContain('POSTERN_REDIS__PREFIX')
  })
})

describe('postern policy status', () => {
  test.each(['inf', '-inf', '1e300'])('passes over a replica that reported at %s', async (time) => {
    await push()
    await redis.client.zadd(`${prefix}replicas`, time, 'odd')
    await redis.client.set(`${prefix}replica:odd`, '{"version":"1"}')

    expect(await run(['status'])).toMatchObject({ code: 1, out: expect.stringMatching(/^0\/0 on/) })
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createReplicas } from '../../src/stores/policies/replicas/replicas.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const env = () => ({ POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix })

const redis = emptiedRedis()

const run = async (args: readonly string[], cwd?: string) =>
  policy(args, { cwd: cwd ?? (await folder()), env: env() })

async function push(rule: string, ...options: readonly string[]) {
  const cwd = await folder({
    'policies/model.conf': model,
    'policies/policy.csv': `p, clerk, ${rule}\n`,
  })
  const ran = await run(
    ['push', '--no-tests', '-m', 'why', '--yes', '--over', 'live', ...options],
    cwd,
  )
  return { ...ran, revision: (await (await testStore(redis)).head())?.revision ?? '' }
}

/** Says what a replica would say, once; `secondsAgo` is how long it has been silent since. */
async function report(id: string, revision: string, secondsAgo = 0) {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const client = createRedis({ url: redis.url, prefix, ...timeouts })
  await client.connect()
  await createReplicas(client).report({ id, revision, sequence: 1, stale: false, version: '1.0.0' })
  await client.close()
  await redis.client.zincrby(`${prefix}replicas:known`, -secondsAgo * 1000, id)
}

describe('a replica that stopped reporting', () => {
  test('is listed as lost by push, which exits with 1 without waiting for it', async () => {
    const { revision: old } = await push('/first, GET', '--no-wait')
    await report('gone-1', old, 60)

    const { code, out, err, revision } = await push('/first, POST', '--wait', '600')

    expect({ code, out }).toEqual({ code: 1, out: `0/1 on ${revision}\n` })
    expect(err).toContain('gone-1 is lost: last report 60 s ago')
    expect(err).toContain(`if it still runs, it uses ${old}`)
    expect(err).toContain('--forget ID')
  })

  test('is listed as lost by rollback and status although it had the live revision', async () => {
    const { revision } = await push('/first, GET', '--no-wait')
    await report('alive-1', revision)
    await report('gone-1', revision, 3600)

    const status = await run(['status'])
    const rollback = await run(['rollback', revision, '--yes'])
    const json = await run(['status', '--output', 'json'])

    expect(status.code).toBe(1)
    expect(status.out).toMatch(
      new RegExp(`^1/2 on ${revision}\n(?:.*\n)alive-1 .* current .*\ngone-1 .* lost .*\n$`),
    )
    expect(rollback).toMatchObject({ code: 1, out: `1/2 on ${revision}\n` })
    expect(JSON.parse(json.out)).toMatchObject({
      converged: false,
      replicas: [
        { id: 'alive-1', lost: false },
        { id: 'gone-1', lost: true },
      ],
    })
  })

  test('does not fail a push that allows for it', async () => {
    await report('gone-1', 'r-000000000000', 60)

    const { code, err } = await push('/first, GET', '--allow-lost')

    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('gone-1 is lost') })
  })

  test('can be forgotten, by its id or with all that are lost', async () => {
    const { revision } = await push('/first, GET', '--no-wait')
    await report('alive-1', revision)
    for (const id of ['gone-1', 'gone-2', 'gone-3']) await report(id, revision, 60)

    const one = await run(['status', '--forget', 'gone-2'])
    const unknown = await run(['status', '--forget', 'gone-2'])
    const reporting = await run(['status', '--forget', 'alive-1'])
    const rest = await run(['status', '--forget', 'lost'])

    expect(one).toMatchObject({ code: 1, out: expect.stringContaining(`1/3 on ${revision}`) })
    expect(unknown).toMatchObject({
      code: 1,
      err: 'postern: replica gone-2 does not exist: "postern policy status" shows all replicas\n',
    })
    expect(reporting).toMatchObject({ code: 1, err: expect.stringContaining('still reports') })
    expect(rest).toMatchObject({ code: 0, out: expect.stringContaining(`1/1 on ${revision}`) })
  })
})

describe('a policy that no gateway has confirmed', () => {
  test.each([
    ['push', ['--wait', '0'], 1],
    ['push', ['--allow-lost', '--wait', '0'], 0],
    ['push', ['--no-wait'], 0],
  ])('%s %j exits with %d', async (_, options, code) => {
    const ran = await push('/first, GET', ...options)

    expect(ran.code).toBe(code)
    const isChecked = !options.includes('--no-wait')
    expect(ran.err.includes('no replicas have reported to this Redis')).toBe(isChecked)
  })

  test('is no success for rollback and status either', async () => {
    const { revision } = await push('/first, GET', '--no-wait')

    const rollback = await run(['rollback', revision, '--yes', '--wait', '0'])
    const status = await run(['status'])

    expect(rollback).toMatchObject({ code: 1, out: `0/0 on ${revision}\n` })
    expect(status).toMatchObject({ code: 1, out: `0/0 on ${revision}\n` })
    expect(status.err).toContain('no replicas have reported to this Redis')
  })

  test('is not published with both --wait and --no-wait', async () => {
    const ran = await push('/first, GET', '--no-wait', '--wait', '3')

    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('cannot be combined') })
  })
})

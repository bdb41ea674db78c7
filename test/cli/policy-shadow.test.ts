import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, publish, testStore } from '../support/published-policies.ts'
import type { RunOptions } from '../support/run-command.ts'
import { folder, policy } from './policy-runner.ts'
import { type Said, sayAs } from './shadow-replica.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const redis = emptiedRedis()

const run = async (args: readonly string[], options: RunOptions = {}) =>
  policy(args, {
    cwd: await folder(),
    env: { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix },
    ...options,
  })

const directory = (...rules: readonly string[]) =>
  folder({
    'policies/model.conf': model,
    'policies/policy.csv': rules.map((rule) => `p, ${rule}\n`).join(''),
  })

async function pushShadow(rules: readonly string[], ...options: readonly string[]) {
  const args = ['push', '--shadow', '--no-tests', '-m', 'to see', '--yes', '--no-wait', ...options]
  const ran = await run(args, { cwd: await directory(...rules) })
  const head = (await (await testStore(redis)).shadow.read())?.head
  return { ...ran, revision: head?.revision ?? '', sequence: head?.sequence ?? 0 }
}

const time = '2026-11-16T12:00:00.000Z'
const denied = (count: number, requestId: string, last = time) => ({
  ...({ would: 'deny', role: 'clerk', method: 'POST', count, first: time, last } as const),
  ...{ requestId, path: '/orders', userId: '7' },
  live: {
    step: 'rule',
    rule: { file: 'policy.csv', line: 2, text: 'p, clerk, /orders, POST' },
  },
  shadow: { step: 'none' },
})

const say = (sequence: number | undefined, said: Said) => sayAs(redis, sequence, said)

const first = ['clerk, /orders, GET', 'clerk, /orders, POST']
const second = ['clerk, /orders, GET']

describe('postern policy push --shadow', () => {
  test('shows the difference, stores the shadow, and leaves the live policy alone', async () => {
    const live = await publish(redis.url, first)

    const { code, out, err, revision } = await pushShadow(second)

    expect({ code, out }).toEqual({
      code: 0,
      out: `${revision} is the shadow; replicas not checked\n`,
    })
    expect(err).toContain('access narrows: 0 gains, 1 loss')
    const store = await testStore(redis)
    expect((await store.head())?.revision).toBe(live)
    expect((await store.history(5)).map((move) => move.revision)).toEqual([live])
    expect((await store.shadow.read())?.head).toMatchObject({
      ...{ author: 'ada', message: 'to see', base: live },
    })
  })

  test('replaces another shadow and says whose, and leaves the same one as it is', async () => {
    await publish(redis.url, first)
    const before = await pushShadow(second)
    const again = await pushShadow(second)

    const { err, revision } = await pushShadow(['clerk, /other, GET'])

    expect(again.err).toContain(`${before.revision} is already the shadow: counting continues`)
    expect(again.sequence).toBe(before.sequence)
    expect(err).toContain(`replaces the shadow ${before.revision}, pushed by ada: to see`)
    expect(revision).not.toBe(before.revision)
  })

  test('refuses the live policy', async () => {
    await publish(redis.url, first)

    const { code, err } = await pushShadow(first)

    expect(code).toBe(1)
    expect(err).toMatch(/r-\w+ is already live: as a shadow it would never differ/)
  })

  test.each([
    ['asks', { types: 'no' }, 1, 'Type yes: '],
    ['asks and does it', { types: 'yes' }, 0, 'is the shadow'],
    ['needs --yes without a terminal', {}, 1, 'run again with --yes'],
  ])('%s', async (_, options, code, text) => {
    const args = ['push', '--shadow', '--no-tests', '-m', 'x', '--no-wait']

    const ran = await run(args, { cwd: await directory(...first), ...options })

    expect(ran.code).toBe(code)
    expect(ran.err).toContain(text)
  })

  test('with --dry-run stores nothing', async () => {
    const { code, out, revision } = await pushShadow(first, '--dry-run')

    expect(code).toBe(0)
    expect(out).toMatch(/^dry run: would make r-\w+ the shadow\n$/)
    expect(revision).toBe('')
  })

  test('with --over is bad usage', async () => {
    const { code, err } = await pushShadow(first, '--over', 'live')

    expect(code).toBe(2)
    expect(err).toContain('--over is for the live policy')
  })

  test('waits for the replicas, and lists those that do not evaluate it', async () => {
    await say(undefined, { id: 'old-1' })

    const args = ['push', '--shadow', '--no-tests', '-m', 'x', '--yes', '--wait', '0']
    const { code, out, err } = await run(args, { cwd: await directory(...first) })

    expect(code).toBe(1)
    expect(out).toMatch(/^0\/1 evaluate r-\w+\n$/)
    expect(err).toMatch(/old-1 +missing .* has not reported about it \(version 0\.2\.0\)/)
  })

  test('tests and checks the directory as push does', async () => {
    const cwd = await directory('clerk, no-slash, GET')

    const { code } = await run(['push', '--shadow', '-m', 'x', '--yes'], { cwd })

    expect(code).toBe(3)
    expect(await (await testStore(redis)).shadow.read()).toBeUndefined()
  })
})

describe('postern policy shadow', () => {
  test('adds up what all replicas saw, those that ended included', async () => {
    const live = await publish(redis.url, first)
    const { revision, sequence } = await pushShadow(second)
    const later = '2026-11-16T12:30:00.000Z'
    const seen = { evaluated: 100, wouldDeny: 3, wouldAllow: 0, against: [live] }
    const evidence = { ...seen, disagreements: [denied(3, 'q-1')] }
    await say(sequence, { id: 'gw-1', evidence })
    await say(sequence, {
      ...{ id: 'gw-0', runs: false, evaluatingMs: 60_000 },
      evidence: { ...seen, disagreements: [denied(3, 'q-2', later)] },
    })
    await say(sequence, { id: 'gw-2', evaluatingMs: 0, problem: 'too \u001b[2J large' })

    const { code, out } = await run(['shadow'])
    const json = JSON.parse((await run(['shadow', '--output', 'json'])).out)

    expect(code).toBe(0)
    expect(out).toContain(`shadow ${revision}, pushed by ada at `)
    expect(out).toContain(
      '1 of 2 replicas evaluates it: 200 decisions, 6 would be denied, 0 would be allowed\n',
    )
    expect(out).toMatch(/gw-1 +evaluating +2 h +100 +3 +0\n/)
    expect(out).toMatch(/gw-2 +failed +- .*too \\u\{1b\}\[2J large\n/)
    expect(out).toMatch(/gw-0 +ended +1 min +100 +3 +0\n/)
    expect(out).toMatch(
      /clerk +POST +6 +2026-11-16T12:00:00.000Z +2026-11-16T12:30:00.000Z +q-2 +\/orders, user 7 +live policy.csv:2: p, clerk, \/orders, POST\n/,
    )
    expect(out).not.toContain('would allow requests')
    expect(json).toMatchObject({
      shadow: { revision, author: 'ada', message: 'to see' },
      ...{ live, evaluated: 200, wouldDeny: 6, against: [live] },
      disagreements: [{ count: 6, requestId: 'q-2', first: time, last: later }],
    })
  })

  test('names every live revision that the counts compare with', async () => {
    const before = await publish(redis.url, first)
    const { sequence } = await pushShadow(second)
    const live = await publish(redis.url, ['clerk, /x, GET'])
    await say(sequence, { id: 'gw-1', evidence: { against: [before, live] } })

    const { out } = await run(['shadow'])

    expect(out).toContain(
      `note: another revision became live meanwhile: the counts also compare with ${before};`,
    )
  })

  test('says how many requests the list leaves out', async () => {
    const { sequence } = await pushShadow(second)
    const kept = [denied(3, 'q-1'), { ...denied(1, 'q-2'), role: 'other' }]
    await say(sequence, { id: 'gw-1', evidence: { wouldDeny: 10, disagreements: kept } })

    const { out } = await run(['shadow', '--limit', '1'])

    expect(out).toContain('and 7 requests that this list leaves out')
    expect(out).not.toContain('q-2')
  })

  test('ends it, and says what it had counted', async () => {
    const { revision, sequence } = await pushShadow(second)
    await say(sequence, { id: 'gw-1', evidence: { evaluated: 9, wouldDeny: 1 } })

    const ended = await run(['shadow', 'end'])
    const again = await run(['shadow', 'end'])

    expect(ended).toMatchObject({
      code: 0,
      out: `ended the shadow ${revision} after 9 decisions, 1 would be denied, 0 would be allowed\n`,
    })
    expect(again).toMatchObject({ code: 1, out: expect.stringContaining('no shadow runs') })
    expect(await redis.client.keys(`${prefix}policy:[rs]*`)).toEqual([])
  })

  test('exits with 1 when no shadow runs, and can end one that is not valid', async () => {
    const none = await run(['shadow'])
    const json = await run(['shadow', '--output', 'json'])
    await redis.client.set(`${prefix}policy:shadow`, 'x')
    const broken = await run(['shadow'])

    expect([none.code, json.code, broken.code]).toEqual([1, 1, 1])
    expect(JSON.parse(json.out)).toEqual({ shadow: null })
    expect(broken.err).toContain('not valid: run "postern policy shadow end"')
    expect(await run(['shadow', 'end'])).toMatchObject({ code: 0 })
  })

  test('has one line in status', async () => {
    await publish(redis.url, first)
    const { revision, sequence } = await pushShadow(second)
    await say(sequence, { id: 'gw-1', evidence: { evaluated: 9 } })

    const { out } = await run(['status'])
    const json = JSON.parse((await run(['status', '--output', 'json'])).out)

    expect(out).toContain(
      `shadow ${revision}: 1 of 1 replica evaluates it: 9 decisions, 0 would be denied, 0 would be allowed\n`,
    )
    expect(json.shadow).toMatchObject({ revision, evaluated: 9 })
  })

  test.each(
    [['shadow'], ['shadow', 'end'], ['promote', 'r-000000000000'], ['push', '--shadow']].map(
      (args) => [args.join(' '), args] as const,
    ),
  )('%s says what to do when gateways load files', async (_, args) => {
    const cwd = await folder({
      'postern.yaml': `redis: { url: '${redis.url}' }\npolicy: { source: files }\nupstreams: { a: { targets: ['http://127.0.0.1:9'] } }\nroutes: [{ path: /, upstream: a }]\n`,
    })
    const options = args[0] === 'push' ? ['-m', 'x'] : []

    const { code, err } = await policy([...args, ...options, '--config', 'postern.yaml'], { cwd })

    expect(code).toBe(1)
    expect(err).toContain('policy.source is "files"')
    expect(err).toContain('set policy.source to redis')
  })
})

describe('postern policy promote', () => {
  async function started(...said: readonly Said[]) {
    const live = await publish(redis.url, first)
    const shadow = await pushShadow(second)
    for (const each of said) await say(shadow.sequence, each)
    return { live, ...shadow }
  }
  const good = { id: 'gw-1', evidence: { evaluated: 50, wouldAllow: 2 } }
  const terms = ['--yes', '--no-wait']

  test('makes exactly the shadow live, and the history keeps the evidence', async () => {
    const { live, revision } = await started(good)

    const { code, out } = await run(['promote', revision.slice(0, 14), '--after', '1h', ...terms])

    expect({ code, out }).toEqual({ code: 0, out: `${revision} is live; replicas not checked\n` })
    const store = await testStore(redis)
    expect((await store.head())?.revision).toBe(revision)
    expect(await store.shadow.read()).toBeUndefined()
    expect((await store.history(1))[0]).toMatchObject({
      ...{ revision, kind: 'promote', message: 'to see' },
      evidence: {
        ...{ kind: 'shadow', evaluated: 50, wouldDeny: 0, wouldAllow: 2, failed: 0 },
        ...{ replicas: 1, seconds: 7200 },
      },
    })
    expect((await store.history(2))[1]?.revision).toBe(live)
    expect((await run(['history'])).out).toContain(
      'to see (shadow on 1 replica for 2 h: 50 decisions, 0 would be denied, 2 would be allowed)\n',
    )
  })

  const refusals: readonly (readonly [string, readonly Said[], readonly string[], RegExp])[] = [
    ['nothing was asked', [{ id: 'gw-1' }], [], /has not been asked about any request/],
    [
      'it would deny',
      [{ ...good, evidence: { evaluated: 9, wouldDeny: 1 } }],
      [],
      /would deny 1 request that .*--max-would-deny is 0/,
    ],
    [
      'it would deny more than allowed',
      [{ ...good, evidence: { evaluated: 9, wouldDeny: 4 } }],
      ['--max-would-deny', '3'],
      /--max-would-deny is 3/,
    ],
    [
      'its engine failed',
      [{ ...good, evidence: { evaluated: 9, failed: 2 } }],
      [],
      /engine failed on 2 requests/,
    ],
    [
      'one replica is too young',
      [good, { id: 'gw-2', evaluatingMs: 60_000 }],
      ['--after', '1h'],
      /gw-2 has evaluated it for 1 min, and --after is 1 h/,
    ],
    [
      'one replica could not load it',
      [good, { id: 'gw-2', problem: 'too large' }],
      [],
      /gw-2 does not evaluate it: too large/,
    ],
    ['one replica is lost', [good, { id: 'gw-2', silentSeconds: 60 }], [], /gw-2 is lost/],
  ]

  test.each(refusals)('refuses when %s', async (_, said, options, reason) => {
    const { live, revision } = await started(...said)

    const { code, err } = await run(['promote', revision, ...terms, ...options])
    const json = await run(['promote', revision, ...terms, ...options, '--output', 'json'])

    expect(code).toBe(1)
    expect(err).toMatch(reason)
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, obstacles: [{}] })
    expect((await (await testStore(redis)).head())?.revision).toBe(live)
  })

  test('counts a replica that says nothing about the shadow as missing evidence', async () => {
    const { revision } = await started(good)
    await say(undefined, { id: 'old-1' })

    const { code, err } = await run(['promote', revision, ...terms])

    expect(code).toBe(1)
    expect(err).toContain('old-1 does not evaluate it: has not reported about it (version 0.2.0)')
  })

  test('accepts as many as allowed, lost replicas with --allow-lost, and those that ended', async () => {
    const evidence = { evaluated: 9, wouldDeny: 2 }
    const { revision } = await started(
      { ...good, evidence },
      { id: 'gw-2', silentSeconds: 60 },
      { id: 'gw-0', runs: false, evaluatingMs: 1, evidence },
    )

    const options = ['--max-would-deny', '4', '--allow-lost', '--after', '1h']
    const { code, err } = await run(['promote', revision, ...terms, ...options])

    expect({ code, err }).toMatchObject({ code: 0 })
  })

  test('refuses another revision than the shadow, and without one', async () => {
    const { revision } = await started(good)

    const other = await run(['promote', 'r-00000000000f', ...terms])
    await run(['shadow', 'end'])
    const none = await run(['promote', revision, ...terms])

    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('the shadow is r-') })
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no shadow runs') })
  })

  test('refuses to undo what became live after the shadow was pushed', async () => {
    const { live, revision } = await started(good)
    const other = await publish(redis.url, ['clerk, /other, GET'])

    const { code, err } = await run(['promote', revision, ...terms])
    const accepted = await run(['promote', revision, ...terms, '--over', other])

    expect(code).toBe(1)
    expect(err).toContain(`the shadow comes from ${live}, but ${other} is live`)
    expect(accepted.code).toBe(0)
  })

  test.each(['1', 'h', '1 h', '1w', '-1h', ''])('with --after %j is bad usage', async (after) => {
    const { code } = await run(['promote', 'r-000000000000', `--after=${after}`])

    expect(code).toBe(2)
  })
})

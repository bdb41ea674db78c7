import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linesOf, recordOf } from '../replay/records.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')

/** Allowed by a rule for /orders/7 that the new policy lacks, twice. */
const lost = [
  recordOf({ request_id: 'q-1', timestamp: '2026-11-15T07:00:00.000Z' }),
  recordOf({ request_id: 'q-2', subject: { user_id: '8', role_key: 'clerk' } }),
]
/** Denied, and allowed by the new policy. */
const gained = recordOf({
  ...{ request_id: 'q-3', method: 'POST', path: '/orders' },
  ...{ result: 'deny', reason: 'no-rule', step: 'none', rule: undefined },
})
const kept = recordOf({ path: '/stock' })

async function prepared(log: string | Buffer = linesOf(...lost, gained, kept)): Promise<string> {
  const cwd = await folder({
    'policies/model.conf': model,
    'policies/policy.csv': 'p, clerk, /stock, GET\np, clerk, /orders, POST\n',
  })
  await writeFile(join(cwd, 'decisions.jsonl'), log)
  return cwd
}

const replay = (args: readonly string[], cwd: string) => policy(['replay', ...args], { cwd })
const revision = 'r-[0-9a-f]{32}'

describe('postern policy replay', () => {
  test('shows the calls that change, with both lines, users, times and a request', async () => {
    const { code, out, err } = await replay(['decisions.jsonl'], await prepared())

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replaceAll(new RegExp(`policies, ${revision}`, 'g'), 'policies, r')).toBe(
      `would be denied: 2 calls
  2 calls of 2 users (7, 8): clerk GET, for example /orders/7 (request q-1)
    when    2026-11-15T07:00:00.000Z to 2026-11-15T07:49:53.558Z
    before  allowed by policy.csv:12 (r-d47a8140bd98)
    now     denied: no rule allows it
would be allowed: 1 call
  1 call of 1 user (7): clerk POST, for example /orders (request q-3)
    when    2026-11-15T07:49:53.558Z
    before  denied: no rule allows it (r-d47a8140bd98)
    now     allowed by policies/policy.csv:2: p, clerk, /orders, POST
note: gateways decided by r-d47a8140bd98 (4)
policies, r: asked 4 of 4 decisions from 2026-11-15T07:00:00.000Z to 2026-11-15T07:49:53.558Z: 1 unchanged, 2 would be denied, 1 would be allowed
`,
    )
  })

  test('has the end of a line as it is in the file', async () => {
    const cwd = await prepared(linesOf(gained))
    const dated = '# postern: until 2099-01-01T12:00:00Z\np, clerk, /orders, POST\n'
    await writeFile(join(cwd, 'policies/policy.csv'), dated)

    const { out } = await replay(['decisions.jsonl', '--output', 'json'], cwd)
    expect(JSON.parse(out).changes).toMatchObject([
      { now: { rule: { path: '/orders', until: '2099-01-01T12:00:00Z' } } },
    ])
  })

  test.each([
    ['deny', linesOf(...lost, kept), 1],
    ['deny', linesOf(gained, kept), 0],
    ['allow', linesOf(gained, kept), 1],
    ['allow', linesOf(...lost, kept), 0],
    ['any', linesOf(gained), 1],
    ['any', linesOf(...lost), 1],
    ['any', linesOf(kept), 0],
  ])('with --fail-on %s and %# exits with %i', async (failOn, log, code) => {
    const ran = await replay(['decisions.jsonl', '--fail-on', failOn], await prepared(log))

    expect(ran.code).toBe(code)
  })

  test('says what it could not ask, and exits with 5 when that is everything', async () => {
    const hashed = recordOf({ path: 'pZf1Ay3Nc0Qk2bXw7uTLsg' })
    const some = await replay(['decisions.jsonl'], await prepared(linesOf(hashed, kept, 'x')))
    const all = await replay(['decisions.jsonl'], await prepared(linesOf(hashed, hashed)))
    const none = await replay(['decisions.jsonl'], await prepared('{"msg":"request"}\n'))
    const identity = linesOf(recordOf({ step: 'identity', result: 'deny' }))
    const other = await replay(['decisions.jsonl'], await prepared(identity))

    expect(some.code).toBe(0)
    expect(some.out).toContain('could not replay 1 decision: 1 with a hashed path\n')
    expect(some.out).toContain('1 damaged line not read; the first is decisions.jsonl:3: not JSON')
    expect([all.code, none.code, other.code]).toEqual([5, 5, 5])
    expect(all.err).toContain('logger.decisions.path')
    expect(none.err).toContain('logger.decisions.enabled')
    expect(other.err).toContain('no policy made any of these decisions')
  })

  test('reads several logs, gzip and standard input', async () => {
    const cwd = await prepared()
    await writeFile(join(cwd, 'old.gz'), gzipSync(linesOf(kept, kept)))
    const args = ['replay', 'decisions.jsonl', 'old.gz', '-', '--output', 'json']

    const { code, out } = await policy(args, { cwd, stdin: gzipSync(linesOf(kept)) })

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ asked: 7, unchanged: 4, unreadable: [] })
  })

  test.each([
    [['absent.jsonl'], 'absent.jsonl: does not exist\n'],
    [['policies'], 'policies: is a directory: name the files in it\n'],
    [['decisions.jsonl', './decisions.jsonl'], './decisions.jsonl: is given twice\n'],
    [['-', '-'], '-: is given twice\n'],
  ])('%j is not read', async (names, message) => {
    expect(await replay(names, await prepared())).toEqual({ code: 3, out: '', err: message })
  })

  test('answers in JSON', async () => {
    const { out } = await replay(['decisions.jsonl', '--output', 'json'], await prepared())

    expect(JSON.parse(out)).toMatchObject({
      ...{ policies: 'policies', failed: false, revision: expect.stringMatching(revision) },
      ...{ decisions: 4, asked: 4, unchanged: 1, wouldDeny: 2, wouldAllow: 1 },
      changes: [
        {
          ...{ result: 'deny', calls: 2, users: { count: 2, isExact: true, some: ['7', '8'] } },
          before: { step: 'rule', rule: { file: 'policy.csv', line: 12 } },
          now: { step: 'none' },
        },
        {
          ...{ result: 'allow', example: { requestId: 'q-3', method: 'POST', path: '/orders' } },
          now: { rule: { origin: { file: 'policies/policy.csv', line: 2 } } },
        },
      ],
    })
  })

  test('writes a comment for a pull request', async () => {
    const args = ['decisions.jsonl', '--output', 'markdown', '--fail-on', 'deny']

    const { code, out } = await replay(args, await prepared())

    expect(code).toBe(1)
    expect(out).toContain(
      '### Postern policy replay: of 4 recorded calls, 2 would be denied and 1 would be allowed',
    )
    expect(out).toContain(
      '- 2 calls of 2 users (7, 8): clerk GET; before allowed by policy.csv:12 (r-d47a8140bd98); now denied: no rule allows it; ',
    )
    expect(out).toContain(
      '+ 1 call of 1 user (7): clerk POST; before denied: no rule allows it (r-d47a8140bd98); now allowed by policies/policy.csv:2',
    )
  })

  test('prints no control character of a log', async () => {
    const evil = '\u001b[2J\u202e'
    const log = linesOf(
      recordOf({
        subject: { user_id: evil, role_key: evil },
        ...{ request_id: evil, method: evil, revision: evil },
        rule: { file: `${evil}\n`, line: 1 },
      }),
    )
    const cwd = await prepared(log)

    for (const output of ['text', 'markdown', 'github', 'junit', 'sarif']) {
      const { out, err } = await replay(['decisions.jsonl', '--output', output], cwd)
      expect(`${out}${err}`).not.toMatch(/[\u001b\u202e]/)
    }
  })

  test('names the superuser clause and the exclusion that decide now', async () => {
    const cwd = await prepared(linesOf(gained, { ...gained, path: '/open', method: 'GET' }))
    const clause = model.replace(/^m = (.*)$/m, 'm = $1 || r.sub == "root"')
    await writeFile(join(cwd, 'policies/model.conf'), clause)
    const exclusion = '- { method: GET, path: /open, reason: everyone needs it }\n'
    await writeFile(join(cwd, 'policies/exclusions.yaml'), exclusion)
    const root = { ...gained, subject: { user_id: '1', role_key: 'root' } }
    await writeFile(
      join(cwd, 'decisions.jsonl'),
      linesOf(root, { ...gained, path: '/open', method: 'GET' }),
    )

    const { out } = await replay(['decisions.jsonl'], cwd)

    expect(out).toContain('now     allowed by the superuser clause r.sub == "root"\n')
    expect(out).toContain('now     allowed by policies/exclusions.yaml:1: GET /open\n')
  })
})

describe('postern policy push --replay', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const push = (cwd: string, args: readonly string[], types?: string) =>
    policy(['push', '-m', 'why', '--no-tests', '--no-wait', ...args], {
      cwd,
      env: { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix },
      ...(types !== undefined && { types }),
    })

  test('shows the changes before the question', async () => {
    const cwd = await prepared()

    const { code, err } = await push(cwd, ['--replay', 'decisions.jsonl'], 'no')

    expect(code).toBe(1)
    const [shown, question] = [err.indexOf('2 would be denied'), err.indexOf('Type yes')]
    expect(shown).toBeGreaterThan(0)
    expect(question).toBeGreaterThan(shown)
    expect(await (await testStore(redis)).head()).toBeUndefined()
  })

  test('publishes nothing when the log does not exist, or is stdin', async () => {
    const cwd = await prepared()

    expect(await push(cwd, ['--yes', '--replay', 'absent'])).toMatchObject({ code: 3 })
    expect(await push(cwd, ['--yes', '--replay', '-'])).toMatchObject({ code: 2 })
    expect(await (await testStore(redis)).head()).toBeUndefined()
  })

  test('has the result in JSON, also of a dry run, and replays published revisions', async () => {
    const cwd = await prepared()
    const args = ['--yes', '--over', 'live', '--replay', 'decisions.jsonl', '--output', 'json']

    const dry = await push(cwd, [...args, '--dry-run'])
    const { code, out } = await push(cwd, args)
    const live = await policy(
      ['replay', 'decisions.jsonl', '--policies', 'live', '--fail-on', 'any'],
      {
        cwd,
        env: { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix },
      },
    )

    expect(JSON.parse(dry.out)).toMatchObject({ replay: { asked: 4, wouldDeny: 2 } })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ replay: { asked: 4, wouldDeny: 2, wouldAllow: 1 } })
    expect(live).toMatchObject({ code: 1, out: expect.stringContaining('2 would be denied') })
  })
})

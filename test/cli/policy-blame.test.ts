import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { approved, createOffice, push } from './approval-office.ts'
import { folder, policy } from './policy-runner.ts'

const { PATH = '' } = process.env
/** Neither the user's configuration nor a repository around the test counts. */
const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' }

interface Blamed {
  readonly allowed: boolean
  readonly changes: readonly Readonly<Record<string, unknown>>[]
  readonly before: Readonly<Record<string, unknown>> | null
  readonly isComplete: boolean
  readonly notes: readonly string[]
}

describe('policy blame of files in Git', () => {
  let cwd = ''
  let day = 1

  function git(author: string, ...args: readonly string[]): string {
    const date = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`
    const identity = {
      ...{ GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: 'a@example.org', GIT_AUTHOR_DATE: date },
      ...{ GIT_COMMITTER_NAME: 'bot', GIT_COMMITTER_EMAIL: 'b@example.org' },
      GIT_COMMITTER_DATE: date,
    }
    return execFileSync('git', args, { cwd, env: { ...env, ...identity }, encoding: 'utf8' }).trim()
  }

  /** Commits these `p` lines on the next day, and returns the commit. */
  async function commit(author: string, message: string, ...lines: readonly string[]) {
    day++
    await write('policies/policy.csv', `${lines.map((line) => `p, ${line}`).join('\n')}\n`)
    git(author, 'add', '-A')
    git(author, 'commit', '-q', '-m', message)
    return git(author, 'rev-parse', 'HEAD')
  }

  async function write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }

  const run = (args: readonly string[], at = cwd) => policy(['blame', ...args], { cwd: at, env })
  const blame = async (...args: readonly string[]) =>
    JSON.parse((await run([...args, '--output', 'json'])).out) as Blamed

  beforeEach(async () => {
    cwd = await folder()
    day = 1
    git('ann', 'init', '-q', '-b', 'main')
    await write('policies/model.conf', formatModel(widestModel))
  })

  test('names the commit, line, author and message since when a call is allowed', async () => {
    await commit('ann', 'the first policy', 'clerk, /orders, GET')
    const since = await commit('bea', 'refunds', 'clerk, /orders, GET', 'clerk, /refunds, POST')
    // Neither another line above it, nor a commit elsewhere, is since when.
    await commit('cyd', 'more', 'clerk, /a, GET', 'clerk, /orders, GET', 'clerk, /refunds, POST')
    await write('README', 'x')
    git('dan', 'add', '-A')
    git('dan', 'commit', '-q', '-m', 'readme')

    const { code, out, err } = await run(['clerk', 'POST', '/refunds'])
    expect({ code, err: err.replace(/^note: routes .*\n/, '') }).toEqual({ code: 0, err: '' })
    expect(out.replace(/r-[0-9a-f]{32}/g, 'r-…')).toBe(
      `allowed: clerk may POST /refunds since 2026-01-03T00:00:00.000Z
  line      policies/policy.csv:2: p, clerk, /refunds, POST
  revision  r-…
  commit    ${since}
  author    bea
  message   refunds
  before    none: no rule allows it
  policy    policies, r-…
`,
    )

    expect(await blame('clerk', 'GET', '/orders')).toMatchObject({
      allowed: true,
      changes: [{ author: 'ann', message: 'the first policy', cause: 'committed' }],
      before: null,
      isComplete: true,
    })
  })

  test('names who took a call away, and the line that allowed it', async () => {
    await commit('ann', 'first', 'clerk, /orders, GET', 'clerk, /refunds, POST')
    const taken = await commit('bea', 'no refunds', 'clerk, /orders, GET')

    const { code, out } = await run(['clerk', 'POST', '/refunds', '--policies', 'git:main'])
    expect(code).toBe(1)
    expect(out).toContain('denied: clerk may not POST /refunds since 2026-01-03T00:00:00.000Z')
    expect(out).toContain(`commit    ${taken}\n`)
    expect(out).toContain('before    policies/policy.csv:2: p, clerk, /refunds, POST\n')
    expect(await blame('clerk', 'POST', '/refunds', '--policies', 'git:main~1')).toMatchObject({
      allowed: true,
      changes: [{ author: 'ann' }],
    })
  })

  test('lists the lines that decided since, and files that are not committed', async () => {
    await commit('ann', 'one', 'clerk, /refunds/*, POST')
    await commit('bea', 'other', 'clerk, /refunds/:id, POST')
    await write('policies/policy.csv', 'p, clerk, /*, *\n')

    const { changes } = await blame('clerk', 'POST', '/refunds/7')
    expect(changes.map(({ at, cause, author, line }) => [at, cause, author, line])).toEqual([
      [null, 'uncommitted', undefined, 'policies/policy.csv:1: p, clerk, /*, *'],
      [
        '2026-01-03T00:00:00.000Z',
        ...['committed', 'bea', 'policies/policy.csv:1: p, clerk, /refunds/:id, POST'],
      ],
      [
        '2026-01-02T00:00:00.000Z',
        ...['committed', 'ann', 'policies/policy.csv:1: p, clerk, /refunds/*, POST'],
      ],
    ])
    const { out } = await run(['clerk', 'POST', '/refunds/7'])
    expect(out).toMatch(/^allowed: .* since 2026-01-02.*\nby another line since 2026-01-03/ms)
    expect(out).toContain('by another line in files that are not committed\n')
  })

  test('counts the moment at which a line expired', async () => {
    const line = 'clerk, /refunds, POST'
    await write(
      'policies/policy.csv',
      `p, clerk, /orders, GET\n# postern: until 2026-02-01\np, ${line}\n`,
    )
    git('ann', 'add', '-A')
    git('ann', 'commit', '-q', '-m', 'for a month')

    const { allowed, changes, before } = await blame('clerk', 'POST', '/refunds')
    expect([allowed, changes]).toMatchObject([
      false,
      [{ step: 'none', at: '2026-02-01T00:00:00.000Z', cause: 'expired', author: 'ann' }],
    ])
    expect(before?.['line']).toContain(line)
  })

  test('takes a merge as when the branch got a line, by who merged', async () => {
    await commit('ann', 'first', 'clerk, /orders, GET')
    git('bea', 'checkout', '-q', '-b', 'topic')
    await commit('bea', 'on a branch', 'clerk, /orders, GET', 'clerk, /refunds, POST')
    git('ann', 'checkout', '-q', 'main')
    day = 9
    git('ann', 'merge', '-q', '--no-ff', '-m', 'merge topic', 'topic')

    expect((await blame('clerk', 'POST', '/refunds')).changes).toMatchObject([
      { at: '2026-01-09T00:00:00.000Z', author: 'ann', message: 'merge topic' },
    ])
  })

  test('says where the versions before cannot be read', async () => {
    await commit('ann', 'first', 'clerk, /orders, GET, what, is, this, line, meant, for')
    await commit('bea', 'second', 'clerk, /orders, GET')
    expect(await blame('clerk', 'GET', '/orders')).toMatchObject({
      changes: [{ author: 'bea' }],
      before: null,
      isComplete: false,
      notes: expect.arrayContaining([expect.stringMatching(/^older versions cannot be read: /)]),
    })
    const clone = join(cwd, 'clone')
    git('ann', 'clone', '-q', '--depth', '1', `file://${cwd}`, clone)
    const shallow = await run(['clerk', 'GET', '/orders'], clone)
    expect(shallow.out).toMatch(/since 2026-01-03T00:00:00\.000Z or longer\n/)
    expect(shallow.err).toContain('the clone lacks them')

    const plain = await folder({ 'policies/policy.csv': 'p, clerk, /orders, GET\n' })
    await writeFile(join(plain, 'policies/model.conf'), formatModel(widestModel))
    const outside = await run(['clerk', 'GET', '/orders'], plain)
    expect([outside.code, outside.err]).toEqual([
      0,
      expect.stringContaining('policies is not in a Git repository'),
    ])
  })

  test('answers for a repository without commits', async () => {
    await write('policies/policy.csv', 'p, clerk, /orders, GET\n')
    const { code, out } = await run(['clerk', 'GET', '/orders'])
    expect([code, out]).toEqual([0, expect.stringContaining('in files that are not committed\n')])
  })

  test('leaves calls that no policy decides to policy explain', async () => {
    await commit('ann', 'first', 'clerk, /orders, GET')
    const { code, out, err } = await run(['admin', 'GET', '/orders'])
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('policy explain')])
  })
})

describe('policy blame of published policies', () => {
  const redis = emptiedRedis()

  async function blame(...args: readonly string[]) {
    const cwd = await folder({
      'x.yaml': `application: { mode: dev }
routes: [{ path: /, upstream: a }]
upstreams: { a: { targets: ['http://127.0.0.1:1'] } }
redis: { url: '${redis.url}', prefix: '${prefix}' }
policy: { source: redis }
`,
    })
    const options = ['--config', 'x.yaml', '--output', 'json']
    return JSON.parse((await policy(['blame', ...args, ...options], { cwd, env })).out) as Blamed
  }

  test('agrees with asking every version, one after the other', async () => {
    const store = await testStore(redis)
    const calls = ['/a', '/b', '/c', '/d'].map((path) => ['clerk', 'GET', path] as const)
    const possible = [...calls.map(([role, , path]) => `${role}, ${path}, GET`), 'clerk, /*, GET']
    // Neither too rare nor too many: each is in half of the versions.
    let seed = 20_261_119
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed / 2 ** 31
    }
    const versions: (readonly string[])[] = []
    for (let number = 0; versions.length < 14; number++) {
      const wild = number % 5 === 2
      const rules = possible.filter((rule) => (rule.includes('*') ? wild : next() < 0.5))
      if (rules.join() === versions.at(-1)?.join()) continue
      const head = (await store.head())?.revision
      const message = `version ${versions.length}`
      const { moved } = await store.publish(documentOf(rules, { message }), head, { kind: 'push' })
      expect(moved).toBe(true)
      versions.push(rules)
    }
    const allowedIn = (rules: readonly string[], path: string) =>
      rules.some((rule) => rule.includes('/*') || rule.includes(path))

    for (const [role, method, path] of calls) {
      const states = versions.map((rules) => allowedIn(rules, path))
      const since = states.lastIndexOf(!states.at(-1)) + 1
      const { allowed, changes, before, isComplete } = await blame(role, method, path)
      expect([path, allowed, changes.at(-1)?.['message'], isComplete]).toEqual([
        ...[path, states.at(-1), `version ${since}`, true],
      ])
      expect(before === null).toBe(since === 0)
    }
  })

  test('names the signers, and ignores what gateways with policy.trust ignore', async () => {
    const office = await createOffice(redis.url, 2)
    const revision = await approved(office)
    expect((await push(office, revision)).code).toBe(0)
    const asked = () => office.run(['blame', 'clerk', 'GET', '/orders', '--output', 'json'])
    const expected = {
      allowed: true,
      changes: [{ revision, cause: 'published', message: 'clerks read', signers: ['ann', 'ben'] }],
      before: null,
      isComplete: true,
    }
    expect(JSON.parse((await asked()).out)).toMatchObject(expected)

    const store = await testStore(redis)
    const planted = documentOf(['clerk, /other, GET'], { author: 'ann' })
    await store.publish(planted, (await store.head())?.revision, { kind: 'push' })
    expect(JSON.parse((await asked()).out)).toMatchObject(expected)
    const { out } = await office.run(['blame', 'clerk', 'GET', '/orders'])
    expect(out).toContain('author    ann, ben (signed)\n')
    expect(await blame('clerk', 'GET', '/orders')).toMatchObject({
      allowed: false,
      changes: [{ author: 'ann', signers: [] }],
    })
  })

  test('stops at a revision that Redis no longer has', async () => {
    const store = await testStore(redis)
    const lost = documentOf(['clerk, /orders, GET', 'clerk, /a, GET'])
    await store.publish(lost, undefined, { kind: 'push' })
    await store.publish(documentOf(['clerk, /orders, GET']), lost.revision, { kind: 'push' })
    await redis.client.del(`${prefix}policy:rev:${lost.revision}`)

    const { changes, isComplete, notes } = await blame('clerk', 'GET', '/orders')
    expect([changes.length, isComplete]).toEqual([1, false])
    expect(notes.join()).toContain(`${lost.revision} of`)
  })
})

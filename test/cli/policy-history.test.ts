import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Signed } from '../../src/signing/statement.ts'
import { person, signedBy } from '../signing/key-pairs.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'
import { freePort } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { folder, policy } from './policy-runner.ts'

const redis = emptiedRedis()
const document = documentOf(['clerk, /orders, GET'])

interface Setup {
  readonly url?: string
  readonly dataDirectory?: string
  /** Further sections of the configuration. */
  readonly more?: string
}

/** Runs the command with a configuration that names Redis and a data directory. */
async function history(
  { url = redis.url, dataDirectory = 'data', more = '' }: Setup,
  ...options: readonly string[]
) {
  const cwd = await folder({
    'x.yaml': `application: { mode: dev, dataDirectory: '${dataDirectory}' }
redis: { url: '${url}', prefix: '${prefix}' }
${more}`,
  })
  return policy(['history', '--config', 'x.yaml', ...options], { cwd })
}

const publish = async (signed?: Signed) =>
  (await testStore(redis)).publish(document, undefined, { kind: 'push', ...(signed && { signed }) })

describe('postern policy history', () => {
  test('marks an author as unverified, and is empty without a move', async () => {
    expect(await history({})).toMatchObject({ code: 0, out: '', err: 'nothing is published yet\n' })
    await publish()

    const { code, out, err } = await history({})

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(
      /^AT +REVISION +KIND +AUTHOR +WHY\n\S+Z +r-\w+ +push +ada \(unverified\) +for a test\n$/,
    )
  })

  test('writes one line of JSON for each entry', async () => {
    await publish()
    const store = await testStore(redis)
    const other = documentOf(['clerk, /orders, POST'], { message: 'two\nlines' })
    await store.publish(other, document.revision, { kind: 'push' })

    const { out } = await history({}, '--output', 'jsonl')

    const lines = out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { revision: other.revision, message: 'two\nlines', author: 'ada', signers: [] },
      { revision: document.revision, id: expect.any(String), at: expect.stringMatching(/Z$/) },
    ])
  })
})

describe('the author of a signed policy', () => {
  const [alice, bob, eve] = [person('alice'), person('bob'), person('eve')]
  const said = { revision: document.revision, author: 'ada', message: 'for a test' }
  const more = `policy: { source: redis, trust: { keys: ['${alice.line}', '${bob.line}'] } }`

  test.each([
    ['who signed it', signedBy([bob, alice], said), 'alice, bob (signed)'],
    [
      'unverified when the configuration does not trust the key',
      signedBy([eve], said),
      'ada (unverified)',
    ],
    [
      'unverified when another author signed',
      signedBy([alice], { ...said, author: 'bob' }),
      'ada (unverified)',
    ],
    [
      'unverified when another message was signed',
      signedBy([alice], { ...said, message: 'x' }),
      'ada (unverified)',
    ],
    [
      'unverified when another revision was signed',
      signedBy([alice], { ...said, revision: 'r-000000000000' }),
      'ada (unverified)',
    ],
    [
      'unverified when a shadow was signed',
      signedBy([alice], { ...said, purpose: 'shadow' }),
      'ada (unverified)',
    ],
    [
      'unverified when the statement is broken',
      { statement: '{', signatures: ['x'] },
      'ada (unverified)',
    ],
  ])('is %s', async (_, signed, author) => {
    await publish(signed)

    expect((await history({ more })).out).toContain(` ${author} `)
  })

  test('is unverified without policy.trust, and the JSON has the signers', async () => {
    await publish(signedBy([alice], said))

    expect((await history({})).out).toContain('ada (unverified)')
    expect(JSON.parse((await history({ more }, '--output', 'json')).out)).toMatchObject([
      { author: 'ada', signers: ['alice'] },
    ])
  })
})

describe('the history in the database of a running gateway', () => {
  /** A gateway that has loaded and copied a policy that no other test publishes. */
  async function copied() {
    const rules = [`clerk, /${randomUUID()}, GET`]
    const { redis: own, postern } = await startPublished({ rules })
    const { dataDirectory } = postern
    const [move] = await (await testStore(own)).history()
    const revision = move?.revision ?? ''
    const ask = (...options: readonly string[]) =>
      history({ url: own.url, dataDirectory }, '--limit', '5000', ...options)
    const unreachable = { url: `redis://127.0.0.1:${await freePort()}`, dataDirectory }
    const alone = () => history(unreachable, '--limit', '5000')
    await until(async () => (await alone()).out.includes(revision))
    return { own, revision, ask, alone, move }
  }

  test('outlives a flushed Redis, and counts where Redis was rewritten', async () => {
    const { own, ask, revision, move } = await copied()
    const entries = async () =>
      JSON.parse((await ask('--output', 'json')).out) as { revision: string }[]
    const found = async () => (await entries()).filter((each) => each.revision === revision)
    expect(await found()).toEqual([{ ...move, signers: [] }])

    await own.client.lset(`${prefix}policy:history`, 0, JSON.stringify({ ...move, author: 'eve' }))
    const rewritten = await ask()
    expect(rewritten).toMatchObject({
      code: 0,
      err: 'note: 1 entry of Redis differs; shown as the database has it\n',
    })
    expect(rewritten.out).not.toContain('eve (')

    await own.client.flushall()
    expect(await found()).toEqual([{ ...move, signers: [] }])
  })

  test('is shown, with exit code 5, while Redis is unreachable', async () => {
    const { revision, alone } = await copied()

    const { code, out, err } = await alone()

    expect(code).toBe(5)
    expect(out).toContain(revision)
    expect(err).toMatch(
      /^note: only the database was read, so newer entries may be missing: .*ECONNREFUSED/,
    )
  })
})

describe('a database that cannot be asked', () => {
  test('is named, and Redis is shown', async () => {
    await publish()
    const url = `postgres://postern@127.0.0.1:${await freePort()}/postern`

    const { code, out, err } = await history({ more: `database: { url: '${url}' }` })

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(document.revision) })
    expect(err).toMatch(
      /^note: the database could not be read, so older entries may be missing: database: .*ECONNREFUSED/,
    )
  })

  test('leaves only the fault of Redis when neither answers', async () => {
    const { code, out, err } = await history({ url: `redis://127.0.0.1:${await freePort()}` })

    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(err).toContain('ECONNREFUSED')
  })
})

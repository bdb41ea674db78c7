import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLivePolicies } from '../../src/policy/live.ts'
import { maxSignatures, type Signed } from '../../src/signing/statement.ts'
import { rejections } from '../../src/signing/trust.ts'
import { largeBytes } from '../../src/stores/policies/document/stored-text.ts'
import { createPolicyFeed } from '../../src/stores/policies/policy-feed.ts'
import type { PolicySnapshot } from '../../src/stores/policies/policy-source.ts'
import type { Move, PolicyDocument } from '../../src/stores/policies/policy-store.ts'
import { createPublishedPolicies } from '../../src/stores/policies/published-policies.ts'
import { formatSnapshot, parseSnapshot } from '../../src/stores/policies/snapshot-text.ts'
import { createTrustGate } from '../../src/stores/policies/trust-gate.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { person, trusting } from '../signing/key-pairs.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, startPublished, testRedis, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'
import { altered, openFeed, plant, signPolicy } from './trusted-feed.ts'

const [alice, bob, mallory] = [person('alice'), person('bob'), person('mallory')]
const both = [alice, bob]
const trust = trusting(both, 2)

const first = signPolicy(both, documentOf(['clerk, /first, GET']), { serial: 1000 })
const evil = documentOf(['clerk, /evil, GET'])
/** What may follow `first`. */
const next = { serial: 2000, after: first.after }
const second = signPolicy(both, documentOf(['clerk, /second, GET']), next)
const third = signPolicy(both, documentOf(['clerk, /third, GET']), {
  serial: 3000,
  after: second.after,
})

/** The last one that a head may have. */
const hugeSequence = 8.64e15 - 1

const redis = emptiedRedis()

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-trust-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'policy.snapshot')
}

interface Planted {
  readonly document: PolicyDocument
  readonly signed?: Signed
}

const moveOf = ({ document, signed }: Planted, sequence: number): Move => ({
  ...{ revision: document.revision, sequence, author: 'ada', message: 'm', at: '', kind: 'push' },
  ...(signed !== undefined && { signed }),
})

/** Writes to the history what anyone can write who reaches Redis. */
const record = (planted: Planted) =>
  redis.client.lpush(`${prefix}policy:history`, JSON.stringify(moveOf(planted, 11)))

/** A gateway that uses `first`. */
async function startWithFirst(snapshot?: string) {
  await plant(redis, { ...first, sequence: 10 })
  const feed = await openFeed(redis, { trust, ...(snapshot !== undefined && { snapshot }) })
  expect(feed.revision()).toBe(first.document.revision)
  return { feed }
}

describe('a gateway with policy.trust', () => {
  test('uses what enough trusted keys signed, and says who they are', async () => {
    const { feed } = await startWithFirst()
    await plant(redis, { ...second, sequence: 11 })
    await until(() => feed.revision() === second.document.revision)

    expect(feed.state().trust).toMatchObject({ required: 2, signers: ['alice', 'bob'] })
    expect(feed.lines.at(-1)).toMatchObject({
      text: 'policy loaded',
      fields: { author: 'ada', signers: ['alice', 'bob'], revision: second.document.revision },
    })
    expect(Object.values(feed.state().trust?.rejected ?? {})).toEqual(rejections.map(() => 0))
  })

  test('accepts what the store publishes with signatures', async () => {
    const { feed } = await startWithFirst()
    const store = await testStore(redis)
    const { document, signed } = second
    await store.publish(document, first.document.revision, { kind: 'push', signed })

    await until(() => feed.revision() === document.revision)
    const [move] = await store.history()
    expect(move?.signed).toEqual(signed)
  })

  test.each<[string, string, unknown]>([
    ['unsigned', 'unsigned', undefined],
    ['signed by too few', 'under-signed', signPolicy([alice], evil, next).signed],
    ['signed by one key twice', 'under-signed', signPolicy([alice, alice], evil, next).signed],
    [
      'signed by a key that is not trusted',
      'under-signed',
      signPolicy([alice, mallory], evil, next).signed,
    ],
    ['signed by strangers only', 'under-signed', signPolicy([mallory, mallory], evil, next).signed],
    [
      'signed for a shadow',
      'wrong-purpose',
      signPolicy(both, evil, { ...next, purpose: 'shadow' }).signed,
    ],
    [
      'a shadow that claims to be live',
      'wrong-purpose',
      altered(signPolicy(both, evil, { ...next, purpose: 'shadow' }).signed, { purpose: 'live' }),
    ],
    [
      'signed with another message',
      'bad-signature',
      altered(signPolicy(both, evil, next).signed, { message: 'harmless' }),
    ],
    ['another one than the signed one', 'wrong-document', second.signed],
    [
      'another document of the signed revision',
      'wrong-document',
      altered({ ...signPolicy(both, evil, { ...next, document: 'ab'.repeat(32) }).signed }, {}),
    ],
    ['signed over nothing', 'replayed', signPolicy(both, evil, { serial: 2000 }).signed],
    [
      'signed over another revision',
      'replayed',
      signPolicy(both, evil, { serial: 2000, after: { revision: 'r-ffffffffffff', serial: 1000 } })
        .signed,
    ],
    ['signed before the active one', 'replayed', signPolicy(both, evil, { serial: 999 }).signed],
    ['signed at the same moment', 'replayed', signPolicy(both, evil, { serial: 1000 }).signed],
    [
      'a statement cut short',
      'malformed',
      { ...signPolicy(both, evil, next).signed, statement: '{"version":1' },
    ],
    ['a statement of a megabyte', 'malformed', { statement: 'x'.repeat(100_000), signatures: [] }],
    [
      'more signatures than are read',
      'malformed',
      { ...second.signed, signatures: Array(maxSignatures + 1).fill(second.signed.signatures[0]) },
    ],
    ['signatures that are numbers', 'malformed', { ...second.signed, signatures: [1, 2] }],
    ['a field that is no object', 'malformed', 'alice, bob'],
    [
      'signatures cut short',
      'bad-signature',
      {
        ...signPolicy(both, evil, next).signed,
        signatures: second.signed.signatures.map((one) => one.slice(0, 200)),
      },
    ],
    [
      'no signatures at all',
      'unsigned',
      { ...signPolicy(both, evil, next).signed, signatures: [] },
    ],
  ])('changes nothing for a policy that is %s', async (_, reason, signed) => {
    const { feed } = await startWithFirst()
    const before = feed.current()
    await plant(redis, { document: evil, sequence: Date.now(), signed })
    await until(() => feed.state().stale)

    expect(feed.rejected(reason)).toBeGreaterThan(0)
    expect(feed.current()).toBe(before)
    expect(feed.state().lastError).toContain(`rejected (${reason})`)
    expect(feed.problem()).toBeUndefined()
    expect(feed.lines.at(-1)).toMatchObject({
      text: 'policy update rejected; keeping the last good revision',
      fields: { reason: expect.stringContaining(reason), revision: first.document.revision },
    })
  })

  test('recovers when the head is signed again', async () => {
    const { feed } = await startWithFirst()
    await plant(redis, { document: evil, sequence: 11 })
    await until(() => feed.state().stale)
    await plant(redis, { ...second, sequence: 12 })

    await until(() => !feed.state().stale)
    expect(feed.revision()).toBe(second.document.revision)
  })

  test('does not go back to an old signed policy, whatever sequence Redis claims', async () => {
    const { feed } = await startWithFirst()
    await plant(redis, { ...second, sequence: 11 })
    await until(() => feed.revision() === second.document.revision)

    await plant(redis, { ...first, sequence: 12 })
    await until(() => feed.rejected('replayed') > 0)
    await plant(redis, { ...first, sequence: hugeSequence })
    const before = feed.rejected('replayed')
    await until(() => feed.rejected('replayed') > before)

    expect(feed.revision()).toBe(second.document.revision)
  })

  test('does not use a proposal that lost to another one', async () => {
    const { feed } = await startWithFirst()
    await plant(redis, { ...second, sequence: 11 })
    await until(() => feed.revision() === second.document.revision)
    const rival = signPolicy(both, evil, { serial: 2500, after: first.after })

    await plant(redis, { ...rival, sequence: 12 })

    await until(() => feed.rejected('replayed') > 0)
    expect(feed.state().lastError).toContain(
      `signed over ${first.document.revision}, this gateway uses ${second.document.revision}`,
    )
  })

  test('cannot be locked out by a huge sequence', async () => {
    const { feed } = await startWithFirst(await temporary())
    await plant(redis, { ...first, sequence: hugeSequence })
    await until(() => feed.state().sequence === hugeSequence)

    await plant(redis, { ...second, sequence: 11 })

    await until(() => feed.revision() === second.document.revision)
    expect(feed.state()).toMatchObject({ stale: false, sequence: 11 })
    await until(() => feed.state().snapshot?.current === true)
  })

  test('accepts the successor of a policy that it missed, if the history has that signed', async () => {
    const { feed } = await startWithFirst()
    await record(second)
    await plant(redis, { ...third, sequence: 12 })

    await until(() => feed.revision() === third.document.revision)
  })

  test('accepts it too if only the database has what it missed', async () => {
    await plant(redis, { ...first, sequence: 10 })
    const recorded = [moveOf(second, 11)]
    const feed = await openFeed(redis, { trust, recorded: async () => recorded })
    await plant(redis, { ...third, sequence: 12 })

    await until(() => feed.revision() === third.document.revision)
  })

  test.each<[string, () => readonly Planted[]]>([
    ['was never seen', () => []],
    [
      'one person signed',
      () => [{ ...second, signed: signPolicy([alice], second.document, next).signed }],
    ],
    ['nobody signed', () => [{ document: second.document }]],
    [
      'was signed for another serial',
      () => [signPolicy(both, second.document, { ...next, serial: 2001 })],
    ],
    [
      'was signed for a shadow',
      () => [signPolicy(both, second.document, { ...next, purpose: 'shadow' })],
    ],
  ])('refuses the successor of a policy that %s', async (_, history) => {
    const { feed } = await startWithFirst()
    for (const each of history()) await record(each)
    await plant(redis, { ...third, sequence: 12 })
    await until(() => feed.rejected('unknown-predecessor') > 0)

    expect(feed.revision()).toBe(first.document.revision)
    expect(feed.state().lastError).toContain(
      `descends from ${second.document.revision} with serial 2000, for which no signatures were found`,
    )
  })

  test('refuses the successor of a signed policy that lost to the active one', async () => {
    const { feed } = await startWithFirst()
    await plant(redis, { ...second, sequence: 11 })
    await until(() => feed.revision() === second.document.revision)
    const lost = signPolicy(both, documentOf(['clerk, /lost, GET']), { ...next, serial: 2500 })
    await record(lost)
    const over = signPolicy(both, evil, { serial: 3000, after: lost.after })
    await plant(redis, { ...over, sequence: 12 })

    await until(() => feed.rejected('replayed') > 0)
    expect(feed.revision()).toBe(second.document.revision)
  })

  test('rejects a document that was replaced under a signed head', async () => {
    const { feed } = await startWithFirst()
    const { revision } = second.document
    const forged = documentOf(['clerk, /second, GET'], { author: 'mallory' })
    await plant(redis, { document: forged, sequence: 11, signed: second.signed })

    await until(() => feed.rejected('wrong-document') > 0)
    expect(forged.revision).toBe(revision)
    expect(feed.revision()).toBe(first.document.revision)
  })

  test('starts without a policy when nothing is signed well enough', async () => {
    await plant(redis, { document: evil, sequence: 11 })
    const feed = await openFeed(redis, { trust })

    expect(feed.problem()).toMatch(/no policy is loaded: .* rejected \(unsigned\): not signed/)
    expect(() => feed.current()).toThrow()
  })

  test('reads a head of any size without harm', async () => {
    const { feed } = await startWithFirst()
    await redis.client.set(`${prefix}policy:head`, `{"revision":"${'x'.repeat(5_000_000)}"}`)
    await redis.client.publish(`${prefix}policy`, '{}')

    await until(() => feed.state().stale)
    expect(feed.state().lastError).toContain('is not a valid policy head')
  })
})

describe('a large policy', () => {
  const rules = (name: string) =>
    Array.from({ length: 15_000 }, (_, at) => `clerk, /${name}/of/some/more/length/${at}, GET`)

  test('is verified when a thread loads it, and its snapshot too', async () => {
    const snapshot = await temporary()
    const { feed } = await startWithFirst(snapshot)
    const large = signPolicy(both, documentOf(rules('large')), next)
    expect(JSON.stringify(large.document).length).toBeGreaterThan(largeBytes)

    const forged = documentOf(rules('large'), { author: 'mallory' })
    await plant(redis, { document: forged, sequence: 11, signed: large.signed })
    await until(() => feed.rejected('wrong-document') > 0)
    expect(feed.revision()).toBe(first.document.revision)

    await plant(redis, { ...large, sequence: 12 })
    await until(() => feed.revision() === large.document.revision)
    await until(() => feed.state().snapshot?.current === true)
    await feed.close()

    const kept = parseSnapshot(await readFile(snapshot, 'utf8'))
    expect(kept).toMatchObject({ signed: large.signed, revision: large.document.revision })
    const again = await openFeed({ url: 'redis://127.0.0.1:1' }, { trust, snapshot })
    expect(again.revision()).toBe(large.document.revision)
  })
})

describe('the snapshot of a gateway with policy.trust', () => {
  /** A snapshot of `second`, and no gateway that runs. */
  async function keptSecond() {
    const file = await temporary()
    const { feed } = await startWithFirst(file)
    await plant(redis, { ...second, sequence: 11 })
    await until(() => feed.revision() === second.document.revision)
    await until(() => feed.state().snapshot?.current === true)
    await feed.close()
    return { file }
  }
  const unreachable = { url: 'redis://127.0.0.1:1' }

  test('is verified at startup, and used without Redis', async () => {
    const { file } = await keptSecond()
    const feed = await openFeed(unreachable, { trust, snapshot: file })

    expect(feed.revision()).toBe(second.document.revision)
    expect(feed.state().trust).toMatchObject({ signers: ['alice', 'bob'] })
  })

  test('keeps an old signed policy out after a restart', async () => {
    const { file } = await keptSecond()
    await plant(redis, { ...first, sequence: Date.now() })
    const feed = await openFeed(redis, { trust, snapshot: file })

    expect(feed.revision()).toBe(second.document.revision)
    expect(feed.rejected('replayed')).toBeGreaterThan(0)
    await plant(redis, { ...third, sequence: Date.now() })
    await until(() => feed.revision() === third.document.revision)
  })

  test.each<[string, string, () => string]>([
    ['unsigned', 'unsigned', () => formatSnapshot({ ...evil, sequence: 99 })],
    ['signed by too few', 'under-signed', () => snapshotOf(signPolicy([alice], evil, next))],
    [
      'of another document than the signed one',
      'wrong-document',
      () => snapshotOf({ document: evil, signed: second.signed }),
    ],
    [
      'of another document of the signed revision',
      'wrong-document',
      () =>
        snapshotOf({
          document: documentOf(['clerk, /second, GET'], { author: 'm' }),
          signed: second.signed,
        }),
    ],
    [
      'signed for a shadow',
      'wrong-purpose',
      () => snapshotOf(signPolicy(both, evil, { ...next, purpose: 'shadow' })),
    ],
  ])('is rejected when it is %s, and replaced by what Redis has', async (_, reason, text) => {
    const { file } = await keptSecond()
    await writeFile(file, text())
    const alone = await openFeed(unreachable, { trust, snapshot: file })

    expect(alone.revision()).toBeUndefined()
    expect(alone.rejected(reason)).toBe(1)
    expect(alone.lines).toContainEqual(
      expect.objectContaining({
        text: 'policy snapshot rejected',
        fields: { file, reason: expect.stringContaining(reason) },
      }),
    )
    await alone.close()

    const feed = await openFeed(redis, { trust, snapshot: file })
    expect(feed.revision()).toBe(second.document.revision)
    await until(() => feed.state().snapshot?.current === true)
    expect(parseSnapshot(await readFile(file, 'utf8'))?.signed).toEqual(second.signed)
  })

  test('of an older signed policy gives way to what Redis has', async () => {
    const { file } = await keptSecond()
    await writeFile(file, snapshotOf(first))
    const feed = await openFeed(redis, { trust, snapshot: file })

    expect(feed.revision()).toBe(second.document.revision)
  })

  test('that is lost, and asked for again, does not let an older policy in', async () => {
    await plant(redis, { ...second, sequence: 11 })
    const written: (number | undefined)[] = []
    const snapshot: PolicySnapshot = {
      read: async () => undefined,
      write: ({ verified }) => void written.push(verified?.statement.serial),
      confirm() {},
      isLost: () => true,
      state: () => ({ file: '', current: false, failures: 0, lastError: undefined }),
      close: async () => {},
    }
    const gate = createTrustGate(trust, 'live')
    const settings = { url: redis.url, prefix, connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
    const client = createRedis(settings)
    await client.connect()
    const live = createLivePolicies()
    const feed = createPolicyFeed({
      ...{ live, snapshot, gate, pollMs: 20, log: { info() {}, warn() {} } },
      source: createPublishedPolicies(client, settings, { snapshot: true, gate }),
    })
    onTestFinished(async () => {
      await feed.close()
      await client.close()
    })
    await feed.start()
    await until(() => written.length > 1)
    await plant(redis, { ...first, sequence: Date.now() })

    await until(() => gate.rejected().replayed > 0)
    expect(live.revision()).toBe(second.document.revision)
    expect(new Set(written)).toEqual(new Set([2000]))
  })

  test('of a gateway without policy.trust is used without its signatures', async () => {
    const { file } = await keptSecond()
    const feed = await openFeed(unreachable, { snapshot: file })

    expect(feed.revision()).toBe(second.document.revision)
    expect(feed.state().trust).toBeUndefined()
  })
})

describe('a gateway without policy.trust', () => {
  test.each<[string, unknown]>([
    ['good', second.signed],
    ['forged', { statement: '', signatures: ['x'] }],
    ['missing', undefined],
  ])('uses what Redis has, with signatures that are %s', async (_, signed) => {
    await plant(redis, { document: evil, sequence: 11, signed })
    const feed = await openFeed(redis, {})

    expect(feed.revision()).toBe(evil.revision)
  })
})

test('a running gateway keeps deciding by the signed policy, and counts what it rejected', async () => {
  const redis = await testRedis()
  await plant(redis, { ...first, sequence: 10 })
  const trust = { keys: both.map(({ line }) => line), signatures: 2 }
  const { postern, ask, readyz, publish } = await startPublished({ redis, policy: { trust } })
  expect([await ask('/first'), await ask('/evil')]).toEqual(['allowed', 'denied'])

  // What "postern policy push" of someone without a key would do.
  await publish(['clerk, /evil, GET'])
  await until(async () => (await readyz()).policy.stale)

  expect([await ask('/first'), await ask('/evil')]).toEqual(['allowed', 'denied'])
  const metrics = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  expect(metrics).toMatch(/^postern_policy_rejected_total\{reason="unsigned"\} [1-9]/m)
  expect(metrics).toMatch(/^postern_policy_rejected_total\{reason="replayed"\} 0$/m)
  const { policy, status } = await readyz()
  expect(status).toBe(200)
  expect(policy.lastError).toContain('policy.trust requires 2 signatures')
})

test('a running gateway evaluates only a shadow that was signed as one', async () => {
  const redis = await testRedis()
  await plant(redis, { ...first, sequence: 10 })
  const trust = { keys: [alice.line], signatures: 1 }
  const { postern, ask, readyz } = await startPublished({ redis, policy: { trust } })
  const shadow = async () => (await readyz()).policy.shadow
  const cast = async (signed: Signed | undefined, sequence: number) => {
    const { revision } = second.document
    await redis.client.set(`${prefix}policy:rev:${revision}`, JSON.stringify(second.document))
    const head = { revision, sequence, author: 'a', message: 'm', signed }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(head))
    await redis.client.publish(`${prefix}policy`, '{}')
  }

  await cast(second.signed, 1)
  await until(async () => (await shadow())?.lastError !== undefined)
  expect((await shadow())?.lastError).toContain('rejected (wrong-purpose): signed for live')
  await cast(undefined, 2)
  await until(async () => (await shadow())?.lastError?.includes('unsigned') === true)
  const metrics = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  expect(metrics).toMatch(/^postern_policy_rejected_total\{reason="wrong-purpose"\} 1$/m)

  await cast(signPolicy([alice], second.document, { ...next, purpose: 'shadow' }).signed, 3)
  await until(async () => (await shadow())?.since !== undefined)
  expect([await ask('/first'), await ask('/second')]).toEqual(['allowed', 'denied'])
})

/** The snapshot that a gateway would write of it. */
function snapshotOf({ document, signed }: { document: typeof evil; signed: Signed }): string {
  const statement = JSON.parse(signed.statement)
  const offer = {
    ...{ files: document.files, checksum: document.checksum, revision: document.revision },
    ...{ sequence: 11, verified: { signed, statement, signers: [] } },
    document: JSON.stringify(document),
  }
  return formatSnapshot(offer)
}

import { describe, expect, test } from 'vitest'
import { parsePrivateKey } from '../../src/signing/ssh-private-key.ts'
import { createSignature } from '../../src/signing/ssh-signature.ts'
import {
  createStatement,
  type Predecessor,
  parseStatement,
  type Signed,
} from '../../src/signing/statement.ts'
import { formatDocument } from '../../src/stores/policies/document/policy-document.ts'
import { createDocument, type PolicyDocument } from '../../src/stores/policies/policy-store.ts'
import {
  approved,
  createOffice,
  model,
  officePeople,
  proposed,
  published,
  push,
  rules,
  trustedKeys,
} from '../cli/approval-office.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { ask, prefix, readyz } from '../support/published-policies.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

/*
 * Ann is one of two signers, can write to Redis, and wants a grant that ben would not sign.
 *
 * | Attack | Who stops it |
 * |---|---|
 * | the proposal follows a planted, unsigned policy that has the grant already | approve, and gateways if ben signs elsewhere |
 * | the same, signed by ann alone in head and history | approve, gateways |
 * | the same, with reports of gateways that ann forged | approve |
 * | the proposal follows nothing, after ann deleted everything | approve lists every rule; gateways |
 * | the proposal follows an old signed policy; head, history and reports are rolled back | gateways; approve while one gateway reports |
 * | the proposal follows a signed policy that lost to the live one | gateways; approve while one gateway reports or the head is there |
 * | the stored document of the predecessor is another one | approve |
 * | the predecessor's document is deleted, so that nothing can be compared | approve |
 * | statements in the history lead back to the live policy, but ann alone signed one of them | gateways |
 * | a statement that follows itself, or a later one | approve, gateways (test/signing) |
 * | signatures for a shadow used for the live policy | gateways (test/stores/policy-trust.test.ts) |
 * | a shadow compared with a planted head | push --shadow marks it |
 * | a promotion of a proposal that ann alone signed | promote |
 * | results of tests and replay that ann made up | approve runs its own, and marks hers |
 * | a console that lies | approve --gateway (test/cli/approval-elsewhere.test.ts) |
 */

const redis = emptiedRedis()
const keyOf = (name: string) => `${prefix}policy:${name}`
const { ann, ben } = officePeople

function signature(person: { readonly pem: string }, statement: string): string {
  const found = parsePrivateKey(person.pem)
  if (typeof found === 'string' || found.kind !== 'private') throw new Error('no private key')
  return createSignature(statement, 'postern-policy-live', found.key)
}

/** A policy that is nowhere yet. */
function policyWith(...lines: readonly string[]): PolicyDocument {
  const files = [
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text: rules(...lines) },
  ]
  return createDocument(files, {
    ...{ author: 'ann', message: 'less access', parent: undefined, now: new Date() },
  })
}

/** What these people signed about a document. */
function signed(
  document: PolicyDocument,
  after: Predecessor | null,
  people: readonly { readonly pem: string }[],
): Signed & { readonly own: Predecessor } {
  const { author, message, at, revision } = document
  const parts = { purpose: 'live', after, author, message, document, now: new Date(at) } as const
  const statement = createStatement(parts) ?? ''
  const serial = parseStatement(statement)?.serial ?? 0
  const signatures = people.map((each) => signature(each, statement))
  return { statement, signatures, own: { revision, serial } }
}

const store = (document: PolicyDocument) =>
  redis.client.set(keyOf(`rev:${document.revision}`), formatDocument(document))

/** Writes a proposal as `propose` would, signed by ann. */
async function plantProposal(
  document: PolicyDocument,
  after: Predecessor | null,
  over: string | null = null,
): Promise<string> {
  const { revision } = document
  const { statement, signatures } = signed(document, after, [ann])
  const evidence = { warnings: 0, tests: { passed: 53, coverage: 100 } }
  const about = JSON.stringify({ kind: 'push', over, evidence })
  await redis.client.hset(keyOf(`proposal:${revision}`), {
    ...{ statement, about, 'signature:SHA256:ann': signatures[0] ?? '' },
  })
  await redis.client.set(keyOf(`proposal:${revision}:document`), formatDocument(document))
  await redis.client.zadd(keyOf('proposals'), Date.now() + 1e9, revision)
  return revision
}

/** Writes a signed head as `push` would. */
async function plantHead(document: PolicyDocument, { statement, signatures }: Signed) {
  const { revision } = document
  await store(document)
  const head = { revision, sequence: Date.now(), signed: { statement, signatures } }
  await redis.client.set(keyOf('head'), JSON.stringify(head))
  await redis.client.publish(`${prefix}policy`, '{}')
}

const record = (document: PolicyDocument, { statement, signatures }: Signed) =>
  redis.client.lpush(
    keyOf('history'),
    JSON.stringify({
      ...{ revision: document.revision, sequence: Date.now(), author: 'ann', message: 'm', at: '' },
      ...{ kind: 'push', signed: { statement, signatures } },
    }),
  )

const forget = () => redis.client.del(keyOf('head'), keyOf('history'))

async function liveStatement(): Promise<Predecessor> {
  const { signed: live } = JSON.parse((await redis.client.get(keyOf('head'))) ?? '{}')
  const { revision, serial } = JSON.parse(live.statement)
  return { revision, serial }
}

async function startGateway(): Promise<TestPostern> {
  return startPostern({
    config: {
      redis: { url: redis.url, prefix },
      policy: {
        ...{ source: 'redis', pollSeconds: 1 },
        trust: { keys: trustedKeys, signatures: 2 },
      },
    },
  })
}

/** Two gateways that use a signed policy with `/orders`, and the office of ben. */
async function start() {
  const at = await createOffice(redis.url, 2)
  const first = await published(at)
  const gateways = [await startGateway(), await startGateway()]
  for (const each of gateways) await until(async () => (await ask(each, '/orders')) === 'allowed')
  await until(async () => (await redis.client.hlen(`${prefix}replicas:reports`)) === 2)
  return { at, first, gateways, after: await liveStatement() }
}

/** Whether all gateways refuse it for this reason, and decide as before. */
async function refusedBy(gateways: readonly TestPostern[], reason: string): Promise<void> {
  for (const each of gateways) {
    await until(async () => {
      return (await readyz(each.opsPort)).policy.lastError?.includes(`(${reason})`) === true
    })
    expect([await ask(each, '/orders'), await ask(each, '/secrets')]).toEqual(['allowed', 'denied'])
  }
}

/** The grant; beside the planted policy it looks like a loss. */
const wanted = () => policyWith('/orders, GET', '/secrets, GET')
const planted = () => policyWith('/orders, GET', '/secrets, GET', '/tmp, GET')

type At = Awaited<ReturnType<typeof createOffice>>

/** Ben reads it. He would sign whatever he is not stopped from signing. */
async function benReads(at: At, revision: string, ...more: readonly string[]) {
  const read = await at.run(['approve', revision, '--key', 'ben.pem', '--yes', ...more])
  expect(read.err).not.toContain('access narrows')
  return read
}

describe('one signer who can write to Redis', () => {
  test('cannot have a planted policy be what others compare with', async () => {
    const { at, gateways } = await start()
    await forget()
    const base = planted()
    await store(base)
    const document = wanted()
    const after = { revision: base.revision, serial: Date.now() - 1 }
    const revision = await plantProposal(document, after)

    const read = await benReads(at, revision)
    expect(read).toMatchObject({ code: 1, out: '' })
    expect(read.err).toContain('refused: ')
    const shown = await at.run(['proposals', revision])
    expect(shown.err).toContain(`not compared: it follows ${base.revision} (serial`)
    expect(shown.err).not.toContain('access narrows')

    // With a signature that ben made by another program.
    await plantHead(document, signed(document, after, [ann, ben]))
    await refusedBy(gateways, 'unknown-predecessor')
  })

  test.each<[string, (base: PolicyDocument) => Promise<unknown>]>([
    ['without signatures', async () => {}],
    [
      'signed by one, as the head and in the history',
      async (base) => {
        const own = signed(base, null, [ann])
        await plantHead(base, own)
        await record(base, own)
      },
    ],
    [
      'reported by gateways',
      async (base) => {
        const { own: _, ...own } = signed(base, null, [ann])
        const report = { revision: base.revision, sequence: Date.now(), version: '1', signed: own }
        await redis.client.zadd(`${prefix}replicas:known`, Date.now(), 'gw')
        await redis.client.hset(`${prefix}replicas:reports`, 'gw', JSON.stringify(report))
      },
    ],
  ])('cannot do so where no gateway runs, with a policy %s', async (_, plant) => {
    const at = await createOffice(redis.url, 2)
    await published(at)
    await forget()
    const base = planted()
    await store(base)
    await plant(base)
    const after = signed(base, null, []).own
    const over = JSON.parse((await redis.client.get(keyOf('head'))) ?? '{}').revision ?? null
    const revision = await plantProposal(wanted(), after, over)

    const { code, err } = await benReads(at, revision)
    expect(code).toBe(1)
    expect(err).toContain(`refused: ${revision} cannot be compared: it follows ${base.revision}`)
    expect(err).toContain('nor a gateway has enough signatures')
  })

  test('cannot show a policy as the first one without showing all that it grants', async () => {
    const { at, gateways } = await start()
    await redis.client.flushall()
    const document = wanted()
    const revision = await plantProposal(document, null)

    const alone = await createOffice(redis.url, 2)
    const { err } = await benReads(alone, revision)
    expect(err).toMatch(/clerk {2}GET {2}\/secrets|another policy was published since/)
    await plantHead(document, signed(document, null, [ann, ben]))
    await refusedBy(gateways, 'replayed')
    expect(at).toBeDefined()
  })

  test('cannot go back to an old signed policy as the base', async () => {
    const at = await createOffice(redis.url, 2)
    await at.edit('/orders, GET', '/secrets, GET')
    await published(at)
    const old = { after: await liveStatement(), head: await redis.client.get(keyOf('head')) }
    await at.edit('/orders, GET')
    await published(at, '--over', 'live')
    const gateways = [await startGateway(), await startGateway()]
    for (const each of gateways) await until(async () => (await ask(each, '/orders')) === 'allowed')
    await until(async () => (await redis.client.hlen(`${prefix}replicas:reports`)) === 2)

    await forget()
    await redis.client.set(keyOf('head'), old.head ?? '')
    const document = policyWith('/orders, GET', '/secrets, GET', '/harmless, GET')
    const revision = await plantProposal(document, old.after, old.after.revision)
    const read = await benReads(at, revision)
    expect(read).toMatchObject({ code: 1, out: '' })
    expect(read.err).toContain('another policy was published since')

    await plantHead(document, signed(document, old.after, [ann, ben]))
    await refusedBy(gateways, 'replayed')
  })

  test('cannot use a signed proposal that lost as the base', async () => {
    const { at, gateways } = await start()
    const root = await liveStatement()
    await at.edit('/orders, GET', '/tmp, GET')
    await published(at)
    for (const each of gateways) await until(async () => (await ask(each, '/tmp')) === 'allowed')
    // Ben signed it too, before the other one was published.
    const lost = policyWith('/orders, GET', '/secrets, GET')
    const losing = signed(lost, root, [ann, ben])
    await store(lost)
    await record(lost, losing)
    const document = policyWith('/orders, GET', '/secrets, GET', '/more, GET')
    const revision = await plantProposal(document, losing.own)

    const read = await benReads(at, revision)
    expect(read).toMatchObject({ code: 1, out: '' })
    expect(read.err).toContain('another policy was published since')
    await plantHead(document, signed(document, losing.own, [ann, ben]))
    await refusedBy(gateways, 'replayed')
  })

  test('cannot put a link of her own between two signed policies', async () => {
    const { gateways, after } = await start()
    const link = planted()
    const alone = signed(link, after, [ann])
    await record(link, alone)
    const document = wanted()
    await plantHead(document, signed(document, alone.own, [ann, ben]))

    await refusedBy(gateways, 'unknown-predecessor')
  })

  test.each<[string, (first: string) => Promise<unknown>, string]>([
    ['deleted', (first) => redis.client.del(keyOf(`rev:${first}`)), 'Redis lost its document'],
    [
      'replaced by another one of its revision',
      () => store(policyWith('/orders, GET')),
      'Redis has another document of that revision',
    ],
  ])('cannot have the predecessor %s in Redis', async (_, alter, reason) => {
    const at = await createOffice(redis.url, 2)
    const first = await published(at)
    const revision = await plantProposal(wanted(), await liveStatement(), first)
    await alter(first)

    const read = await benReads(at, revision)
    expect(read).toMatchObject({ code: 1, out: '' })
    expect(read.err).toContain(reason)

    // Ben has the files in his own directory.
    const other = await benReads(at, revision, '--base', 'elsewhere')
    expect(other.code).not.toBe(0)
    const own = await at.run(['approve', revision, '--key', 'ben.pem', '--base', 'policies'])
    expect(own.err).toContain(`compared with policies, your copy of ${first}`)
    expect(own.err).toContain('/secrets')
    await at.edit('/orders, GET', '/others, GET')
    const wrong = await benReads(at, revision, '--base', 'policies')
    expect(wrong.err).toContain(`but ${revision} follows ${first}`)
  })

  test('cannot promote what she alone signed, nor hide a planted head from those who sign shadows', async () => {
    const at = await createOffice(redis.url, 2)
    await published(at)
    await at.edit('/orders, GET', '/secrets, GET')
    const head = JSON.stringify({ revision: wanted().revision, sequence: Date.now() })
    await store(wanted())
    const before = await redis.client.get(keyOf('head'))
    await redis.client.set(keyOf('head'), head)
    const shadowing = ['push', '--shadow', '--no-tests', '-m', 'try', '--yes', '--no-wait']
    const marked = await at.run([...shadowing, '--key', 'ann.pem'])
    expect(marked.err).toContain('warning: the head in Redis is not trusted')
    expect(marked.err).toMatch(/\+ {2}clerk {2}GET {2}\/secrets/)

    await redis.client.set(keyOf('head'), before ?? '')
    const revision = await proposed(at, '--key', 'ann.pem')
    const pushed = await push(at, revision)
    expect(pushed.err).toContain(`refused: ${revision} needs 1 more signature`)
    const promoted = await at.run(['promote', revision, '--yes', '--no-wait', '--allow-lost'])
    expect(promoted.code).not.toBe(0)
  })
})

describe('what an approver reads', () => {
  test('names what the proposal was compared with: revision, serial and signers', async () => {
    const { at, first, after } = await start()
    await at.edit('/orders, GET', '/stock, GET')
    const revision = await proposed(at, '--key', 'ann.pem')

    const { code, err } = await at.run(['approve', revision, '--key', 'ben.pem', '--yes'])
    expect(code).toBe(0)
    expect(err).toContain(
      `compared with ${first} (serial ${after.serial}, signed by ann, ben)\n${first} -> ${revision}\n`,
    )
  })

  test('comes from tests and a replay on the own machine', async () => {
    const at = await createOffice(redis.url, 2)
    await published(at)
    const suite = (expected: string) =>
      `- role: clerk\n  method: GET\n  path: /secrets\n  expect: ${expected}\n`
    await at.write('policies/tests/own_test.yaml', suite('deny'))
    const revision = await plantProposal(wanted(), await liveStatement())

    const failing = await at.run(['approve', revision, '--key', 'ben.pem', '--yes'])
    expect(failing).toMatchObject({ code: 4, out: '' })
    expect(failing.err).toContain(
      'reported    53 tests passed, coverage 100 %, 0 warnings (not verified)',
    )
    expect(failing.err).toContain('policies: 1 test, 0 passed, 1 failed')
    expect(failing.err).toContain('replay not run: name a decision log with --replay FILE')
    expect(failing.err).toContain('refused: tests of policies fail with this policy')

    await at.write('decisions.jsonl', '')
    const replayed = await at.run([
      ...['approve', revision, '--key', 'ben.pem', '--yes', '--allow-failed-tests'],
      ...['--replay', 'decisions.jsonl'],
    ])
    expect(replayed).toMatchObject({ code: 0, out: `ben signed ${revision}\n` })
    expect(replayed.err).toContain('no decisions in 0 lines')
  })
})

test('what was signed goes on after Redis lost everything, by what gateways report', async () => {
  const { at, first, gateways } = await start()
  await redis.client.flushall()
  await until(async () => (await redis.client.hlen(`${prefix}replicas:reports`)) === 2)
  const again = await proposed(at, '--key', 'ann.pem')
  expect(again).toBe(first)
  const read = await at.run(['approve', again, '--key', 'ben.pem', '--yes'])
  expect(read.err).toContain(`but Redis lost its document; if you have the files of ${first}`)
  const copy = ['--base', 'policies']
  const done = await at.run(['approve', again, '--key', 'ben.pem', '--yes', ...copy])
  expect(done).toMatchObject({ code: 0 })
  expect((await at.run(['push', again, '--yes'])).out).toBe(`2/2 on ${first}\n`)
  await at.edit('/orders, GET', '/stock, GET')
  const next = await approved(at)
  expect((await at.run(['push', next, '--yes'])).out).toBe(`2/2 on ${next}\n`)
  for (const each of gateways) expect(await ask(each, '/stock')).toBe('allowed')
})

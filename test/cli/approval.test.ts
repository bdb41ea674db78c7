import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifySigned } from '../../src/signing/trust.ts'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import { linesOf, recordOf } from '../replay/records.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import {
  approve,
  approved,
  createOffice,
  model,
  propose,
  proposed,
  published,
  push,
  rules,
  trustedKeys,
} from './approval-office.ts'

const redis = emptiedRedis()

const office = (signatures: number | undefined) => createOffice(redis.url, signatures)

const live = async () => (await testStore(redis)).head()

describe('four eyes', () => {
  test('publish what two people signed, with their signatures in head and history', async () => {
    const at = await office(2)
    const proposal = await propose(at, '--key', 'ann.pem')
    const revision = /r-[0-9a-f]+/.exec(proposal.out)?.[0] ?? ''
    const early = await push(at, revision)
    const second = await approve(at, revision.slice(0, 14), 'ben.pem')
    const done = await push(at, revision)

    expect(proposal.out).toBe(`proposed ${revision} over nothing, signed by ann\n`)
    expect(proposal.err).toContain('needs 1 more signature: others run "postern policy approve ')
    expect(early).toMatchObject({ code: 1, out: '' })
    expect(early.err).toContain('signatures  1/2 (ann)')
    expect(early.err).toContain(`refused: ${revision} needs 1 more signature`)
    expect(second).toMatchObject({ code: 0, out: `ben signed ${revision}\n` })
    expect(second.err).toContain('proposed    by ann at ')
    expect(second.err).toContain('why         clerks read')
    expect(second.err).toContain(`publish it with "postern policy push ${revision}"`)
    expect(done).toMatchObject({ code: 0, out: `${revision} is live; replicas not checked\n` })

    const head = await live()
    const trust = readTrust({ keys: trustedKeys, signatures: 2 }, '.')
    expect(verifySigned(head?.signed, 'live', trust)).toMatchObject({ signers: ['ann', 'ben'] })
    const [move] = await (await testStore(redis)).history()
    expect(move).toMatchObject({ revision, author: 'ann', message: 'clerks read', kind: 'push' })
    expect(move?.signed).toEqual(head?.signed)
    expect((await at.run(['proposals'])).err).toBe('no proposals are open\n')
  })

  test('see the change compared with the live policy, and what the checks said', async () => {
    const at = await office(2)
    await published(at)
    await at.edit('/orders, GET', '/orders, DELETE')
    const revision = await proposed(at)
    const shown = await at.run(['proposals', revision])
    const asked = await at.run(['approve', revision, '--key', 'ben.pem'], { types: 'no' })

    for (const text of [shown.out + shown.err, asked.err]) {
      expect(text).toContain('proposed    by ann (not verified) at ')
      expect(text).toContain('reported    0 tests passed, coverage 0 %, ')
      expect(text).toMatch(/\+ {2}clerk {2}DELETE {2}\/orders/)
    }
    expect(asked).toMatchObject({ code: 1, out: '' })
    // The tests and the replay come after the diff, and may be longer than a screen.
    expect(asked.err).toMatch(/access widens.*1 gain .*\. Sign r-[0-9a-f]+ as ben\? Type yes: /)
    expect(asked.err).toContain('not signed')
    expect((await push(at, revision)).err).toContain('signatures  0/2')
  })

  test('see what a replay of recorded decisions would change', async () => {
    const at = await office(2)
    await at.write('decisions.jsonl', linesOf(recordOf(), recordOf({ path: '/orders' })))
    const proposal = await propose(at, '--replay', 'decisions.jsonl', '--key', 'ann.pem')
    const revision = /r-[0-9a-f]+/.exec(proposal.out)?.[0] ?? ''
    const second = await approve(at, revision, 'ben.pem')

    expect(proposal.err).toContain('would be denied: 1 call')
    expect(second.err).toMatch(
      /reported {4}replay: asked 2 of 2 decisions from .*: 1 unchanged, 1 would be denied, 0.*\(not verified\)/,
    )
  })

  test('roll back with two signatures', async () => {
    const at = await office(2)
    const first = await published(at)
    await at.edit('/orders, GET', '/orders, DELETE')
    await published(at)
    const alone = await at.run(['rollback', first, '--yes', '--no-wait', '--key', 'ann.pem'])
    const back = await published(at, first)

    expect(alone).toMatchObject({ code: 1, out: '' })
    expect(alone.err).toContain(
      `refused: policy.trust requires 2 signatures: run "postern policy propose ${first} -m WHY --key FILE"`,
    )
    expect(back).toBe(first)
    expect((await live())?.revision).toBe(first)
    expect((await (await testStore(redis)).history(1))[0]).toMatchObject({ kind: 'rollback' })
  })

  test('are what push of a directory asks for', async () => {
    const { err, code } = await push(await office(2), '-m', 'why', '--no-tests', '--key', 'ann.pem')

    expect(code).toBe(1)
    expect(err).toContain(
      'policy.trust requires 2 signatures: run "postern policy propose policies',
    )
  })
})

/** Makes a proposal the head, without the signatures that it lacks. */
async function plantAsLive(revision: string): Promise<void> {
  const key = `${prefix}policy:proposal:${revision}`
  const document = (await redis.client.get(`${key}:document`)) ?? ''
  await redis.client.set(`${prefix}policy:rev:${revision}`, document)
  await redis.client.set(`${prefix}policy:head`, JSON.stringify({ revision, sequence: 9e12 }))
  const about = { kind: 'push', over: revision, evidence: {} }
  await redis.client.hset(key, 'about', JSON.stringify(about))
}

describe('a cheat', () => {
  test('cannot sign twice with one key', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const again = await approve(at, revision, 'ann.pem')

    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain(
      `refused: ann has signed ${revision} already: another key must sign`,
    )
    expect((await push(at, revision)).code).toBe(1)
  })

  test('cannot count one signature twice by copying it in Redis', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const key = `${prefix}policy:proposal:${revision}`
    const [own = ''] = Object.entries(await redis.client.hgetall(key))
      .filter(([name]) => name.startsWith('signature:'))
      .map(([, text]) => text)
    await redis.client.hset(key, 'signature:SHA256:other', own, 'signature:x', 'junk')
    const refused = await push(at, revision)

    expect(refused.code).toBe(1)
    expect(refused.err).toContain('signatures  1/2 (ann), and 2 that do not count')
    expect((await approve(at, revision, 'ben.pem')).code).toBe(0)
    expect((await push(at, revision)).code).toBe(0)
    expect((await live())?.signed?.signatures).toHaveLength(2)
  })

  test('cannot use a key that the configuration does not list', async () => {
    const at = await office(2)
    const revision = await proposed(at)
    for (const refused of [
      await approve(at, revision, 'eve.pem'),
      await propose(at, '--key', 'eve.pem'),
    ]) {
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toContain(
        'refused: policy.trust.keys does not list the key in eve.pem (SHA256:',
      )
    }
  })

  test('cannot alter the document after the approval', async () => {
    const at = await office(2)
    const revision = await approved(at)
    const key = `${prefix}policy:proposal:${revision}:document`
    const text = (await redis.client.get(key)) ?? ''
    await redis.client.set(key, text.replace('/orders', '/admin'))
    const altered = await push(at, revision)
    await redis.client.set(key, documentTextOf(['/orders, GET', '/admin, GET'], revision))
    const replaced = await push(at, revision)
    await redis.client.del(key)
    const missing = await push(at, revision)

    expect(altered).toMatchObject({ code: 5, out: '' })
    expect(altered.err).toContain('checksum mismatch')
    expect(replaced.code).toBe(1)
    expect(replaced.err).toContain('its statement is about another document')
    expect(missing.code).toBe(1)
    expect(missing.err).toContain('its document is missing')
    expect(await live()).toBeUndefined()
  })

  test('cannot alter the statement after the approval', async () => {
    const at = await office(2)
    const revision = await approved(at)
    const key = `${prefix}policy:proposal:${revision}`
    const statement = (await redis.client.hget(key, 'statement')) ?? ''
    const { serial } = JSON.parse(statement) as { serial: number }
    const other = statement.replace(`"serial":${serial}`, `"serial":${serial + 1}`)
    await redis.client.hset(key, 'statement', other)
    const { code, err } = await push(at, revision)

    expect(code).toBe(1)
    expect(err).toContain('signatures  0/2, and 2 that do not count')
    const ahead = statement.replace(/"serial":\d+/, '"serial":9007199254740990')
    const later = `"after":{"revision":"${revision}","serial":9007199254740990}`
    for (const forged of [ahead, statement.replace('"after":null', later)]) {
      await redis.client.hset(key, 'statement', forged)
      expect((await approve(at, revision, 'ann.pem')).err).toContain('its statement is not valid')
    }
    await redis.client.hset(key, 'statement', '{"version":1}')
    expect((await push(at, revision)).err).toContain('its statement is not valid')
    expect((await at.run(['proposals'])).err).toContain('some proposals are damaged')
  })

  test('cannot have the history show another author or reason than signers read', async () => {
    const at = await office(2)
    const revision = await proposed(at)
    const key = `${prefix}policy:proposal:${revision}`
    const statement = (await redis.client.hget(key, 'statement')) ?? ''
    await redis.client.hset(key, 'statement', statement.replace('clerks read', 'nothing to see'))

    const { code, err } = await approve(at, revision, 'ben.pem')

    expect(code).toBe(1)
    expect(err).toContain('its statement and its document differ in author, why or time')
  })

  test('cannot have another policy signed under an earlier revision', async () => {
    const at = await office(1)
    await push(at, '-m', 'first', '--no-tests', '--key', 'ann.pem')
    const first = (await live())?.revision ?? ''
    await at.edit('/orders, GET', '/orders, POST')
    await push(at, '-m', 'second', '--no-tests', '--key', 'ann.pem', '--over', first)
    await redis.client.set(`${prefix}policy:rev:${first}`, documentTextOf(['/*, *'], first))
    const back = ['--yes', '--no-wait', '--key', 'ann.pem']
    const refused = [
      await at.run(['rollback', first, ...back]),
      await at.run(['propose', first, '-m', 'back', '--key', 'ann.pem']),
      await at.run(['diff', first, 'live']),
    ]

    for (const { code, err } of refused) {
      expect(code).toBe(5)
      expect(err).toContain(`the document of ${first} was altered in Redis: its content is r-`)
    }
  })

  test('cannot publish what was approved over another policy', async () => {
    const at = await office(2)
    await published(at)
    await at.edit('/orders, GET', '/orders, PUT')
    const late = await approved(at)
    await at.edit('/orders, GET', '/orders, POST')
    const winner = await published(at)
    const refused = await push(at, late)
    const unsigned = await approve(at, late, 'ben.pem')
    const listed = await at.run(['proposals'])
    await at.edit('/orders, GET', '/orders, PUT')
    const again = await propose(at, '--over', winner, '--key', 'ann.pem')

    for (const { code, err } of [refused, unsigned]) {
      expect(code).toBe(1)
      expect(err).toContain('but another policy was published since: compare with that')
    }
    expect(listed.out).toMatch(/r-[0-9a-f]+ +\S+ +stale +2\/2 \(ann, ben\)/)
    expect(again).toMatchObject({ code: 0 })
    expect((await live())?.revision).toBe(winner)
  })

  test('cannot have a dropped proposal approved or published', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const dropped = await at.run(['proposals', '--drop', revision.slice(0, 14)])
    const results = [
      await approve(at, revision, 'ben.pem'),
      await push(at, revision),
      await at.run(['proposals', '--drop', revision]),
    ]

    expect(dropped).toMatchObject({ code: 0, out: `dropped the proposal of ${revision}\n` })
    for (const { code, out, err } of results) {
      expect({ code, out }).toEqual({ code: 5, out: '' })
      expect(err).toContain(`proposal ${revision} does not exist`)
    }
  })

  test('cannot hide the difference by planting the proposal as the live policy', async () => {
    const at = await office(2)
    const first = await published(at)
    await at.edit('/orders, GET', '/admin, GET')
    const revision = await proposed(at, '--key', 'ann.pem')
    await plantAsLive(revision)
    await redis.client.del(`${prefix}policy:history`)

    const review = await at.run(['approve', revision, '--key', 'ben.pem'])

    expect(review).toMatchObject({ code: 1, out: '' })
    expect(review.err).toContain(`it follows ${first} (serial `)
    expect(review.err).not.toContain('no difference')
  })

  test('cannot hide the difference by deleting the head and the history', async () => {
    const at = await office(2)
    const first = await published(at)
    await at.edit('/orders, GET', '/admin, GET')
    const revision = await proposed(at, '--key', 'ann.pem')
    await redis.client.del(`${prefix}policy:head`, `${prefix}policy:history`)
    const about = { kind: 'push', over: null, evidence: {} }
    const key = `${prefix}policy:proposal:${revision}`
    await redis.client.hset(key, 'about', JSON.stringify(about))

    const { code, err } = await at.run(['approve', revision, '--key', 'ben.pem'])

    expect(code).toBe(1)
    expect(err).toContain(`it follows ${first} (serial `)
    expect(err).toContain('name their directory with --base DIR')
  })

  test('cannot hide the difference of a first signed policy either', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    await plantAsLive(revision)

    const { err } = await at.run(['approve', revision, '--key', 'ben.pem'])

    expect(err).toContain(`${revision} over nothing\n`)
    expect(err).toContain('compared with nothing: no signed policy was found\n')
    expect(err).toContain(`nothing -> ${revision}\n`)
    expect(err).toContain('  +  clerk  GET  /orders')
  })

  test('cannot hide a superuser in a first policy of more lines than people read', async () => {
    const at = await office(2)
    await at.write(
      'policies/model.conf',
      model.replace('m = r.sub == p.sub', 'm = r.sub == "zoe" || r.sub == p.sub'),
    )
    await at.edit(...Array.from({ length: 1200 }, (_, index) => `/orders/${index}, GET`), '/x/*, *')
    const revision = await proposed(at, '--key', 'ann.pem')

    const { err } = await at.run(['approve', revision, '--key', 'ben.pem'])

    const listed = err.split('\n').filter((line) => line.startsWith('  +  '))
    expect(listed).toHaveLength(1000)
    expect(listed[0]).toContain('zoe')
    expect(listed[0]).toContain('SUPERUSER')
    expect(listed[1]).toContain('clerk  *')
    expect(err).toContain('\n  … and 202 more lines: without effect, or not more severe\n')
    expect(err).toContain(
      '1,202 gains (1 of superusers, 1 of wildcards, 1,200 of reading), 0 losses',
    )
  })

  test('cannot make the next statement follow a head that nobody trusted signed', async () => {
    const at = await office(2)
    const first = await published(at)
    await at.run(['pull', 'live', 'policies', '--force'])
    const intruder = await office(undefined)
    await intruder.edit('/*, *')
    await intruder.run(['push', '--no-tests', '-m', 'mine', '--yes', '--no-wait', '--over', 'live'])
    await at.edit('/orders, GET', '/orders, POST')
    const { code, err } = await propose(at, '--key', 'ann.pem')

    expect(code).toBe(0)
    expect(err).toContain('gateways with policy.trust ignore it')
    // Compared with what gateways use, not with what the intruder put there.
    expect(err).toContain(`${first} -> `)
    const [proposal] = await (await testStore(redis)).proposals.list()
    expect(proposal?.statement).toContain(`"after":{"revision":"${first}",`)
    const pulled = await at.run(['pull', 'live', 'pulled'])
    expect(pulled.out).toContain(first)
    expect(pulled.err).toContain(`gateways with policy.trust ignore it and keep ${first}`)
  })
})

describe('one signature', () => {
  test('is made by push and rollback themselves', async () => {
    const at = await office(1)
    const unsigned = await push(at, '-m', 'first', '--no-tests')
    const first = await push(at, '-m', 'first', '--no-tests', '--key', 'ann.pem')
    const revision = (await live())?.revision ?? ''
    await at.edit('/orders, GET', '/orders, POST')
    await push(at, '-m', 'second', '--no-tests', '--key', 'ben.pem', '--over', revision)
    // The owner of the key, not the user of the operating system.
    expect((await live())?.author).toBe('ben')
    const bare = await at.run(['rollback', revision, '--yes', '--no-wait'])
    const back = await at.run(['rollback', revision, '--yes', '--no-wait', '--key', 'ann.pem'])

    for (const { code, err } of [unsigned, bare]) {
      expect(code).toBe(1)
      expect(err).toContain('refused: policy.trust requires a signature: add --key FILE')
    }
    expect(first).toMatchObject({ code: 0 })
    expect(first.err).toContain('signed by ann')
    expect(back).toMatchObject({ code: 0 })
    const head = await live()
    const trust = readTrust({ keys: trustedKeys, signatures: 1 }, '.')
    expect(head?.revision).toBe(revision)
    expect(verifySigned(head?.signed, 'live', trust)).toMatchObject({ signers: ['ann'] })
    // The statement is about the document that is stored.
    const stored = await (await testStore(redis)).read(revision)
    expect(JSON.parse(head?.signed?.statement ?? '')).toMatchObject({ document: stored?.checksum })
  })

  test('is added to a policy that is live without one, before gateways require it', async () => {
    const before = await office(undefined)
    await push(before, '-m', 'first', '--no-tests')
    const unsigned = await live()
    const signed = await push(before, '-m', 'signed', '--no-tests', '--key', 'ann.pem')
    const again = await push(before, '-m', 'signed', '--no-tests', '--key', 'ann.pem')

    expect(signed).toMatchObject({ code: 0 })
    expect((await live())?.revision).toBe(unsigned?.revision)
    expect((await live())?.signed?.signatures).toHaveLength(1)
    expect(again.err).toContain('is already live: nothing to publish')
  })

  test('that is missing is noted when the live policy has one', async () => {
    const at = await office(undefined)
    await push(at, '-m', 'first', '--no-tests', '--key', 'ann.pem')
    await at.edit('/orders, GET', '/orders, POST')
    const { code, err } = await push(at, '-m', 'second', '--no-tests')

    expect(code).toBe(0)
    expect(err).toContain('gateways with policy.trust will reject it: sign it with --key FILE')
  })
})

describe('a proposal', () => {
  test('is not live, and is listed with its author, reason, signatures and state', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const { code, out } = await at.run(['proposals'])
    const asJson = await at.run(['proposals', '--output', 'json'])

    expect(await live()).toBeUndefined()
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`^REVISION .*\n${revision}  20\\S+Z  open +1/2 \\(ann\\) +ann +clerks read\n$`),
    )
    expect(JSON.parse(asJson.out)).toMatchObject([
      {
        revision,
        state: 'open',
        author: 'ann',
        message: 'clerks read',
        signers: ['ann'],
        needed: 2,
      },
    ])
  })

  test('expires after 30 days', async () => {
    const revision = await proposed(await office(2))
    for (const key of [`:${revision}`, `:${revision}:document`, 's']) {
      const left = await redis.client.pttl(`${prefix}policy:proposal${key}`)
      expect(left).toBeGreaterThan(29 * 24 * 3600_000)
      expect(left).toBeLessThanOrEqual(30 * 24 * 3600_000)
    }
  })

  test('of the same revision is refused until the first is stale or dropped', async () => {
    const at = await office(2)
    const revision = await proposed(at, '--key', 'ann.pem')
    const again = await propose(at)

    expect(again.code).toBe(1)
    expect(again.err).toContain(`refused: ann proposed ${revision} already at `)
    await at.run(['proposals', '--drop', revision])
    expect((await propose(at)).code).toBe(0)
  })

  test('needs no signature where the configuration has no trust', async () => {
    const at = await office(undefined)
    const revision = await proposed(at)
    const done = await push(at, revision)

    expect(done.code).toBe(0)
    expect((await live())?.revision).toBe(revision)
    expect((await propose(at)).err).toContain('is already live: nothing to propose')
  })

  test('can be compared and asked like a published policy', async () => {
    const at = await office(2)
    const revision = await proposed(at)
    const diff = await at.run(['diff', 'policies', revision.slice(0, 14)])
    const asked = await at.run(['explain', 'clerk', 'GET', '/orders', '--revision', revision])
    const alone = await createOffice(redis.url, undefined)
    const back = await alone.run(['rollback', revision, '--yes', '--no-wait'])

    expect(asked.out).toContain(revision)
    expect(diff.out).toContain('no difference')
    expect(back.code).toBe(5)
    expect(back.err).toContain(`revision ${revision} does not exist`)
  })

  test('leaves the files usable for the next change', async () => {
    const at = await office(2)
    await published(at)
    await at.run(['pull', 'live', 'policies', '--force'])
    await at.edit('/orders, GET', '/orders, POST')
    await published(at)
    await at.edit('/orders, GET', '/orders, POST', '/orders, PUT')

    expect((await propose(at)).code).toBe(0)
  })

  test('is not accepted with options of a directory, nor without a reason', async () => {
    const at = await office(2)
    const revision = await proposed(at)

    expect(await push(at, revision, '-m', 'x')).toMatchObject({ code: 2 })
    expect(await push(at, revision, '--key', 'ann.pem')).toMatchObject({ code: 2 })
    expect(await at.run(['propose', '--no-tests', '-m', ' '])).toMatchObject({ code: 2 })
    expect(await at.run(['push', '--no-tests'])).toMatchObject({ code: 2 })
    expect(await at.run(['approve', 'policies', '--key', 'x'])).toMatchObject({ code: 2 })
    expect(await at.run(['approve', revision])).toMatchObject({ code: 2 })
  })

  test('that someone filled with anything does not stop the commands', async () => {
    const at = await office(2)
    const index = `${prefix}policy:proposals`
    await redis.client.zadd(index, 9e15, 'r-aaaaaaaaaaaa', 9e15, '../x', 9e15, 'r-bbbbbbbbbbbb')
    await redis.client.hset(`${prefix}policy:proposal:r-aaaaaaaaaaaa`, {
      statement: 'x'.repeat(20_000),
      about: '{}',
    })
    await redis.client.hset(`${prefix}policy:proposal:r-bbbbbbbbbbbb`, {
      statement: '{"a":1}',
      about: '{"kind":"push","over":null,"evidence":{"replay":{"asked":"x"},"tests":[]}}',
    })
    const listed = await at.run(['proposals'])

    expect(listed).toMatchObject({ code: 0, out: '' })
    expect(await approve(at, 'r-bbbbbbbbbbbb', 'ann.pem')).toMatchObject({ code: 1 })
    expect(await approve(at, 'r-aaaaaaaaaaaa', 'ann.pem')).toMatchObject({ code: 5 })
  })
})

/** The text of a valid document of other rules under the name of this revision. */
function documentTextOf(lines: readonly string[], revision: string): string {
  const files = [
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text: rules(...lines) },
  ]
  const content = JSON.stringify({ revision, files, author: 'eve', message: '', at: '' })
  const checksum = createHash('sha256').update(content).digest('hex')
  return `${content.slice(0, -1)},"checksum":"${checksum}"}`
}

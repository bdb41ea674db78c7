import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { verifySigned } from '../../src/signing/trust.ts'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { testSigner } from '../support/policy-signers.ts'
import { prefix, readyz, testStore } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'
import { folder, policy } from './policy-runner.ts'
import { sayAs } from './shadow-replica.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const redis = emptiedRedis()
const [ann, ben] = [testSigner('ann'), testSigner('ben')]
const keys = [ann.line, ben.line]

/** A directory whose configuration requires so many signatures. */
async function office(signatures: number) {
  const cwd = await folder({
    'policies/model.conf': model,
    'policies/policy.csv': 'p, clerk, /orders, GET\n',
    'ann.pem': ann.pem,
    'ben.pem': ben.pem,
    'config/postern.yaml': stringify({
      application: { mode: 'dev' },
      redis: { url: redis.url, prefix },
      policy: { source: 'redis', trust: { keys, signatures } },
    }),
  })
  const run = (...args: readonly string[]) => policy(args, { cwd, userName: 'ann' })
  const edit = (rule: string) => writeFile(join(cwd, 'policies/policy.csv'), `p, ${rule}\n`)
  const push = (...args: readonly string[]) =>
    run('push', ...args, '--no-tests', '-m', 'why', '--yes', '--no-wait')
  return { run, edit, push, trust: readTrust({ keys, signatures }, '.') }
}

const stored = async () => (await (await testStore(redis)).shadow.read())?.head
const seen = { id: 'gw-1', evidence: { evaluated: 9 } }

describe('a shadow under policy.trust', () => {
  test('is signed as one, and promoted with a signature for the live policy', async () => {
    const at = await office(1)
    await at.push('--key', 'ann.pem')
    await at.edit('clerk, /exports, GET')

    const unsigned = await at.push('--shadow')
    const signed = await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    // One more than required must not start the counts again.
    const more = await at.push('--shadow', '--key', 'ben.pem')
    await sayAs(redis, head?.sequence, seen)
    const promote = ['promote', head?.revision ?? '', '--yes', '--no-wait']
    const without = await at.run(...promote)
    const promoted = await at.run(...promote, '--key', 'ben.pem')

    expect(unsigned).toMatchObject({ code: 1, err: expect.stringContaining('add --key FILE') })
    expect(signed.code).toBe(0)
    expect(more.err).toContain('is already the shadow: counting continues')
    expect(verifySigned(head?.signed, 'shadow', at.trust)).toMatchObject({ signers: ['ann'] })
    expect(verifySigned(head?.signed, 'live', at.trust)).toMatchObject({
      rejection: 'wrong-purpose',
    })
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('add --key FILE') })
    expect({ code: promoted.code, err: promoted.err }).toMatchObject({ code: 0 })
    const live = await (await testStore(redis)).head()
    expect(live?.revision).toBe(head?.revision)
    expect(verifySigned(live?.signed, 'live', at.trust)).toMatchObject({ signers: ['ben'] })
  })

  test('collects the signatures of several people over one statement', async () => {
    const at = await office(2)

    const first = await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    const again = await at.push('--shadow', '--key', 'ann.pem')
    const start = head?.revision.slice(0, 14) ?? ''
    const second = await at.run('push', '--shadow', start, '--key', 'ben.pem', '--yes', '--no-wait')

    expect(first.err).toContain('gateways evaluate it once 1 more of policy.trust.keys signed it')
    expect(again.err).toContain('is already the shadow')
    expect({ code: second.code, err: second.err }).toMatchObject({ code: 0 })
    expect(second.err).not.toContain('more of policy.trust.keys')
    const both = (await stored())?.signed
    expect(verifySigned(both, 'shadow', at.trust)).toMatchObject({ signers: ['ann', 'ben'] })
    expect(both?.statement).toBe(head?.signed?.statement)
    expect(await stored()).toMatchObject({ author: head?.author, message: head?.message })
  })

  test('waits at a gateway until enough people signed it, which is not a rejection', async () => {
    const at = await office(2)
    const { opsPort } = await startPostern({
      config: {
        redis: { url: redis.url, prefix },
        policy: { source: 'redis', pollSeconds: 1, trust: { keys, signatures: 2 } },
      },
    })
    const shadow = async () => (await readyz(opsPort)).policy.shadow
    await at.push('--shadow', '--key', 'ann.pem')
    await until(async () => (await shadow())?.lastError !== undefined)
    const waiting = await shadow()
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
    await at.push('--shadow', '--key', 'ben.pem')
    await until(async () => (await shadow())?.since !== undefined)

    expect(waiting?.lastError).toContain('waits for signatures: 1 of 2 (ann)')
    expect(metrics).toMatch(/^postern_policy_rejected_total\{reason="under-signed"\} 0$/m)
  })

  test('never makes a person sign what someone else put there as a statement', async () => {
    const at = await office(1)
    await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    const live = { ...JSON.parse(head?.signed?.statement ?? ''), purpose: 'live' }
    const planted = { ...head, signed: { statement: JSON.stringify(live), signatures: [] } }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(planted))

    await at.push('--shadow', '--key', 'ben.pem')

    const { signed } = (await stored()) ?? {}
    expect(JSON.parse(signed?.statement ?? '')).toMatchObject({ purpose: 'shadow', author: 'ben' })
    expect(verifySigned(signed, 'shadow', at.trust)).toMatchObject({ signers: ['ben'] })
  })

  test('is signed with an author and a reason that the signer reads', async () => {
    const at = await office(2)
    await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    const claims = { ...JSON.parse(head?.signed?.statement ?? ''), message: 'for the board' }
    const planted = { ...head, signed: { statement: JSON.stringify(claims), signatures: [] } }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(planted))

    const { err } = await at.push('--shadow', '--key', 'ben.pem')

    expect(err).toContain(`ben signs for the shadow ${head?.revision}, pushed by ben: why\n`)
    expect((await stored())?.message).toBe('why')
  })

  test('shows the author and reason that were signed, not those beside them', async () => {
    const at = await office(1)
    await at.push('--shadow', '--key', 'ann.pem')
    const planted = { ...(await stored()), author: 'eve', message: 'for the board' }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(planted))

    const { out } = await at.run('shadow')

    expect(out).toMatch(/, pushed by ann at .*: why\n/)
    expect(out).not.toContain('for the board')
  })

  test('is signed again where the signatures are about another document', async () => {
    const at = await office(1)
    await at.push('--shadow', '--key', 'ann.pem')
    const { signed: other } = (await stored()) ?? {}
    await at.edit('clerk, /exports, GET')
    await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    const planted = JSON.stringify({ ...head, signed: other })
    await redis.client.set(`${prefix}policy:shadow`, planted)

    const { err } = await at.push('--shadow', '--key', 'ben.pem')

    expect(err).toContain('ben signs for the shadow')
    expect((await stored())?.signed?.statement).toContain(head?.revision)
  })

  test('cannot be kept from its signatures by worthless ones', async () => {
    const at = await office(2)
    await at.push('--shadow', '--key', 'ann.pem')
    const head = await stored()
    const [own = ''] = head?.signed?.signatures ?? []
    const signatures = [...Array.from({ length: 31 }, () => 'junk'), own]
    const planted = { ...head, signed: { ...head?.signed, signatures } }
    await redis.client.set(`${prefix}policy:shadow`, JSON.stringify(planted))

    await at.push('--shadow', '--key', 'ben.pem')

    const verified = verifySigned((await stored())?.signed, 'shadow', at.trust)
    expect(verified).toMatchObject({ signers: ['ann', 'ben'] })
  })

  test('is promoted as the proposal that enough people approved', async () => {
    const at = await office(2)
    await at.push('--shadow', '--key', 'ann.pem')
    const { revision = '', sequence } = (await stored()) ?? {}
    await sayAs(redis, sequence, seen)
    const promote = ['promote', revision, '--yes', '--no-wait']

    const early = await at.run(...promote)
    await at.run('propose', '--no-tests', '-m', 'why', '--key', 'ann.pem')
    const half = await at.run(...promote)
    await at.run('approve', revision, '--key', 'ben.pem', '--yes')
    const promoted = await at.run(...promote)

    expect(early.err).toContain(`run "postern policy propose ${revision} -m WHY --key FILE"`)
    expect(half).toMatchObject({ code: 1, err: expect.stringContaining('1 more signature') })
    expect({ code: promoted.code, err: promoted.err }).toMatchObject({ code: 0 })
    const store = await testStore(redis)
    expect((await store.history(1))[0]).toMatchObject({
      ...{ revision, kind: 'promote' },
      evidence: { evaluated: 9 },
    })
    expect(verifySigned((await store.head())?.signed, 'live', at.trust)).toMatchObject({
      signers: ['ann', 'ben'],
    })
    expect(await stored()).toBeUndefined()
  })
})

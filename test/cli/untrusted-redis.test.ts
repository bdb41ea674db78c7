import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import { formatDocument } from '../../src/stores/policies/document/policy-document.ts'
import { openFeed } from '../stores/trusted-feed.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { documentOf } from '../support/policy-files.ts'
import { prefix, publish } from '../support/published-policies.ts'
import { until } from '../support/until.ts'
import { createOffice, push, trustedKeys } from './approval-office.ts'
import { folder } from './policy-runner.ts'

const redis = emptiedRedis()

/** What ann signed and published. */
async function signedPolicy() {
  const at = await createOffice(redis.url, 1)
  const done = await push(at, '--no-tests', '-m', 'signed', '--key', 'ann.pem')
  expect(done).toMatchObject({ code: 0 })
  const revision = /r-[0-9a-f]+/.exec(done.out)?.[0] ?? ''
  return { at, revision }
}

describe('where Redis has a head that policy.trust rejects', () => {
  test('commands answer for what gateways use, and say so', async () => {
    const { at, revision } = await signedPolicy()
    const planted = await publish(redis.url, ['clerk, /evil, GET'])
    const directory = join(await folder({}), 'pulled')

    const status = await at.run(['status'])
    const pull = await at.run(['pull', 'live', directory])
    const asked = await at.run(['explain', 'clerk', 'GET', '/evil', '--revision', 'live'])

    const kept = `gateways with policy.trust ignore it and keep ${revision}`
    for (const { err } of [status, pull, asked]) {
      expect(err).toContain(`warning: the head in Redis is not trusted: ${planted}: not signed`)
      expect(err).toContain(kept)
    }
    expect(asked.code).toBe(1)
    expect(pull.code).toBe(0)
    expect(await readFile(join(directory, 'policy.csv'), 'utf8')).toContain('/orders')
  })

  test('commands do not say what gateways keep when nothing is signed', async () => {
    const at = await createOffice(redis.url, 1)
    await publish(redis.url, ['clerk, /evil, GET'])

    expect((await at.run(['status'])).err).toMatch(/gateways with policy\.trust ignore it\n/)
  })

  test('the first digits of a revision that was not signed find nothing', async () => {
    const { at, revision } = await signedPolicy()
    const planted = await publish(redis.url, ['clerk, /evil, GET'])
    const back = (name: string) =>
      at.run(['rollback', name, '--key', 'ann.pem', '--yes', '--no-wait'])

    const refused = await back(planted.slice(0, 16))
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('does not exist') })
    expect(await back(revision.slice(0, 16))).toMatchObject({ code: 0 })
  })
})

test('a policy that Redis has under the revision of another one is not signed by mistake', async () => {
  const { at, revision } = await signedPolicy()
  await at.edit('/orders, GET', '/items, GET')
  expect(await push(at, '--no-tests', '-m', 'more', '--key', 'ann.pem')).toMatchObject({ code: 0 })
  const evil = documentOf(['clerk, /evil, GET'])
  const { checksum: _, ...content } = { ...evil, revision }
  const forged = { ...content, checksum: await checksumOf(content) }
  await redis.client.set(`${prefix}policy:rev:${revision}`, formatDocument(forged))

  const back = await at.run(['rollback', revision, '--key', 'ann.pem', '--yes', '--no-wait'])
  const diff = await at.run(['diff', revision, 'policies'])
  const pull = await at.run(['pull', revision, join(await folder({}), 'pulled')])

  for (const { code, err } of [back, diff, pull]) {
    expect(err).toContain(`the document of ${revision} was altered in Redis: its content is r-`)
    expect(code).toBe(5)
  }
})

async function checksumOf(content: object): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(JSON.stringify(content)))
  return Buffer.from(digest).toString('hex')
}

test('a key is replaced without a gap: what is live is signed again before gateways forget the key', async () => {
  const { at, revision } = await signedPolicy()
  const old = await openFeed(redis, { trust: readTrust({ keys: trustedKeys, signatures: 1 }, '.') })
  const keys = [...trustedKeys].filter((line) => line.endsWith('ben'))
  const trust = readTrust({ keys, signatures: 1 }, '.')
  await at.write(
    'config/postern.yaml',
    stringify({
      application: { mode: 'dev' },
      redis: { url: redis.url, prefix },
      policy: { source: 'redis', trust: { keys } },
    }),
  )

  const done = await push(at, '--no-tests', '-m', 'without ann', '--key', 'ben.pem')

  expect(done).toMatchObject({ code: 0, err: expect.stringContaining('signed by ben') })
  await until(() => old.state().trust?.signers.join() === 'ben')
  expect(old.revision()).toBe(revision)
  expect((await openFeed(redis, { trust })).revision()).toBe(revision)
})

import { describe, expect, test } from 'vitest'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { ask, prefix, readyz } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'
import {
  approved,
  createOffice,
  model,
  proposed,
  published,
  rules,
  trustedKeys,
} from './approval-office.ts'

const redis = emptiedRedis()

/** An office where two of two sign, and a gateway that requires it. */
async function start() {
  const at = await createOffice(redis.url, 2)
  const postern = await startPostern({
    config: {
      redis: { url: redis.url, prefix },
      policy: {
        ...{ source: 'redis', pollSeconds: 1 },
        trust: { keys: trustedKeys, signatures: 2 },
      },
    },
  })
  return { at, asks: (path: string) => ask(postern, path), postern }
}

describe('a gateway with policy.trust', () => {
  test('follows what two people signed, forward and back, and nothing else', async () => {
    const { at, asks, postern } = await start()
    const first = await approved(at)
    const done = await at.run(['push', first, '--yes'])
    expect(done).toMatchObject({ code: 0, out: `1/1 on ${first}\n` })
    expect([await asks('/orders'), await asks('/stock')]).toEqual(['allowed', 'denied'])

    await at.edit('/orders, GET', '/stock, GET')
    const second = await approved(at)
    expect(await asks('/stock')).toBe('denied')
    expect((await at.run(['push', second, '--yes'])).out).toBe(`1/1 on ${second}\n`)
    expect(await asks('/stock')).toBe('allowed')
    expect(postern.logText()).toContain('"signers":["ann","ben"]')

    const intruder = await createOffice(redis.url, undefined)
    await intruder.edit('/*, GET')
    const forced = ['-m', 'mine', '--no-tests', '--yes', '--over', 'live', '--wait', '2']
    const intrusion = await intruder.run(['push', ...forced])
    expect(intrusion.code).toBe(1)
    expect(intrusion.err).toContain('rejected (unsigned)')
    expect(await asks('/secrets')).toBe('denied')

    const back = await approved(at, first)
    expect((await at.run(['push', back, '--yes'])).out).toBe(`1/1 on ${first}\n`)
    expect([await asks('/orders'), await asks('/stock')]).toEqual(['allowed', 'denied'])
  })

  test('refuses an approved proposal that someone writes to the head after another won', async () => {
    const { at, asks, postern } = await start()
    await published(at)
    await at.edit('/orders, GET', '/late, GET')
    const late = await approved(at)
    const key = `${prefix}policy:proposal:${late}`
    const { statement = '', ...fields } = await redis.client.hgetall(key)
    const signatures = Object.entries(fields)
      .filter(([name]) => name.startsWith('signature:'))
      .map(([, text]) => text)
    const document = (await redis.client.get(`${key}:document`)) ?? ''
    await at.edit('/orders, GET', '/early, GET')
    await published(at)
    await until(async () => (await asks('/early')) === 'allowed')

    const head = JSON.parse((await redis.client.get(`${prefix}policy:head`)) ?? '{}')
    await redis.client.set(`${prefix}policy:rev:${late}`, document)
    const signed = { statement, signatures }
    const forged = { ...head, revision: late, sequence: head.sequence + 1, signed }
    await redis.client.set(`${prefix}policy:head`, JSON.stringify(forged))
    await until(async () => {
      return (await readyz(postern.opsPort)).policy.lastError?.includes('replayed') === true
    })

    expect([await asks('/early'), await asks('/late')]).toEqual(['allowed', 'denied'])
  })

  test('accepts what is signed after Redis lost everything', async () => {
    const { at, asks } = await start()
    const lost = await published(at)
    await until(async () => (await asks('/orders')) === 'allowed')
    await redis.client.flushall()
    await until(async () => (await at.run(['status'])).out.includes(lost))
    // Redis lost the document too, so the approver compares with a copy.
    await at.write('kept/model.conf', model)
    await at.write('kept/policy.csv', rules('/orders, GET'))
    await at.edit('/orders, GET', '/stock, GET')
    const again = await proposed(at, '--key', 'ann.pem')
    const second = ['approve', again, '--key', 'ben.pem', '--yes', '--base', 'kept']
    expect(await at.run(second)).toMatchObject({ code: 0 })

    expect((await at.run(['push', again, '--yes'])).out).toBe(`1/1 on ${again}\n`)
    expect(await asks('/stock')).toBe('allowed')
  })
})

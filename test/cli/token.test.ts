import { describe, expect, test } from 'vitest'
import { testRedis } from '../support/published-policies.ts'
import { startReplicas } from '../support/session-replicas.ts'
import { forge, nowSeconds, tokenOf } from '../support/tokens.ts'

const signatureOf = (token: string) => token.split('.')[2] ?? ''

describe('postern token inspect', () => {
  test('shows everything about a token but its signature', async () => {
    const { postern } = await startReplicas({})
    const token = tokenOf('clerk', { identity: 42, orig_iat: 1_700_000_000, exp: 4_000_000_000 })

    const { code, out, err } = await postern('token inspect -', `Bearer ${token}\n`)

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^verdict +good\nkey +HS256, no kid\nuser +42 clerk-user\n/)
    expect(out).toMatch(/issued +2023-11-14T22:13:20\.000Z\nexpires +2096-10-02T07:06:40\.000Z\n/)
    expect(out).not.toContain(signatureOf(token))
  })

  test('gives the same as JSON, with ids beyond 2^53 in full', async () => {
    const { postern } = await startReplicas({})
    const claims = JSON.stringify({ identity: 0, roleid: 7, rolekey: 'clerk', nice: 'ann' })
    const payload = claims
      .replace('"identity":0', '"identity":9007199254740993')
      .replace('}', `,"datascope":"1","exp":${nowSeconds() + 60}}`)
    const token = forge({ payload })

    const { out } = await postern('token inspect - --output json', token)

    expect(JSON.parse(out)).toMatchObject({
      ...{ verdict: 'good', key: { kid: null, alg: 'HS256' }, header: { alg: 'HS256' } },
      claims: { identity: '9007199254740993', nice: 'ann' },
    })
    expect(out).not.toContain(signatureOf(token))
  })

  test.each([
    ['expired', tokenOf('clerk', { exp: nowSeconds() - 1 })],
    ['not valid yet', tokenOf('clerk', { nbf: nowSeconds() + 600 })],
    ['not valid yet', tokenOf('clerk', { orig_iat: nowSeconds() + 600 })],
    ['not ours', forge({ secret: 'another secret that is long enough too' })],
    ['not ours', forge({ header: { alg: 'none', typ: 'JWT' } })],
    ['not ours', forge({ header: { alg: { toString: 1 } } })],
    ['not ours', tokenOf('clerk', { identity: 'forty-two' })],
  ])('says %s, and exits with 1', async (verdict, token) => {
    const { postern } = await startReplicas({})

    const { code, out } = await postern('token inspect -', token)

    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`^verdict +${verdict}`))
    expect(out).not.toContain(signatureOf(token))
  })

  test.each([
    ['of mode dev', {}, { exp: nowSeconds() + 3_153_636_000 }, /jwt.timeout allows 3600 s/],
    ['in milliseconds', {}, { exp: (nowSeconds() + 60) * 1000 }, /not in seconds since 1970/],
    ['that is never', {}, { exp: 1e300, orig_iat: undefined }, /not in seconds since 1970/],
    [
      'beyond what is allowed for other issuers',
      { maxLifetimeSeconds: 7200 },
      { exp: nowSeconds() + 9000 },
      /jwt.maxLifetimeSeconds allows 7200 s/,
    ],
  ])('explains an expiry %s, and exits with 1', async (_, jwt, claims, reason) => {
    const { postern } = await startReplicas({ mode: 'prod', jwt })

    const { code, out } = await postern('token inspect -', tokenOf('clerk', claims))

    expect(code).toBe(1)
    expect(out).toMatch(/^verdict +too long-lived: lifetime is /)
    expect(out).toMatch(reason)
  })

  test('shows the kind of a service token, and whether a gateway accepts it', async () => {
    const claims = { kind: 'service', exp: nowSeconds() + 86_400 }
    const inspect = async (service: object, changes = {}) => {
      const { postern } = await startReplicas({ mode: 'prod', tokens: { service } })
      return (await postern('token inspect -', tokenOf('clerk', { ...claims, ...changes }))).out
    }

    expect(await inspect({ enabled: true })).toMatch(/^verdict +good\n[\s\S]*\nkind +service\n/)
    expect(await inspect({ enabled: false })).toMatch(
      /^verdict +not accepted: tokens.service.enabled is false\n/,
    )
    expect(await inspect({ enabled: true, maxLifetime: 3600 })).toMatch(
      /^verdict +too long-lived: lifetime is 8\d{4} s, but tokens.service.maxLifetime allows 3600 s: /,
    )
  })

  test('says revoked of what a command ended, and that alone', async () => {
    const { postern } = await startReplicas({})
    const [one, other] = [tokenOf('clerk'), tokenOf('clerk')]

    await postern('token revoke --token -', one)

    expect((await postern('token inspect -', one)).out).toMatch(/^verdict +revoked\n/)
    expect((await postern('token inspect -', other)).out).toMatch(/^verdict +good\n/)
  })

  test('does not call a token good while it cannot read the list', async () => {
    const redis = await testRedis()
    const { postern } = await startReplicas({ redis })
    await redis.kill()

    const { code, out } = await postern('token inspect -', tokenOf('clerk'))

    expect(code).toBe(5)
    expect(out).toMatch(/^verdict +unknown: .*Redis/)
  })
})

describe('postern token revoke', () => {
  test('names the token and its user, as JSON too, and never shows it', async () => {
    const { postern } = await startReplicas({})
    const token = tokenOf('clerk', { jti: 'a-name' })

    const { code, out, err } = await postern('token revoke --token - --output json', token)

    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ token: 'a-name', users: ['42'] })
    expect(err).toBe('postern: revoked token a-name of clerk-user\n')
  })

  test.each([
    ['a token that another key signed', '--token -', forge({ secret: 'x'.repeat(40) })],
    ['what is no token', '--token -', 'no.token'],
    ['an unknown name', '--user nobody-of-that-name', ''],
  ])('says no to %s, with exit code 1', async (_, args, stdin) => {
    const { postern } = await startReplicas({})

    const { code, out, err } = await postern(`token revoke ${args}`, stdin)

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(
      /^postern: (?:not a token of this gateway|user "nobody-of-that-name" does not exist)/,
    )
  })

  test('obeys no escape sequence in the name of the user', async () => {
    const { postern } = await startReplicas({})
    const token = tokenOf('clerk', { nice: 'evil\u001b[2J' })

    const { err } = await postern('token revoke --token -', token)

    expect(err).toContain('of evil\\u{1b}[2J\n')
  })

  test('has nothing to do for a token that has expired', async () => {
    const { postern } = await startReplicas({})

    const ran = await postern('token revoke --token -', tokenOf('clerk', { exp: 1 }))

    expect(ran).toMatchObject({ code: 0, err: expect.stringContaining('has already expired') })
  })

  test.each(['', '--user a --token b', 'TOKEN', '--user'])(
    'with the arguments "%s" shows how it is used and exits with 2',
    async (args) => {
      const { postern } = await startReplicas({})

      const { code, err } = await postern(`token revoke${args && ` ${args}`}`)

      expect(code).toBe(2)
      expect(err).toContain('Usage: postern token revoke')
    },
  )
})

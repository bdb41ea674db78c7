import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import { newKey, signedBy } from '../support/keys.ts'
import { testRedis } from '../support/published-policies.ts'
import { overEverywhere, startReplicas, verdictOn } from '../support/session-replicas.ts'
import { nowSeconds } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function setUp(options: Parameters<typeof startReplicas>[0] = {}) {
  const issuer = await startIssuer()
  const replicas = await startReplicas({ ...options, issuers: [settingsOf(issuer)] })
  return { issuer, ...replicas }
}

describe('postern token inspect of a token of another issuer', () => {
  test('fetches the keys, and shows caller, key and issuer', async () => {
    const { issuer, postern } = await setUp()
    const token = issuer.token({ sub: '1', name: 'Ann' })

    const { code, out, err } = await postern('token inspect -', token)
    const json = JSON.parse((await postern('token inspect - --output json', token)).out)

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^verdict +good\nkey +ES256, first\nuser +sso:1 Ann\nrole +0 editor\n/)
    expect(out).toMatch(/kind +issuer sso\n/)
    expect(json).toMatchObject({
      ...{ verdict: 'good', kind: 'issuer', issuer: 'sso', key: { kid: 'first', alg: 'ES256' } },
      ...{ caller: { userId: 'sso:1', roleKey: 'editor' }, claims: { sub: '1' } },
    })
    expect(out).not.toContain(token.split('.')[2])
  })

  test.each([
    ['not ours: no entry of roles matches claim roles', { roles: ['other'] }],
    ['not ours: it is for another audience', { aud: 'other' }],
    ['expired', { exp: nowSeconds() - 1 }],
    ['not valid yet', { nbf: nowSeconds() + 600 }],
    ['not ours: lifetime \\d+ s, at most 86400 s is accepted', { exp: nowSeconds() + 100_000 }],
  ])('says %s, and exits with 1', async (verdict, claims) => {
    const { issuer, postern } = await setUp()

    const { code, out } = await postern('token inspect -', issuer.token(claims))

    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`^verdict +${verdict}`))
  })

  test('survives a header with an object as algorithm', async () => {
    const { issuer, postern } = await setUp()

    const { out } = await postern('token inspect -', issuer.token({}, { alg: { toString: 1 } }))

    expect(out).toMatch(/^verdict +not ours: its algorithm is not accepted\n/)
  })

  test('says that it cannot tell while the issuer is unreachable, and exits with 5', async () => {
    const { issuer, postern } = await setUp()
    issuer.answer = (_, response) => void response.writeHead(500).end()

    const { code, out } = await postern('token inspect -', issuer.token())

    expect(code).toBe(5)
    expect(out).toMatch(/^verdict +unknown: no usable keys of issuer sso: HTTP 500\n/)
  })

  test('asks no issuer that is not configured', async () => {
    const { postern } = await setUp()
    const stranger = await startIssuer()

    const { code, out } = await postern('token inspect -', stranger.token())

    expect(code).toBe(1)
    expect(out).toMatch(/^verdict +not ours: .* its issuer "http:.*" is not configured/)
    expect(stranger.keyRequests).toEqual([])
  })

  test('suggests the issuer that may be meant', async () => {
    const { issuer, postern } = await setUp()

    const { out } = await postern('token inspect -', issuer.token({ iss: `${issuer.issuer}/` }))

    expect(out).toContain(`is not configured; did you mean ${issuer.issuer}?`)
  })
})

describe('postern token revoke', () => {
  test.each(['Redis', 'the database'])(
    'revokes a token of another issuer on every gateway, through %s',
    async (store) => {
      const shared = store === 'Redis' ? { redis: await testRedis() } : {}
      const { issuer, postern, start } = await setUp(shared)
      const gateway = await start()
      const gateways = [gateway]
      const [token, kept] = [issuer.token({ sub: 'a' }), issuer.token({ sub: 'a' })]
      await until(async () => (await verdictOn(gateway, token)) === 'live')

      const one = await postern('token revoke --token -', token)
      await overEverywhere(gateways, token)
      expect(await verdictOn(gateway, kept)).toBe('live')
      const all = await postern('token revoke --issuer sso --user a --output json')
      await overEverywhere(gateways, kept)

      expect(one).toMatchObject({ code: 0, err: expect.stringMatching(/^postern: revoked token /) })
      expect(JSON.parse(all.out)).toEqual({ issuer: 'sso', users: ['sso:a'] })
      expect(all.err).toBe(
        'postern: revoked all tokens of issuer sso whose claim sub is a, issued until now\n',
      )
      const other = issuer.token({ sub: 'b' })
      expect(await verdictOn(gateway, other)).toBe('live')
      const shown = await postern('token revoke --issuer sso --user sso:b')
      expect(shown.err).toContain('whose claim sub is sso:b or b, issued')
      await overEverywhere(gateways, other)
      const audit = await postern('audit list --action token.revoke --output json')
      expect(audit.out).toContain('user a of issuer sso')
    },
  )

  test.each([
    ['--issuer sso', /--issuer needs --user/],
    ['--issuer sso --user a --token x', /--issuer needs --user/],
    ['--issuer ssso --user a', /"ssso" is not configured \(configured: sso\); did you mean sso\?/],
  ])('refuses %s in one line', async (options, line) => {
    const { postern } = await setUp()

    const { code, err } = await postern(`token revoke ${options}`)

    expect(code).toBe(2)
    expect(err).toMatch(line)
  })

  test('says how to name a user of another issuer, as logs show them', async () => {
    const { postern } = await setUp()

    const { code, err } = await postern('token revoke --user sso:a')

    expect(code).toBe(1)
    expect(err).toMatch(/^postern: user "sso:a" does not exist: .*; .*add --issuer sso\n$/)
  })

  test('says what to do while the issuer is unreachable, and exits with 5', async () => {
    const { issuer, postern } = await setUp()
    issuer.answer = (_, response) => void response.writeHead(500).end()

    const { code, err } = await postern('token revoke --token -', issuer.token())

    expect(code).toBe(5)
    expect(err).toMatch(
      /^postern: the token cannot be verified: .*HTTP 500; .*--issuer NAME --user ID/,
    )
  })

  test('refuses a token that the issuer did not sign', async () => {
    const { issuer, postern } = await setUp()
    const [, payload = ''] = issuer.token().split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())

    const { code, err } = await postern(
      'token revoke --token -',
      signedBy(newKey(), { kid: 'first' }, claims),
    )

    expect(code).toBe(1)
    expect(err).toMatch(/not a token of this gateway: wrong signature/)
  })
})

describe('postern policy explain --token', () => {
  test('answers for the role that the token gives', async () => {
    const { issuer, postern } = await setUp()

    const { out, err } = await postern(
      `policy explain --token - GET /api/v1/x --policies ${resolve('policies')}`,
      issuer.token(),
    )

    expect(`${out}${err}`).toContain('sso:f3a1')
  })
})

import { createPublicKey } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { Fault, type Refusal } from '../../../src/kernel/errors.ts'
import type { Issuer } from '../../../src/token/issuers/issuer.ts'
import { type IssuerKeySet, parseIssuerKeySet } from '../../../src/token/issuers/issuer-key-set.ts'
import { issuerSubject, issuerTokenName } from '../../../src/token/issuers/issuer-names.ts'
import { createIssuerTokens } from '../../../src/token/issuers/issuer-tokens.ts'
import type { KeySchedule } from '../../../src/token/issuers/key-schedule.ts'
import { secretAlone } from '../../../src/token/key-set.ts'
import { secretKey } from '../../../src/token/keys.ts'
import { createRevocations } from '../../../src/token/revocations.ts'
import { createTokens, revocationOf, type VerifiedToken } from '../../../src/token/tokens.ts'
import { newKey, signedBy, type TestKey } from '../../support/keys.ts'
import { claimsOf, forge, type TestClaims, testSecret, tokenOf } from '../../support/tokens.ts'

const noon = Date.UTC(2030, 0, 1, 12) / 1000
const a: Issuer = {
  ...{ issuer: 'https://a.example', name: 'a', audience: ['postern'], userIdPrefix: 'a:' },
  algorithms: ['RS256', 'ES256'],
  claims: { userId: 'sub', roleKey: 'role' },
  roles: [{ value: 'editors', role: 'editor' }],
  maxLifetimeSeconds: 3600,
}
const b: Issuer = { ...a, issuer: 'https://b.example', name: 'b', userIdPrefix: 'b:' }
const [keyA, keyB] = [newKey(), newKey()]

async function setOf(keys: Readonly<Record<string, TestKey>>): Promise<IssuerKeySet> {
  const list = Object.entries(keys).map(([kid, { publicPem }]) => {
    return { ...createPublicKey(publicPem).export({ format: 'jwk' }), kid }
  })
  return parseIssuerKeySet(Buffer.from(JSON.stringify({ keys: list })), a.algorithms)
}

/** Two issuers whose keys a test changes, and a clock that it sets. */
async function setUp(change: Partial<Issuer> = {}) {
  const clock = { now: noon }
  const held = (first: IssuerKeySet | undefined) => {
    const next = undefined as IssuerKeySet | undefined
    const keys = { set: first, next, isBehind: false, cools: false, age: 10 }
    const refresh = vi.fn(async () => {
      if (keys.cools) return false
      keys.set = keys.next ?? keys.set
      return true
    })
    const failure = () => (keys.isBehind ? 'HTTP 500' : undefined)
    const facts = { failure, isBehind: () => keys.isBehind, ageSeconds: () => keys.age }
    const schedule = { current: () => keys.set, refresh, ...facts }
    return { keys, refresh, schedule: schedule as unknown as KeySchedule }
  }
  const [first, second] = [held(await setOf({ k: keyA })), held(await setOf({ k: keyB }))]
  const own = secretAlone(await secretKey(testSecret))
  const revocations = createRevocations(() => clock.now * 1000)
  const foreign = createIssuerTokens({
    issuers: [
      { issuer: { ...a, ...change }, keys: first.schedule },
      { issuer: b, keys: second.schedule },
    ],
    clockSkewSeconds: 60,
    now: () => clock.now,
  })
  const tokens = createTokens({
    ...{ keys: () => own, revocations, foreign, service: undefined },
    ...{ lifetimeSeconds: 3600, maxLifetimeSeconds: 1e9, clockSkewSeconds: 60 },
    maxTokenBytes: 4096,
    now: () => clock.now,
  })
  /** The reason for which it is refused, or the caller's ID. */
  async function outcome(token: string): Promise<string> {
    try {
      return (await tokens.verify(token)).caller.userId
    } catch (error) {
      if (error instanceof Fault) return `fault: ${error.message}`
      return (error as Refusal).detail.reason ?? (error as Refusal).kind
    }
  }
  return { clock, first, second, tokens, outcome, revocations }
}

function claims(changes: TestClaims = {}): TestClaims {
  const usual = { iss: a.issuer, aud: 'postern', sub: 'f3', role: 'editors', jti: 'j1' }
  return { ...usual, iat: noon, exp: noon + 600, ...changes }
}
const token = (changes: TestClaims = {}, header: object = {}, key = keyA) =>
  signedBy(key, { kid: 'k', ...header }, claims(changes))

describe('a token of another issuer', () => {
  test('is verified with the keys of that issuer', async () => {
    const { tokens } = await setUp()

    const verified = await tokens.verify(token())

    expect(verified).toMatchObject({
      ...{ kind: 'issuer', issuer: 'a', issuedAt: noon * 1000, expiresAt: noon + 600 },
      caller: { userId: 'a:f3', roleKey: 'editor', dataScope: '5' },
      id: issuerTokenName(a.issuer, 'j1', ''),
      userId: issuerSubject(a.issuer, 'f3'),
    })
    expect(tokens.verify(token())).toBeInstanceOf(Promise)
  })

  test('is verified once, and found again without a signature check', async () => {
    const { tokens } = await setUp()
    const text = token()
    const verified = await tokens.verify(text)

    expect(tokens.verify(text)).toBe(verified)
  })

  const publicPem = keyA.publicPem
  test.each([
    ['signed by the other issuer', token({}, {}, keyB), 'wrong signature'],
    ['that claims to be of the other issuer', token({ iss: b.issuer }), 'wrong signature'],
    ['signed with our secret', forge({ payload: claims() }), /algorithm is not accepted/],
    [
      'signed with our secret and the kid of the issuer',
      forge({ header: { alg: 'HS256', kid: 'k' }, payload: claims() }),
      /algorithm is not accepted/,
    ],
    [
      'signed with the public key as a secret',
      forge({ header: { alg: 'HS256', kid: 'k' }, payload: claims(), secret: publicPem }),
      /algorithm is not accepted/,
    ],
    [
      'without a signature',
      `${Buffer.from('{"alg":"none","kid":"k"}').toString('base64url')}.${token().split('.')[1]}.AA`,
      /algorithm is not accepted/,
    ],
    [
      'of an issuer that is not configured',
      token({ iss: 'https://c.example' }),
      'no key for this header',
    ],
    [
      'of an issuer in other letters',
      token({ iss: 'https://A.example' }),
      'no key for this header',
    ],
    ['of an issuer with a slash', token({ iss: 'https://a.example/' }), 'no key for this header'],
    ['with a list of issuers', token({ iss: [a.issuer] }), 'no key for this header'],
    ['with an unlisted algorithm', token({}, { alg: 'ES384' }), /algorithm is not accepted/],
    ['with a key in its header', token({}, { jwk: {} }), /brings a key/],
    ['with the address of a key', token({}, { jku: 'https://a.example' }), /brings a key/],
    ['with a critical extension', token({}, { crit: ['b64'] }), /brings a key/],
    ['with a kid that is not a text', token({}, { kid: 7 }), 'kid is not a text'],
    ['that is a logout token', token({}, { typ: 'logout+jwt' }), /typ is not jwt or at\+jwt/],
    ['issued in the future', token({ iat: noon + 61 }), 'issued in the future'],
    ['that starts in the future', token({ nbf: noon + 61 }), 'not valid yet'],
    ['that has expired', token({ exp: noon }), 'token-expired'],
    ['that lives long', token({ exp: noon + 3661 }), /at most 3600 s is accepted/],
    ['with an expiry in milliseconds', token({ exp: noon * 1000 }), /at most 3600 s/],
    ['for another audience', token({ aud: 'other' }), /audience/],
  ])('is refused if it is one %s', async (_, text, reason) => {
    const { outcome } = await setUp()

    expect(await outcome(text)).toMatch(reason)
  })

  test.each([
    ['at+jwt', undefined, true],
    ['application/at+JWT', undefined, true],
    [undefined, undefined, true],
    ['at+jwt', 'at+jwt', true],
    ['JWT', 'at+jwt', false],
    [undefined, 'at+jwt', false],
  ])('may have typ %s where %s is wanted: %s', async (typ, wanted, accepted) => {
    const { outcome } = await setUp({ typ: wanted })

    expect((await outcome(token({}, { typ }))) === 'a:f3').toBe(accepted)
  })

  test('leaves tokens of ours alone, and is never verified with their keys', async () => {
    const { outcome, first } = await setUp()
    const own = tokenOf('editor', { exp: noon + 60, orig_iat: noon })

    expect(await outcome(own)).toBe('42')
    expect(await outcome(forge({ payload: { ...claimsOf('admin'), iss: a.issuer } }))).not.toBe(
      '42',
    )
    expect(first.refresh).not.toHaveBeenCalled()
  })

  test('may have a clock a little ahead', async () => {
    const { outcome } = await setUp()

    expect(await outcome(token({ iat: noon + 59, nbf: noon + 59 }))).toBe('a:f3')
  })

  test('with a new key is verified after a fetch', async () => {
    const { outcome, first } = await setUp()
    const fresh = newKey()
    first.keys.next = await setOf({ k: keyA, new: fresh })

    expect(await outcome(token({}, { kid: 'new' }, fresh))).toBe('a:f3')
    expect(first.refresh).toHaveBeenCalledOnce()
  })

  test('with an unknown key is refused after a fetch, and faults if there was none', async () => {
    const { outcome, first } = await setUp()
    const text = token({}, { kid: 'invented' })

    expect(await outcome(text)).toBe('no key for this header')
    first.keys.isBehind = true

    expect(await outcome(text)).toMatch(/^fault: unknown kid of issuer a: HTTP 500$/)
  })

  test('with an unknown key faults in the cool-down, unless it is older than the keys', async () => {
    const { outcome, first } = await setUp()
    first.keys.cools = true
    const at = (iat: number | undefined) => outcome(token({ iat }, { kid: 'new' }, keyB))

    const faults = /^fault: unknown kid of issuer a: its keys were fetched within cooldownSeconds$/
    expect(await at(noon)).toMatch(faults)
    expect(await at(undefined)).toMatch(faults)
    // Fetched ten seconds ago, by a clock that may be a minute off.
    expect(await at(noon - 69)).toMatch(faults)
    expect(await at(noon - 71)).toBe('no key for this header')
    first.keys.cools = false
    expect(await at(noon)).toBe('no key for this header')
  })

  test('with a known key and another algorithm, or one that is not accepted, causes no fetch', async () => {
    const { outcome, first } = await setUp()
    await outcome(token({}, { alg: 'RS256' }))
    await outcome(token({}, { alg: 'HS256', kid: 'invented' }))

    expect(first.refresh).not.toHaveBeenCalled()
  })

  test('faults while there are no keys, also if it was verified before', async () => {
    const { outcome, first } = await setUp()
    const text = token()
    expect(await outcome(text)).toBe('a:f3')

    first.keys.set = undefined

    expect(await outcome(text)).toMatch(/^fault: /)
    expect(await outcome(token({ jti: 'other' }))).toMatch(/^fault: /)
  })

  test('is refused when its key is removed, also if it was verified before', async () => {
    const { outcome, first } = await setUp()
    const text = token()
    await outcome(text)

    first.keys.set = await setOf({ k: newKey() })

    expect(await outcome(text)).toBe('the key that signed it was removed')
  })

  test('expires, also if it was verified before', async () => {
    const { outcome, clock } = await setUp()
    const text = token()
    await outcome(text)
    clock.now += 600

    expect(await outcome(text)).toBe('token-expired')
  })

  test('can be revoked, and with it no token of another issuer with the same ID', async () => {
    const { outcome, tokens, revocations } = await setUp()
    const other = token({ iss: b.issuer }, {}, keyB)
    const verified = (await tokens.verify(token())) as VerifiedToken

    revocations.add(revocationOf(verified))

    expect(await outcome(token())).toBe('token-revoked')
    expect(await outcome(other)).toBe('b:f3')
  })

  test('can be revoked with all of its user, and with it none of an account or another issuer', async () => {
    const { outcome, revocations } = await setUp()
    const userId = issuerSubject(a.issuer, '42')
    revocations.add({ kind: 'user', userId, before: noon * 1000, until: (noon + 600) * 1000 })

    expect(await outcome(token({ sub: '42', jti: undefined }))).toBe('token-revoked')
    expect(await outcome(token({ sub: '42', iat: noon + 1 }))).toBe('a:42')
    expect(await outcome(token({ sub: '42', iss: b.issuer }, {}, keyB))).toBe('b:42')
    expect(await outcome(tokenOf('editor', { exp: noon + 60, orig_iat: noon }))).toBe('42')
  })

  test('has names that every store can hold', () => {
    const long = 'x'.repeat(512)

    expect(issuerTokenName(long, long, long)).toMatch(/^[\w-]{43}$/)
    expect(issuerSubject(long, long)).toMatch(/^[\w-]{32}$/)
    expect(issuerTokenName('i', 'j', 's')).not.toBe(issuerTokenName('i', undefined, 'j'))
  })
})

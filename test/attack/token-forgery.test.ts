import { createPublicKey } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { claimsOf, forge, nowSeconds, testSecret, tokenOf } from '../support/tokens.ts'

const good = tokenOf('admin')
const [header = '', payload = '', signature = ''] = good.split('.')
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (alg: unknown) => `${encode({ alg, typ: 'JWT' })}.${payload}.`
const withHeader = (changes: Record<string, unknown>) =>
  forge({ header: { alg: 'HS256', typ: 'JWT', ...changes }, payload: claimsOf('admin') })
const withClaims = (changes: Record<string, unknown>) =>
  forge({ payload: claimsOf('admin', changes) })
const withRawClaims = (text: string | Buffer) => forge({ payload: text })

/** Flips the lowest bit of the last base64url character: for 32 bytes, one that carries no data. */
function strayTrailingBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(token.at(-1) ?? '')
  return token.slice(0, -1) + alphabet[last ^ 1]
}

describe('a token that was not issued for this', () => {
  const forgeries: readonly (readonly [string, string])[] = [
    // T092, T093, T094
    ['alg none', unsigned('none')],
    ['alg None', unsigned('None')],
    ['alg nOnE', unsigned('nOnE')],
    ['alg NONE', unsigned('NONE')],
    [
      'alg none with a good signature',
      forge({ header: { alg: 'none' }, payload: claimsOf('admin') }),
    ],
    ['no alg', forge({ header: { typ: 'JWT' }, payload: claimsOf('admin') })],
    ['alg as a list', withHeader({ alg: ['HS256'] })],
    ['alg in lower case', withHeader({ alg: 'hs256' })],
    ['alg as a number', withHeader({ alg: 256 })],
    [
      'HS384 with the same secret',
      forge({ header: { alg: 'HS384' }, payload: claimsOf('admin'), hash: 'sha384' }),
    ],
    [
      'HS512 with the same secret',
      forge({ header: { alg: 'HS512' }, payload: claimsOf('admin'), hash: 'sha512' }),
    ],
    // T097
    [
      'kid as a path, signed with nothing',
      forge({
        header: { alg: 'HS256', kid: '../../../../dev/null' },
        payload: claimsOf('admin'),
        secret: '',
      }),
    ],
    [
      'kid with SQL, signed with another secret',
      forge({
        header: { alg: 'HS256', kid: "x' UNION SELECT" },
        payload: claimsOf('admin'),
        secret: 'x',
      }),
    ],
    ['a kid that nobody has, signed with the secret', withHeader({ kid: 'any' })],
    ['an empty kid, signed with the secret', withHeader({ kid: '' })],
    ['kid as a number', withHeader({ kid: 1 })],
    ['kid as a list', withHeader({ kid: ['a'] })],
    // T096, T099
    ['its own key', withHeader({ jwk: { kty: 'oct', k: 'AAAA' } })],
    ['a key address', withHeader({ jku: 'http://127.0.0.1:1/keys' })],
    ['a certificate chain', withHeader({ x5c: ['AAAA'] })],
    ['a critical extension', withHeader({ crit: ['x'], x: 1 })],
    ['an empty list of critical extensions', withHeader({ crit: [] })],
    ['an unencoded payload', withHeader({ crit: ['b64'], b64: false })],
    ['another type', withHeader({ typ: 'at+jwt' })],
    // T101, T103
    ['expired a second ago', withClaims({ exp: nowSeconds() - 1 })],
    ['expiring now', withClaims({ exp: nowSeconds() })],
    ['no expiry', withClaims({ exp: undefined })],
    ['its expiry as text', withClaims({ exp: String(nowSeconds() + 60) })],
    ['no value as expiry', withClaims({ exp: null })],
    ['a negative expiry', withClaims({ exp: -1 })],
    [
      'an infinite expiry',
      withRawClaims(JSON.stringify(claimsOf('admin')).replace(/"exp":\d+/, '"exp":1e999')),
    ],
    ['a start in the future', withClaims({ nbf: nowSeconds() + 3600 })],
    ['its start as text', withClaims({ nbf: '1' })],
    ['an issue time an hour ahead', withClaims({ orig_iat: nowSeconds() + 3600 })],
    ['an iat an hour ahead', withClaims({ orig_iat: undefined, iat: nowSeconds() + 3600 })],
    // T105
    ['another signature', `${header}.${payload}.${'A'.repeat(43)}`],
    ['a cut signature', good.slice(0, -1)],
    ['no signature', `${header}.${payload}.`],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.AAAA`],
    ['another payload', `${header}.${encode(claimsOf('admin', { identity: 1 }))}.${signature}`],
    ['another secret', forge({ payload: claimsOf('admin'), secret: `${testSecret}x` })],
    // T106
    ['stray trailing bits', strayTrailingBits(good)],
    ['padding', `${good}=`],
    ['a space inside', `${header}.${payload}. ${signature}`],
    ['standard base64', `${header}.${payload}.${signature.slice(0, -2)}+/`],
    // T107
    ['a list as payload', withRawClaims('[1]')],
    ['a text as payload', withRawClaims('"x"')],
    ['null as payload', withRawClaims('null')],
    ['no JSON as payload', withRawClaims('{')],
    ['a byte order mark', withRawClaims(`\ufeff${JSON.stringify(claimsOf('admin'))}`)],
    ['broken UTF-8', withRawClaims(Buffer.from([0x7b, 0xff, 0x7d]))],
    // T109
    ['no role key', withClaims({ rolekey: undefined })],
    ['an empty role key', withClaims({ rolekey: '' })],
    ['a number as role key', withClaims({ rolekey: 1 })],
    ['a list as role key', withClaims({ rolekey: ['admin'] })],
    ['an object as role key', withClaims({ rolekey: { admin: true } })],
    ['Admin', withClaims({ rolekey: 'Admin' })],
    ['admin and a space', withClaims({ rolekey: 'admin ' })],
    ['admin and NUL', withClaims({ rolekey: 'admin\0' })],
    ['a text as user id', withClaims({ identity: '42' })],
    ['a fraction as user id', withClaims({ identity: 4.5 })],
    ['no user id', withClaims({ identity: undefined })],
    // T110
    ['7 KiB', withClaims({ nice: 'a'.repeat(5000) })],
  ]

  test('is refused, always with the same body', async () => {
    const postern = await startPostern()
    const bodies = new Set<string>()

    for (const [name, token] of forgeries) {
      const answer = await postern.call('GET /api/v1/anything', { token })

      expect([name, answer.status]).toEqual([name, 200])
      expectUnauthenticated(answer, postern.upstream)
      if (!name.startsWith('Admin') && !name.startsWith('admin')) bodies.add(answer.body)
    }
    expect(bodies.size).toBe(1)
    expect((await postern.call('GET /api/v1/anything', { token: good })).json()).toEqual({
      ok: true,
    })
  })

  test('is refused in a header or query too large to be one', async () => {
    const postern = await startPostern()
    const huge = 'a'.repeat(1_048_576)

    const inHeader = await postern.call('GET /api/v1/anything', { token: huge })
    const inQuery = await postern.call(`GET /api/v1/anything?token=${huge}`)
    const inCookie = await postern.call('GET /api/v1/anything', {
      headers: [`Cookie: jwt=${huge}`],
    })

    expect([inHeader.status, inQuery.status, inCookie.status]).toEqual([431, 431, 431])
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('never makes the gateway fetch a key', async () => {
    const postern = await startPostern()
    let connections = 0
    const listener = createServer(() => connections++).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const address = `http://127.0.0.1:${port}/keys`

    await postern.call('GET /', { token: withHeader({ jku: address }) })
    await postern.call('GET /', { token: withHeader({ x5u: address }) })
    listener.close()

    expect(connections).toBe(0)
  })
})

// Confusion of algorithms and keys: CVE-2015-9235, CVE-2016-5431, CVE-2026-22817.
describe('a token that plays keys off against each other', () => {
  const ec = newKey()
  const rsa = newKey('RS256')
  const ed = newKey('EdDSA')
  const unknown = newKey()
  const admin = claimsOf('admin')
  const files = {
    'ec.pem': ec.privatePem,
    'rsa.pem': rsa.publicPem,
    'ed.pem': ed.publicPem,
    signer: 'ec',
  }
  const jwk = (key: typeof ec) =>
    JSON.stringify(createPublicKey(key.publicPem).export({ format: 'jwk' }))
  const hmac = (kid: string | undefined, secret: string | Buffer) =>
    forge({ header: { alg: 'HS256', typ: 'JWT', ...(kid && { kid }) }, payload: admin, secret })
  const der = createPublicKey(rsa.publicPem).export({ type: 'spki', format: 'der' })

  const forgeries: readonly (readonly [string, string])[] = [
    ['HS256 under the kid of an RSA key, keyed with its PEM', hmac('rsa', rsa.publicPem)],
    ['the same without the last newline', hmac('rsa', rsa.publicPem.trim())],
    ['the same with its DER', hmac('rsa', der)],
    ['the same with its JWK', hmac('rsa', jwk(rsa))],
    ['HS256 under the kid of an EC key, keyed with its PEM', hmac('ec', ec.publicPem)],
    ['HS256 without a kid, keyed with a public key', hmac(undefined, rsa.publicPem)],
    ['HS256 without a kid, keyed with nothing', hmac(undefined, '')],
    ['the secret under the kid of a key', hmac('ec', testSecret)],
    ['the secret under a kid that nobody has', hmac('none', testSecret)],
    ['the secret under the name of its setting', hmac('jwt.secret', testSecret)],
    ['the secret under the name of the signer file', hmac('signer', testSecret)],
    ['a key without its kid', signedBy(ec, {}, admin)],
    ['a key with an empty kid', signedBy(ec, { kid: '' }, admin)],
    ['a key with the kid of another', signedBy(ec, { kid: 'rsa' }, admin)],
    [
      'a key with the kid and the algorithm of another',
      signedBy(ec, { kid: 'rsa', alg: 'RS256' }, admin),
    ],
    ['a key with its file name', signedBy(ec, { kid: 'ec.pem' }, admin)],
    ['a key with its kid in another case', signedBy(ec, { kid: 'EC' }, admin)],
    ['a key with a path to it', signedBy(ec, { kid: './ec' }, admin)],
    ['a name that every object has', signedBy(ec, { kid: '__proto__' }, admin)],
    ['a key that is not here', signedBy(unknown, { kid: 'ec' }, admin)],
    [
      'a key that is not here, brought along',
      signedBy(unknown, { kid: 'ec', jwk: JSON.parse(jwk(unknown)) }, admin),
    ],
    ['PS256 with an RSA key', signedBy(rsa, { kid: 'rsa', alg: 'PS256' }, admin)],
    ['RS512 with an RSA key', signedBy(rsa, { kid: 'rsa', alg: 'RS512' }, admin)],
    ['Ed25519 as the name of EdDSA', signedBy(ed, { kid: 'ed', alg: 'Ed25519' }, admin)],
    ['none with the kid of a key', `${encode({ alg: 'none', kid: 'ec' })}.${payload}.`],
  ]

  test.each([
    ['with a secret besides', testSecret],
    ['without one', undefined],
  ])('is refused, %s', async (_, secret) => {
    const { directory } = await mountKeys(files)
    const postern = await startPostern({ config: { jwt: { keyDirectory: directory, secret } } })

    for (const [name, token] of forgeries) {
      const answer = await postern.call('GET /api/v1/anything', { token })
      expect([name, (answer.json() as { code?: number }).code]).toEqual([name, 401])
    }
    expect(postern.upstream.bytes()).toBe(0)

    const honest = [
      signedBy(ec, { kid: 'ec' }),
      signedBy(rsa, { kid: 'rsa' }),
      signedBy(ed, { kid: 'ed' }),
    ]
    for (const token of honest) {
      const answer = await postern.call('GET /api/v1/public/a', { token })
      expect(answer.json()).toEqual({ ok: true })
    }
    const bySecret = await postern.call('GET /api/v1/public/a', { token: tokenOf('editor') })
    expect(bySecret.body === '{"ok":true}').toBe(secret !== undefined)
  })
})

describe('a token that was good before', () => {
  // T117, CVE-2026-107719: a verifier that remembers must not remember the time.
  test('is refused from the moment it expires', async () => {
    let now = nowSeconds()
    const postern = await startPostern({ now: () => now })
    const token = tokenOf('admin', { exp: now + 10 })

    const before = await postern.call('GET /api/v1/a', { token })
    now += 9.9
    const last = await postern.call('GET /api/v1/a', { token })
    now += 0.1
    const after = await postern.call('GET /api/v1/a', { token })

    expect([before.json(), last.json()]).toEqual([{ ok: true }, { ok: true }])
    expect(after.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests).toHaveLength(2)
  })

  test('does not vouch for one that differs in any character', async () => {
    const postern = await startPostern()
    await postern.call('GET /api/v1/a', { token: good })

    for (let at = 0; at < good.length; at += 7) {
      const altered = good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1)
      const answer = await postern.call('GET /api/v1/a', { token: altered })
      expect(answer.json()).toMatchObject({ code: 401 })
    }
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

import { createPublicKey, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { keysOf, mountKeys, newKey, signedBy, type TestKey } from '../support/keys.ts'
import { dev, goodLogin, logIn, postLogin } from '../support/log-in.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { claimsOf, nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** A gateway that has these keys and no secret, unless the changes say otherwise. */
const withKeys = (keyDirectory: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  config: { ...dev, jwt: { secret: undefined, keyDirectory, ...changes } },
})

async function passes(postern: TestPostern, token: string): Promise<boolean> {
  const answer = await postern.call('GET /api/v1/public/a', { token })
  return answer.body === '{"ok":true}'
}

const headerOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())

describe.each(['ES256', 'RS256', 'EdDSA'] as const)('a gateway with an %s key', (algorithm) => {
  test('issues tokens that carry the kid and that the public key alone verifies', async () => {
    const key = newKey(algorithm)
    const { directory } = await mountKeys({ '2026-11.pem': key.privatePem })
    const postern = await startPostern(withKeys(directory))

    const token = await logIn(postern)

    expect(headerOf(token)).toEqual({ alg: algorithm, typ: 'JWT', kid: '2026-11' })
    expect(isGenuine(token, key)).toBe(true)
    expect(await passes(postern, token)).toBe(true)
    expect(await passes(postern, signedBy(key, { kid: '2026-11' }))).toBe(true)
  })

  test('publishes the public key on the ops port, and nothing more', async () => {
    const key = newKey(algorithm)
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern(withKeys(directory))

    const answer = await fetch(`http://127.0.0.1:${postern.opsPort}/.well-known/jwks.json`)

    const { keys } = (await answer.json()) as { keys: Record<string, string>[] }
    const [jwk = {}] = keys
    expect(keys).toHaveLength(1)
    expect(jwk).toMatchObject({ kid: 'a', alg: algorithm, use: 'sig' })
    const members = ['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y']
    expect(members).toEqual(expect.arrayContaining(Object.keys(jwk)))
    expect(
      createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }),
    ).toBe(key.publicPem)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
    expect(answer.headers.get('content-type')).toContain('application/jwk-set+json')
  })
})

async function metricsOf({ opsPort }: TestPostern): Promise<string> {
  return (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
}

function isGenuine(token: string, { algorithm, publicPem }: TestKey): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return verify(
    algorithm === 'EdDSA' ? null : 'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: createPublicKey(publicPem), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
}

describe('a rotation', () => {
  const old = newKey()
  const next = newKey('EdDSA')
  const before = { 'old.pem': old.privatePem, signer: 'old' }
  const both = { 'old.pem': old.privatePem, 'next.pem': next.privatePem, signer: 'old\n' }
  const switched = { ...both, signer: 'next' }
  const after = { 'next.pem': next.privatePem, signer: 'next' }
  const signs = (kid: string) => async (postern: TestPostern) =>
    (await keysOf(postern)).signer === kid
  const has = (count: number) => async (postern: TestPostern) =>
    (await keysOf(postern)).keys.length === count

  // T112
  test('with an overlap refuses no token on either of two gateways, until the old key is removed', async () => {
    const mounts = [await mountKeys(before), await mountKeys(before)] as const
    const one = await startPostern(withKeys(mounts[0].directory))
    const two = await startPostern(withKeys(mounts[1].directory))
    const tokens = [await logIn(one)]
    // One gateway has each step a while before the other: every state in between must hold.
    async function step(
      files: Record<string, string>,
      done: (postern: TestPostern) => Promise<boolean>,
    ) {
      for (const [at, postern] of [one, two].entries()) {
        await mounts[at]?.swap(files)
        await until(() => done(postern))
        tokens.push(await logIn(one), await logIn(two))
        for (const token of tokens) {
          expect([await passes(one, token), await passes(two, token)]).toEqual([true, true])
        }
      }
    }

    await step(both, has(2))
    await step(switched, signs('next'))

    expect(tokens.map((token) => headerOf(token).kid)).toEqual([
      ...['old', 'old', 'old', 'old', 'old'],
      ...['next', 'old', 'next', 'next'],
    ])
    for (const [at, postern] of [one, two].entries()) {
      await mounts[at]?.swap(after)
      await until(() => has(1)(postern))
      for (const token of tokens) {
        expect(await passes(postern, token)).toBe(headerOf(token).kid === 'next')
      }
    }
    expect((await keysOf(one)).reloads).toEqual({ ok: 3, failed: 0 })
  })

  // The memo of verified signatures must not outlive the key.
  test('refuses a token that was good a moment ago as soon as its key is gone', async () => {
    const mount = await mountKeys(switched)
    const postern = await startPostern(withKeys(mount.directory))
    const token = signedBy(old, { kid: 'old' })
    expect(await passes(postern, token)).toBe(true)

    await mount.swap(after)

    await until(async () => !(await passes(postern, token)))
    expect((await keysOf(postern)).keys).toEqual([{ kid: 'next', algorithm: 'EdDSA' }])
    await mount.swap(switched)
    await until(() => passes(postern, token))
  })

  test('refuses tokens of a kid whose file now holds another key', async () => {
    const mount = await mountKeys({ 'a.pem': old.privatePem })
    const postern = await startPostern(withKeys(mount.directory))
    const token = signedBy(old, { kid: 'a' })
    expect(await passes(postern, token)).toBe(true)

    await mount.swap({ 'a.pem': next.privatePem })

    await until(async () => !(await passes(postern, token)))
    expect(await passes(postern, signedBy(next, { kid: 'a' }))).toBe(true)
  })

  test('keeps the captchas that are on their way', async () => {
    const mount = await mountKeys(both)
    const postern = await startPostern({
      config: { jwt: { secret: undefined, keyDirectory: mount.directory } },
    })
    const captcha = await takeCaptcha(postern)

    await mount.swap(switched)
    await until(() => signs('next')(postern))

    const answer = await postLogin(postern, { ...goodLogin(postern), ...captcha })
    expect(answer.json()).toMatchObject({ code: 200 })
  })

  test('from jwt.secret to a key refuses no token on the way', async () => {
    const mount = await mountKeys({ 'next.pem': next.privatePem })
    const postern = await startPostern({
      config: { ...dev, jwt: { keyDirectory: mount.directory } },
    })
    const shared = await logIn(postern)
    expect(headerOf(shared)).toEqual({ alg: 'HS256', typ: 'JWT' })

    await mount.swap(after)
    await until(() => signs('next')(postern))

    const keyed = await logIn(postern)
    expect(headerOf(keyed).kid).toBe('next')
    expect([await passes(postern, shared), await passes(postern, keyed)]).toEqual([true, true])
    const published = await fetch(`http://127.0.0.1:${postern.opsPort}/.well-known/jwks.json`)
    expect(((await published.json()) as { keys: unknown[] }).keys).toHaveLength(1)
  })
})

describe('a change of the key directory that cannot be used', () => {
  const key = newKey()
  const other = newKey()

  test.each([
    ['no key at all', {}, 'no keys found'],
    ['a key cut short', { 'a.pem': key.privatePem.slice(0, 100) }, 'a.pem: not a PEM file'],
    ['a signer that is not there', { 'a.pem': key.privatePem, signer: 'b' }, 'signer: unknown kid'],
    [
      'two that could sign',
      { 'a.pem': key.privatePem, 'b.pem': other.privatePem },
      '2 keys can sign (a, b)',
    ],
  ])('leaves the old keys in force and says so: %s', async (_, files, reason) => {
    const mount = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern(withKeys(mount.directory))

    await mount.swap(files)

    await until(async () => (await keysOf(postern)).lastError !== undefined)
    const { lastError, reloads, signer } = await keysOf(postern)
    expect([lastError, signer, reloads.ok]).toEqual([expect.stringContaining(reason), 'a', 0])
    expect(reloads.failed).toBeGreaterThan(0)
    expect(postern.logText()).toContain('keeping the current keys')
    expect(await passes(postern, await logIn(postern))).toBe(true)

    const figures = await metricsOf(postern)
    expect(figures).toContain('postern_key_last_reload_success 0')
    expect(figures).toMatch(/postern_key_reloads_total\{result="failed"\} [1-9]/)
    expect(figures).toContain('postern_key_info{kid="a",algorithm="ES256",signs="true"} 1')

    await mount.swap({ 'a.pem': key.privatePem, 'c.pem': other.publicPem })
    await until(async () => (await keysOf(postern)).keys.length === 2)
    expect((await keysOf(postern)).lastError).toBeUndefined()
  })
})

describe('a gateway with public keys alone', () => {
  test('verifies, and answers a login that it is unavailable', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.publicPem })
    const postern = await startPostern(withKeys(directory))

    const login = await postLogin(postern, goodLogin(postern))

    expect(await passes(postern, signedBy(key, { kid: 'a' }))).toBe(true)
    expect(login.status).toBe(503)
    expect(postern.logText()).toContain('login is unavailable')
    expect((await keysOf(postern)).signer).toBe(null)
  })
})

describe('a private key', () => {
  test.each([
    [0o600, false],
    [0o440, true],
    [0o604, true],
  ])('with mode %o is warned about: %s', async (mode, warned) => {
    const { directory } = await mountKeys({})
    await writeFile(join(directory, 'a.pem'), newKey().privatePem, { mode })

    const postern = await startPostern(withKeys(directory))

    expect(postern.logText().includes('private keys readable by other users')).toBe(warned)
    expect(postern.logText()).not.toContain('PRIVATE KEY')
  })
})

describe('a clock that cannot be right', () => {
  test('is no clock to issue tokens by', async () => {
    const postern = await startPostern({ config: dev, now: () => 1_000_000 })

    const answer = await postLogin(postern, goodLogin(postern))

    expect(answer.status).toBe(503)
  })

  test('does not bring a token back that was seen to expire', async () => {
    let now = nowSeconds()
    const postern = await startPostern({ now: () => now })
    const token = tokenOf('editor', { ...claimsOf('editor'), exp: now + 10 })
    now += 20
    expect(await passes(postern, token)).toBe(false)

    now -= 20

    expect(await passes(postern, token)).toBe(false)
    expect(await passes(postern, tokenOf('editor', { exp: now + 10, jti: 'other' }))).toBe(true)
  })
})

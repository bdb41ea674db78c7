import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { askAbout, asked, contractNames } from '../support/forward-auth.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { claimsOf, testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const header = 'X-Postern-Assertion'

const signing = (keyDirectory: string, assertion: Readonly<Record<string, unknown>> = {}) => ({
  jwt: { secret: undefined, keyDirectory },
  identity: { assertion: { enabled: true, ...assertion } },
})

async function start(assertion: Readonly<Record<string, unknown>> = {}, now?: () => number) {
  const key = newKey()
  const { directory } = await mountKeys({ 'a.pem': key.privatePem })
  const config = signing(directory, assertion)
  const postern = await startPostern({ config, ...(now && { now }) })
  return { postern, token: signedBy(key, { kid: 'a' }) }
}

/** The assertion that the upstream got with the newest call. */
function received({ upstream }: TestPostern): string {
  const values = upstream.requests.at(-1)?.values(header) ?? []
  expect(values).toHaveLength(1)
  return values[0] ?? ''
}

/** As an upstream does it: by the public keys of the ops port, and nothing else. */
function verified({ opsPort }: TestPostern, assertion: string, audience = 'backend') {
  const keys = createRemoteJWKSet(new URL(`http://127.0.0.1:${opsPort}/.well-known/jwks.json`))
  return jwtVerify(assertion, keys, {
    issuer: 'postern',
    audience,
    typ: 'postern-assertion+jwt',
    algorithms: ['ES256', 'EdDSA', 'RS256'],
    requiredClaims: ['sub', 'iat', 'exp'],
  })
}

describe('an assertion', () => {
  test.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'signed with %s is verified by the keys of the ops port',
    async (algorithm) => {
      const key = newKey(algorithm)
      const { directory } = await mountKeys({ '2026-11.pem': key.privatePem })
      const postern = await startPostern({ config: signing(directory) })
      const claims = claimsOf('editor', { nice: 'Bjørn 50%', rolename: 'Éditeur' })

      await postern.call('GET /api/v1/public/a', {
        token: signedBy(key, { kid: '2026-11' }, claims),
      })

      const { payload, protectedHeader } = await verified(postern, received(postern))
      expect(protectedHeader).toEqual({
        alg: algorithm,
        kid: '2026-11',
        typ: 'postern-assertion+jwt',
      })
      const { iat = 0 } = payload
      expect(payload).toEqual({
        iss: 'postern',
        aud: 'backend',
        sub: '42',
        role_key: 'editor',
        role_id: '7',
        role_name: 'Éditeur',
        data_scope: '3',
        name: 'Bjørn 50%',
        iat,
        exp: iat + 60,
      })
      expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(10)
    },
  )

  test('is no login, in whichever carrier', async () => {
    const { postern, token } = await start()
    await postern.call('GET /api/v1/public/a', { token })
    const assertion = received(postern)

    const answers = [
      await postern.call('GET /api/v1/public/a', { token: assertion }),
      await postern.call(`GET /api/v1/public/a?token=${assertion}`),
      await postern.call('GET /api/v1/public/a', { headers: [`Cookie: jwt=${assertion}`] }),
      await postern.call('GET /api/v1/public/a', { headers: [`${header}: ${assertion}`] }),
    ]

    for (const answer of answers) expect(answer.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests).toHaveLength(1)
  })

  // The type alone would not hold against a gateway that signs with another type by mistake.
  test('has not the claims of a login either', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern({ config: signing(directory) })
    await postern.call('GET /api/v1/public/a', { token: signedBy(key, { kid: 'a' }) })
    const [, payload = ''] = received(postern).split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())

    const answer = await postern.call('GET /api/v1/public/a', {
      token: signedBy(key, { kid: 'a' }, claims),
    })

    expect(answer.json()).toMatchObject({ code: 401 })
  })

  test('is never a client’s own', async () => {
    const { postern, token } = await start({ header: 'X-Who' })
    const headers = ['X-Who: mine', 'X_Who: mine', 'x-postern-assertion: mine']

    await postern.call('GET /api/v1/public/a', { token, headers })

    const sent = postern.upstream.requests[0]
    expect(sent?.values('X-Who')).toHaveLength(1)
    expect(sent?.headers.filter(([, value]) => value === 'mine')).toEqual([])
  })

  test('is not there where nobody calls', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern({
      config: signing(directory),
      routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a test' }],
    })
    const headers = [`${header}: mine`]

    await postern.call('GET /open', { token: signedBy(key, { kid: 'a' }), headers })

    expect(postern.upstream.requests[0]?.values(header)).toEqual([])
  })

  test('is off without a word', async () => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a', { as: 'editor', headers: [`${header}: mine`] })

    expect(postern.upstream.requests[0]?.values(header)).toEqual([])
  })

  test('is for the upstream that it goes to, and for no other', async () => {
    const { postern, token } = await start()
    await postern.call('GET /api/v1/public/a', { token })

    await expect(verified(postern, received(postern), 'billing')).rejects.toThrow('aud')
  })

  test('has the audience and issuer of the configuration', async () => {
    const { postern, token } = await start({ audience: 'https://internal', issuer: 'gate' })

    await postern.call('GET /api/v1/public/a', { token })

    const keys = createRemoteJWKSet(
      new URL(`http://127.0.0.1:${postern.opsPort}/.well-known/jwks.json`),
    )
    const { payload } = await jwtVerify(received(postern), keys)
    expect(payload).toMatchObject({ aud: 'https://internal', iss: 'gate' })
  })

  test('goes along with a WebSocket', async () => {
    const { postern, token } = await start()
    const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']

    await postern.call('GET /api/v1/public/a', { token, headers })

    expect((await verified(postern, received(postern))).payload.sub).toBe('42')
  })
})

describe('the time of an assertion', () => {
  test('is used up to three quarters, and renewed behind a request from one half on', async () => {
    let ahead = 0
    const { postern, token } = await start({}, () => Math.floor(Date.now() / 1000) + ahead)
    const sent = async () => {
      await postern.call('GET /api/v1/public/a', { token })
      return received(postern)
    }

    const first = await sent()
    ahead = 28
    const same = await sent()
    ahead = 35
    const behind = await sent()
    await until(async () => (await sent()) !== first)
    ahead = 35 + 50
    const waited = await sent()

    expect([same, behind]).toEqual([first, first])
    const { payload } = await jwtVerify(waited, createLocalJWKSet(await jwksOf(postern)))
    expect(payload.exp).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1000) + ahead + 59)
  })

  test('is over with the token', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern({ config: signing(directory) })
    const exp = Math.floor(Date.now() / 1000) + 20
    const token = signedBy(key, { kid: 'a' }, claimsOf('editor', { exp }))

    await postern.call('GET /api/v1/public/a', { token })

    expect((await verified(postern, received(postern))).payload.exp).toBe(exp)
  })

  test('ends with its key: the next call has one by the new key', async () => {
    const old = newKey()
    const next = newKey('EdDSA')
    const both = { 'old.pem': old.privatePem, 'next.pem': next.privatePem }
    const mount = await mountKeys({ ...both, signer: 'old' })
    const postern = await startPostern({ config: signing(mount.directory) })
    const token = signedBy(old, { kid: 'old' })
    const signer = async () => {
      await postern.call('GET /api/v1/public/a', { token })
      return decodeProtectedHeader(received(postern)).kid
    }

    const before = await signer()
    await mount.swap({ ...both, signer: 'next' })

    expect(before).toBe('old')
    await until(async () => (await signer()) === 'next')
    expect((await verified(postern, received(postern))).payload.sub).toBe('42')
  })
})

async function jwksOf({ opsPort }: TestPostern) {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/.well-known/jwks.json`)
  return (await answer.json()) as Parameters<typeof createLocalJWKSet>[0]
}

describe('the key of assertions', () => {
  const enabled = { identity: { assertion: { enabled: true } } }

  test('is never a shared secret', async () => {
    await expect(startPostern({ config: enabled })).rejects.toThrow(
      'identity.assertion.enabled is true, so jwt.keyDirectory is required',
    )
  })

  test('is none of a directory of shared secrets', async () => {
    const k = Buffer.alloc(32, 'not guessable at all 9!').toString('base64url')
    const jwk = JSON.stringify({ kty: 'oct', alg: 'HS256', k })
    const { directory } = await mountKeys({ 'a.jwk': jwk })

    await expect(startPostern({ config: signing(directory) })).rejects.toThrow(
      'identity.assertion requires one private key that is not a shared secret',
    )
  })

  test('is the only private one where the secret signs logins', async () => {
    const { directory } = await mountKeys({ 'a.pem': newKey().privatePem })
    const config = { ...enabled, jwt: { secret: testSecret, keyDirectory: directory } }
    const postern = await startPostern({ config })

    await postern.call('GET /api/v1/public/a', { as: 'editor' })

    expect((await verified(postern, received(postern))).protectedHeader.kid).toBe('a')
  })

  test('when it goes, calls get 503 and no unsigned identity, and readiness says why', async () => {
    const key = newKey()
    const mount = await mountKeys({ 'a.pem': key.privatePem })
    const postern = await startPostern({ config: signing(mount.directory) })
    const token = signedBy(key, { kid: 'a' })
    const status = async () => (await postern.call('GET /api/v1/public/a', { token })).status

    expect(await status()).toBe(200)
    await mount.swap({ 'a.pem': key.publicPem })

    await until(async () => (await status()) === 503)
    const ready = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.text()).toContain('assertion')
  })
})

describe('with a proxy in front', () => {
  test.each(contractNames)('the answer to %s has it', async (contract) => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const config = asked(signing(directory, { audience: 'services' }))
    const postern = await startPostern({ config })
    const headers = [`Authorization: Bearer ${signedBy(key, { kid: 'a' })}`]

    const answer = await askAbout(postern, contract, 'GET /api/v1/public/a', { headers })

    const { payload } = await verified(postern, answer.header(header) ?? '', 'services')
    expect(payload.sub).toBe('42')
  })

  test('the audience must be given, for Postern does not know where calls go', async () => {
    const { directory } = await mountKeys({ 'a.pem': newKey().privatePem })

    await expect(startPostern({ config: asked(signing(directory)) })).rejects.toThrow(
      'identity.assertion.audience is required',
    )
  })
})

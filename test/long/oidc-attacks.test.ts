import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type FakeProvider, oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { newKey, signedBy } from '../support/keys.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { strangers } from '../support/stranger-addresses.ts'
import { nowSeconds } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function start(providers: readonly FakeProvider[], more: Record<string, unknown> = {}) {
  const oidc = providers.map(({ issuer }, index) =>
    oidcSettings(issuer, { name: index === 0 ? 'corp' : 'other', timeoutMs: 500, ...more }),
  )
  const config = { cookie: { set: true }, login: { oidc, perAddressPerMinute: 100_000 } }
  return startPostern({ ownDatabase: true, config })
}

const codeOf = (answer: RawAnswer) => (answer.json() as { code: number }).code

/** A whole login, as `approve` of the provider answers it. */
async function logIn(postern: TestPostern, provider: FakeProvider, browser = new OidcBrowser()) {
  const good = provider.approve(await browser.begin(postern, 'corp'))
  return browser.callback(postern, 'corp', good)
}

describe('a login with a provider is refused', () => {
  test('in a browser that did not begin it, and with a state of another login', async () => {
    const provider = await startFakeProvider()
    const postern = await start([provider])
    const [attacker, victim] = [new OidcBrowser(), new OidcBrowser()]

    // Login CSRF: the victim follows a link with the attacker's code and state.
    const own = provider.approve(await attacker.begin(postern, 'corp'))
    const before = victim.cookies.size
    const forced = await victim.callback(postern, 'corp', own)
    expect(codeOf(forced)).toBe(400)
    expect(victim.cookies.size).toBe(before)

    // The victim has a login of their own in progress.
    const theirs = provider.approve(await victim.begin(postern, 'corp'))
    expect(codeOf(await victim.callback(postern, 'corp', own))).toBe(400)
    const mixed = { code: own['code'] ?? '', state: theirs['state'] ?? '' }
    expect(codeOf(await victim.callback(postern, 'corp', mixed))).toBe(400)
    expect(victim.cookies.has('jwt')).toBe(false)

    // The same by POST, as of a single-page application.
    const body = JSON.stringify({ provider: 'corp', ...own })
    const headers = ['Content-Type: application/json']
    const posted = await victim.send(postern, 'POST /api/v1/login', { headers, body })
    expect(codeOf(posted)).toBe(400)
    // The code went to the provider once, with a verifier that did not fit (PKCE).
    expect(provider.exchanges).toHaveLength(1)
    expect((await logIn(postern, provider, victim)).status).toBe(303)
  })

  test('with a state or a code that was used', async () => {
    const provider = await startFakeProvider()
    const postern = await start([provider])
    const browser = new OidcBrowser()
    const good = provider.approve(await browser.begin(postern, 'corp'))
    const kept = new Map(browser.cookies)

    const attempts = await Promise.all(
      Array.from({ length: 5 }, () => {
        const tab = new OidcBrowser()
        for (const [name, value] of kept) tab.cookies.set(name, value)
        return tab.callback(postern, 'corp', good)
      }),
    )
    expect(attempts.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(provider.exchanges).toHaveLength(1)

    // The code again, in a login of its own.
    const next = await browser.begin(postern, 'corp')
    const state = next.searchParams.get('state') ?? ''
    const replayed = await browser.callback(postern, 'corp', { ...good, state })
    expect(codeOf(replayed)).toBe(400)
    expect(postern.logText()).toContain('refused the code')
  })

  test('with the answer of another provider (mix-up)', async () => {
    const [corp, other] = [await startFakeProvider(), await startFakeProvider()]
    const postern = await start([corp, other])
    const browser = new OidcBrowser()

    const good = corp.approve(await browser.begin(postern, 'corp'))
    const iss = other.issuer
    expect(codeOf(await browser.callback(postern, 'corp', { ...good, iss }))).toBe(400)
    expect(corp.exchanges).toHaveLength(0)
    const again = corp.approve(await browser.begin(postern, 'corp'))
    // To the callback of the other provider, which would get the code.
    expect(codeOf(await browser.callback(postern, 'other', again))).toBe(400)
    expect(other.exchanges).toHaveLength(0)
    const third = corp.approve(await browser.begin(postern, 'corp'))
    const ok = await browser.callback(postern, 'corp', { ...third, iss: corp.issuer })
    expect(ok.status).toBe(303)
  })

  test('with an ID token that is not for this login, not signed or not valid now', async () => {
    const provider = await startFakeProvider()
    const postern = await start([provider])
    const now = nowSeconds()
    expect((await logIn(postern, provider)).status).toBe(303)

    const wrongClaims = {
      'another nonce': { nonce: 'of-another-login' },
      'no nonce': { nonce: undefined },
      'another audience': { aud: 'another-client' },
      'several audiences, another azp': { aud: ['postern', 'x'], azp: 'x' },
      'one audience, another azp': { azp: 'another-client' },
      'another issuer': { iss: 'https://evil.example' },
      expired: { exp: now - 120 },
      'no expiry': { exp: undefined },
      'issued in the future': { iat: now + 3600 },
      'issued yesterday': { iat: now - 86_400 },
      'no iat': { iat: undefined },
      'another access token': { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' },
      'no subject': { sub: undefined },
      'an empty subject': { sub: '' },
      'a subject that is too long': { sub: 'x'.repeat(256) },
      'no user name': { preferred_username: undefined },
      'a user name that is not a text': { preferred_username: { a: 1 } },
    }
    for (const [what, claims] of Object.entries(wrongClaims)) {
      provider.claims = claims
      const answer = await logIn(postern, provider)
      expect({ what, status: answer.status, code: codeOf(answer) }).toEqual({
        ...{ what, status: 200, code: 400 },
      })
      expect(answer.header('set-cookie'), what).not.toContain('jwt')
    }
    provider.claims = {}

    const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const kid = 'first'
    const stranger = newKey('RS256')
    const published = provider.keys[kid]?.publicPem ?? ''
    const forgeries: Record<string, FakeProvider['sign']> = {
      unsigned: (claims) => `${text({ alg: 'none', kid })}.${text(claims)}.`,
      'unsigned without alg': (claims) => `${text({ kid })}.${text(claims)}.AAAA`,
      'another key under the right kid': (claims) => signedBy(stranger, { kid }, claims),
      'another key under its own kid': (claims) => signedBy(stranger, { kid: 'mine' }, claims),
      'HS256 with the public key': (claims) => {
        const input = `${text({ alg: 'HS256', kid })}.${text(claims)}`
        return `${input}.${createHmac('sha256', published).update(input).digest('base64url')}`
      },
      'HS256 with the client secret': (claims) => {
        const input = `${text({ alg: 'HS256' })}.${text(claims)}`
        const signature = createHmac('sha256', 'a-secret-of-the-client').update(input)
        return `${input}.${signature.digest('base64url')}`
      },
      'a key in its header': (claims) =>
        signedBy(stranger, { jwk: stranger.privateKey.export({ format: 'jwk' }) }, claims),
      'ES256 instead of RS256': (claims) => signedBy(newKey('ES256'), { kid }, claims),
    }
    for (const [what, sign] of Object.entries(forgeries)) {
      provider.sign = sign
      const answer = await logIn(postern, provider)
      expect({ what, status: answer.status, code: codeOf(answer) }).toEqual({
        ...{ what, status: 200, code: 400 },
      })
    }
    for (const secret of ['an-access-token', 'a-secret-of-the-client', 'eyJ']) {
      expect(postern.logText()).not.toContain(secret)
    }
  })

  test('without the required authentication context', async () => {
    const provider = await startFakeProvider()
    const postern = await start([provider], { requiredAcr: ['mfa'], acrValues: ['mfa'] })

    provider.claims = { acr: 'password' }
    expect(codeOf(await logIn(postern, provider))).toBe(400)
    provider.claims = { acr: 'mfa' }
    expect((await logIn(postern, provider)).status).toBe(303)
  })

  test('when a parameter comes twice, or none comes', async () => {
    const provider = await startFakeProvider()
    const postern = await start([provider])
    const browser = new OidcBrowser()
    const path = '/api/v1/login/oidc/corp/callback'

    for (const query of ['', '?code=a', '?state=a', '?code=a&code=b&state=c', '?code=&state=']) {
      expect(codeOf(await browser.send(postern, `GET ${path}${query}`)), query).toBe(400)
    }
    const { code = '', state = '' } = provider.approve(await browser.begin(postern, 'corp'))
    const twice = await browser.send(postern, `GET ${path}?code=x&code=${code}&state=${state}`)
    expect(codeOf(twice)).toBe(400)
    expect(provider.exchanges).toHaveLength(0)
    expect((await browser.send(postern, `POST ${path}`, { body: '' })).status).toBe(405)
    expect((await browser.send(postern, 'GET /api/v1/login/oidc/none')).status).toBe(404)
  })
})

test('a login never leads to another host', async () => {
  const provider = await startFakeProvider()
  const postern = await start([provider])
  const foreign = [
    'https://evil.example/',
    '//evil.example/',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%09/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/..//evil.example',
    '/.//evil.example',
    ' //evil.example',
    '@evil.example',
    '.evil.example',
    'evil.example',
    '/ok\r\nSet-Cookie: jwt=x',
    `/${'a'.repeat(3000)}`,
    '',
  ]
  for (const to of foreign) {
    const browser = new OidcBrowser()
    const query = `?to=${encodeURIComponent(to)}`
    const good = provider.approve(await browser.begin(postern, 'corp', query))
    const answer = await browser.callback(postern, 'corp', good)
    expect({ to, location: answer.header('location') }).toEqual({ to, location: '/' })
  }
})

test('with several hosts, it leads only to these', async () => {
  const provider = await startFakeProvider()
  const page = { enabled: true, url: 'https://login.example.com/login' }
  const hosts = ['app.example.com', '*.eu.example.com']
  const oidc = [oidcSettings(provider.issuer)]
  const postern = await startPostern({
    ownDatabase: true,
    config: {
      cookie: { set: true, domain: 'example.com' },
      login: { oidc, perAddressPerMinute: 100_000, page: { ...page, hosts } },
    },
  })
  const ends = async (to: string) => {
    const browser = new OidcBrowser()
    const query = `?to=${encodeURIComponent(to)}`
    const good = provider.approve(await browser.begin(postern, 'corp', query))
    return (await browser.callback(postern, 'corp', good)).header('location')
  }
  expect(strangers.length).toBeGreaterThanOrEqual(60)
  for (const to of strangers) expect([to, await ends(to)]).toEqual([to, '/'])
  const friend = 'https://de.eu.example.com/orders?x=1'
  expect(await ends(friend)).toBe(friend)
})

test('the callback address comes from the configuration, whatever Host says', async () => {
  const provider = await startFakeProvider()
  const postern = await start([provider])

  const answer = await postern.call('GET /api/v1/login/oidc/corp', {
    host: 'evil.example',
    headers: ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https'],
  })

  const { searchParams } = new URL(answer.header('location') ?? '')
  const callback = 'http://127.0.0.1:22000/api/v1/login/oidc/corp/callback'
  expect(searchParams.get('redirect_uri')).toBe(callback)
})

test('pages of other sites cannot use up the attempts of an address', async () => {
  const provider = await startFakeProvider()
  const oidc = [oidcSettings(provider.issuer)]
  const config = { cookie: { set: true }, login: { oidc, perAddressPerMinute: 5 } }
  const postern = await startPostern({ ownDatabase: true, config })
  const visitor = new OidcBrowser()

  const answers: number[] = []
  for (let count = 0; count < 8; count++) {
    answers.push(codeOf(await visitor.callback(postern, 'corp', { code: 'x', state: 'x' })))
  }
  expect(answers).toContain(429)

  expect((await logIn(postern, provider)).status).toBe(303)
  const own = await visitor.send(postern, 'POST /api/v1/login', {
    ...{ headers: ['Content-Type: application/json'], body: '{}' },
  })
  expect(codeOf(own)).toBe(400)
})

test('a browser that abandons logins keeps few of their cookies', async () => {
  const provider = await startFakeProvider()
  const postern = await start([provider])
  const browser = new OidcBrowser()

  for (let count = 0; count < 12; count++) await browser.begin(postern, 'corp')

  expect(browser.flows).toHaveLength(4)
  expect((await logIn(postern, provider, browser)).status).toBe(303)
})

test('a provider that is down at start or later costs only its own logins', async () => {
  const provider = await startFakeProvider()
  await provider.stop()
  const postern = await start([provider])
  const browser = new OidcBrowser()

  const down = await browser.send(postern, 'GET /api/v1/login/oidc/corp')
  expect(down.status).toBe(503)
  expect(down.json()).toMatchObject({ code: 503 })
  expect((await postern.call('GET /api/v1/public/x', { as: 'editor' })).status).toBe(200)

  await provider.start()
  await until(
    async () => (await browser.send(postern, 'GET /api/v1/login/oidc/corp')).status === 302,
  )
  expect((await logIn(postern, provider)).status).toBe(303)

  // Away again: the address is known, the code cannot be exchanged.
  const good = provider.approve(await browser.begin(postern, 'corp'))
  await provider.stop()
  expect((await browser.callback(postern, 'corp', good)).status).toBe(503)

  // Answers, but never ends.
  await provider.start()
  const silent = provider.approve(await browser.begin(postern, 'corp'))
  provider.answer = (_, response) => void response.writeHead(200).write('{')
  expect((await browser.callback(postern, 'corp', silent)).status).toBe(503)
  for (const answer of ['<html>', '{}', '[]', 'x'.repeat(400_000)]) {
    provider.answer = undefined
    const next = provider.approve(await browser.begin(postern, 'corp'))
    provider.answer = (_, response) => void response.writeHead(500).end(answer)
    expect((await browser.callback(postern, 'corp', next)).status).toBe(503)
  }
  const { body } = await (async () => {
    provider.answer = undefined
    return logIn(postern, provider)
  })()
  expect(body).toBe('')
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type FakeProvider, oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { claimsOf, nowSeconds } from '../support/tokens.ts'
import { until } from '../support/until.ts'

type Claims = Readonly<Record<string, unknown>>
type Use = 'bearer' | 'login' | 'logout'

const line = 'GET /api/v1/public/x'
const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }

interface Kind {
  readonly header?: Claims
  readonly claims?: Claims
  readonly works: readonly Use[]
}

/**
 * What one issuer signs with one key for one audience, and where it may be used. All have the same user
 * and roles, so that only the kind decides.
 */
const kinds: Readonly<Record<string, Kind>> = {
  'an access token (RFC 9068)': { header: { typ: 'at+jwt' }, works: ['bearer'] },
  'an access token with the whole media type': {
    ...{ header: { typ: 'application/at+jwt' }, works: ['bearer'] },
  },
  'an access token (RFC 9068) with a nonce': {
    ...{ header: { typ: 'at+jwt' }, claims: { nonce: 'n' }, works: ['bearer'] },
  },
  'an access token of Keycloak': { claims: { typ: 'Bearer', scope: 'openid' }, works: ['bearer'] },
  'an access token of Keycloak before version 25': {
    ...{ claims: { typ: 'Bearer', nonce: 'n', auth_time: 1 }, works: ['bearer'] },
  },
  'an access token of Cognito': { claims: { token_use: 'access' }, works: ['bearer'] },
  'an access token of Microsoft Graph': { header: { nonce: 'n' }, works: ['bearer'] },
  'an access token of Okta or Auth0': { claims: { scp: ['read'], azp: 'x' }, works: ['bearer'] },
  'an access token whose claims have odd types': {
    claims: { typ: { toString: 1, valueOf: 1 }, token_use: ['id'], events: [event] },
    works: ['bearer'],
  },
  'an ID token of Keycloak': {
    claims: { typ: 'ID', nonce: 'n', at_hash: 'an-access-token', auth_time: 1, azp: 'postern' },
    works: ['login'],
  },
  'a refreshed ID token of Keycloak': { claims: { typ: 'ID' }, works: ['login'] },
  'an ID token of Cognito': { claims: { token_use: 'id' }, works: ['login'] },
  'an ID token of Entra ID': { claims: { nonce: 'n', ver: '2.0' }, works: ['login'] },
  'an ID token of Google': { claims: { at_hash: 'an-access-token' }, works: ['login'] },
  'an ID token of a hybrid flow': { claims: { c_hash: 'x', s_hash: 'x' }, works: ['login'] },
  'an ID token with a type of its own': { header: { typ: 'id_token+jwt' }, works: ['login'] },
  'an ID token that says it is a logout token': {
    ...{ header: { typ: 'logout+jwt' }, claims: { nonce: 'n' }, works: [] },
  },
  'an ID token that says it is a logout token, in capitals': {
    ...{ header: { typ: 'application/LOGOUT+JWT' }, claims: { nonce: 'n' }, works: [] },
  },
  'an ID token that says it is an access token': {
    ...{ header: { typ: 'at+jwt' }, claims: { typ: 'ID', nonce: 'n' }, works: [] },
  },
  'a logout token': { header: { typ: 'logout+jwt' }, claims: { events: event }, works: ['logout'] },
  'a logout token of type JWT': { claims: { events: event }, works: ['logout'] },
  'a logout token of Keycloak': { claims: { typ: 'Logout', events: event }, works: ['logout'] },
  'a logout token that says it is an access token': {
    ...{ header: { typ: 'at+jwt' }, claims: { events: event }, works: [] },
  },
  'another security event token': { header: { typ: 'secevent+jwt' }, works: [] },
  'a refresh token': { claims: { typ: 'Refresh' }, works: [] },
  'an offline token': { claims: { typ: 'Offline' }, works: [] },
  'a DPoP proof': { header: { typ: 'dpop+jwt' }, works: [] },
  'a client assertion': { header: { typ: 'client-authentication+jwt' }, works: [] },
  'an answer of an introspection': { header: { typ: 'token-introspection+jwt' }, works: [] },
  'a type that is not a text': { header: { typ: 7 }, works: [] },
}

/** One realm for logins and for access tokens, with one name for client and audience. */
async function startBoth(changes: Claims = {}) {
  const provider = await startFakeProvider()
  const oidc = [oidcSettings(provider.issuer, { logout: { endSession: true, backChannel: true } })]
  const postern = await startPostern({
    ownDatabase: true,
    config: { cookie: { set: true }, login: { oidc, perAddressPerMinute: 100_000 } },
    issuers: [
      {
        ...{ issuer: provider.issuer, jwksUri: `${provider.issuer}/keys`, name: 'sso' },
        ...{ audience: 'postern', claims: { roleKey: 'groups' } },
        ...{ roles: [{ value: 'staff', role: 'editor' }], ...changes },
      },
    ],
  })
  return { provider, postern }
}

function sign(provider: FakeProvider, { header, claims }: Kind, more: Claims): string {
  const [kid, key] = Object.entries(provider.keys)[0] ?? []
  if (key === undefined) throw new Error('the provider has no key')
  const now = nowSeconds()
  return signedBy(
    key,
    { kid, ...header },
    {
      ...{ iss: provider.issuer, aud: 'postern', sub: 'subject-of-ada', jti: randomUUID() },
      ...{ iat: now, exp: now + 300, sid: 'session-1', preferred_username: 'ada' },
      ...{ groups: ['staff'], ...claims, ...more },
    },
  )
}

const uses: Readonly<
  Record<Use, (postern: TestPostern, provider: FakeProvider, kind: Kind) => Promise<boolean>>
> = {
  async bearer(postern, provider, kind) {
    const answer = await postern.call(line, { token: sign(provider, kind, {}) })
    return answer.body === '{"ok":true}'
  },
  async login(postern, provider, kind) {
    const browser = new OidcBrowser()
    const good = provider.approve(await browser.begin(postern, 'corp'))
    // As a provider would send it for this login: only its kind is wrong.
    provider.sign = ({ nonce }) => sign(provider, kind, { nonce, at_hash: undefined })
    const answer = await browser.callback(postern, 'corp', good)
    provider.sign = undefined
    return answer.status === 303
  },
  async logout(postern, provider, kind) {
    const answer = await postern.call('POST /api/v1/login/oidc/corp/backchannel-logout', {
      headers: ['Content-Type: application/x-www-form-urlencoded'],
      body: `logout_token=${sign(provider, kind, {})}`,
    })
    return answer.status === 200
  },
}

async function worksAs(postern: TestPostern, provider: FakeProvider, kind: Kind) {
  const found: Use[] = []
  for (const [use, works] of Object.entries(uses)) {
    if (await works(postern, provider, kind)) found.push(use as Use)
  }
  return found
}

describe('a token that was issued for something else', () => {
  test('is refused, whatever else of it is right', async () => {
    const { provider, postern } = await startBoth()

    for (const [name, kind] of Object.entries(kinds)) {
      const found = await worksAs(postern, provider, kind)
      // A provider vouches for what it sends as ID token, unless the type says otherwise.
      const counted = kind.works.includes('bearer') ? found.filter((use) => use !== 'login') : found
      expect([name, counted]).toEqual([name, kind.works])
    }
    expect(postern.logText()).toContain('it is an ID token (claim nonce), not an access token')
    expect(postern.logText()).toContain('is also login.oidc[0].clientId')
  })

  test('such as the ID token of a login, which the logout shows to the browser', async () => {
    const { provider, postern } = await startBoth()
    const browser = new OidcBrowser()
    provider.claims = { typ: 'ID' }
    let idToken: string | null | undefined
    // The session at the provider is recorded beside the login.
    await until(async () => {
      const good = provider.approve(await browser.begin(postern, 'corp'))
      expect((await browser.callback(postern, 'corp', good)).status).toBe(303)
      const token = browser.cookies.get('jwt') ?? ''
      const out = await postern.call('POST /api/v1/logout', { token, body: '' })
      const { logoutUrl = 'x:' } = out.json() as { logoutUrl?: string }
      idToken = new URL(logoutUrl).searchParams.get('id_token_hint')
      return idToken !== null
    })

    const answer = await postern.call(line, { token: idToken ?? '' })

    expect(idToken?.split('.')).toHaveLength(3)
    expect(answer.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests).toEqual([])
  })

  test('is accepted from an issuer that cannot tell them apart, if the configuration says so', async () => {
    const { provider, postern } = await startBoth({ acceptIdTokens: true })
    // Dex makes both in one way.
    const ofDex: Kind = {
      header: { typ: undefined },
      claims: { nonce: 'n', at_hash: 'x' },
      works: [],
    }

    expect(await uses.bearer(postern, provider, ofDex)).toBe(true)
    for (const [name, kind] of Object.entries(kinds)) {
      if (kind.works.includes('login') || kind.works.includes('bearer')) continue
      const isIdToken = name === 'an ID token that says it is an access token'
      expect([name, await uses.bearer(postern, provider, kind)]).toEqual([name, isIdToken])
    }
  })
})

describe('what Postern itself makes', () => {
  test('acts as a token only if it is one', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'ec.pem': key.privatePem, signer: 'ec' })
    const provider = await startFakeProvider()
    const postern = await startPostern({
      ownDatabase: true,
      config: {
        ...{ jwt: { keyDirectory: directory }, cookie: { set: true } },
        identity: { assertion: { enabled: true } },
        login: { oidc: [oidcSettings(provider.issuer)], perAddressPerMinute: 100_000 },
      },
    })
    const signed = (header: Claims, claims: Claims = {}) =>
      signedBy(key, { kid: 'ec', ...header }, claimsOf('editor', claims))
    const login = signed({})
    expect((await postern.call(line, { token: login })).body).toBe('{"ok":true}')
    const [assertion = ''] = postern.upstream.requests[0]?.values('X-Postern-Assertion') ?? []
    expect(assertion.split('.')).toHaveLength(3)
    const browser = new OidcBrowser()
    const begun = await browser.begin(postern, 'corp')
    const [flow = ''] = [...browser.cookies.values()]
    expect(flow.split('.')).toHaveLength(5)
    const captcha = (await postern.call('GET /api/v1/getCaptcha')).json() as { id: string }
    const before = postern.upstream.requests.length

    const others: Readonly<Record<string, string>> = {
      'an assertion for a service': assertion,
      'a login token of the type of an assertion': signed({ typ: 'postern-assertion+jwt' }),
      'a login token of the type of an access token': signed({ typ: 'at+jwt' }),
      'a login token of the type of a logout token': signed({ typ: 'logout+jwt' }),
      'a service token, while they are off': signed({}, { kind: 'service' }),
      'a token of a kind that is not known': signed({}, { kind: 'captcha' }),
      'a login on its way to a provider': flow,
      'the state of that login': begun.searchParams.get('state') ?? '',
      'the nonce of that login': begun.searchParams.get('nonce') ?? '',
      'the ID of a captcha': captcha.id,
    }
    for (const [name, token] of Object.entries(others)) {
      expect(token, name).not.toBe('')
      for (const carried of [
        { token },
        { headers: [`Cookie: jwt=${token}`] },
        { line: `${line}?token=${token}` },
      ]) {
        const answer = await postern.call(carried.line ?? line, carried)
        expect([name, answer.json()]).toEqual([name, expect.objectContaining({ code: 401 })])
      }
    }
    expect(postern.upstream.requests).toHaveLength(before)

    // And the other way round: no token is a login on its way.
    for (const token of [login, assertion, captcha.id]) {
      const state = begun.searchParams.get('state') ?? ''
      const other = new OidcBrowser()
      other.cookies.set(browser.flows[0] ?? '', token)
      const { code = '' } = provider.approve(begun)
      const answer = await other.callback(postern, 'corp', { code, state })
      expect(answer.json()).toMatchObject({ code: 400 })
    }
    expect(provider.exchanges).toEqual([])
  })
})

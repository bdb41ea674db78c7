import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startCertifiedProvider } from '../support/certified-provider.ts'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { newKey, signedBy } from '../support/keys.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { nowSeconds } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const path = '/api/v1/login/oidc/corp'
const callback = `http://127.0.0.1:22000${path}/callback`
const form = ['Content-Type: application/x-www-form-urlencoded']
const event = 'http://schemas.openid.net/event/backchannel-logout'

async function startTwo(settings: Readonly<Record<string, unknown>>) {
  const config = { cookie: { set: true }, login: { oidc: [settings], perAddressPerMinute: 1000 } }
  const first = await startPostern({ ownDatabase: true, config })
  const application = { dataDirectory: first.dataDirectory }
  const second = await startPostern({ config: { ...config, application } })
  return { first, second }
}

const isIn = async (browser: OidcBrowser, postern: TestPostern) =>
  (await browser.send(postern, 'GET /api/v1/user/profile')).body.includes('"code":200')

test('a logout here leads to the logout of a certified provider, which tells us', async () => {
  // The port is not known before the provider starts: a relay of the test.
  let gateway: TestPostern | undefined
  const { createServer } = await import('node:http')
  const relay = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answer = await gateway?.call(`POST ${path}/backchannel-logout`, {
      headers: form,
      body: Buffer.concat(chunks).toString(),
    })
    response.writeHead(answer?.status ?? 500).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => relay.once('listening', resolve))
  const { port } = relay.address() as { port: number }
  const after = 'http://127.0.0.1:22000/bye'
  const provider = await startCertifiedProvider({
    redirectUris: [callback],
    backChannelUri: `http://127.0.0.1:${port}/`,
    postLogoutRedirectUris: [after],
  })
  const settings = oidcSettings(provider.issuer, {
    scopes: ['openid', 'profile', 'groups'],
    logout: { endSession: true, backChannel: true, postLogoutRedirectUri: after },
  })
  const { first, second } = await startTwo(settings)
  gateway = second
  const logIn = async (browser: OidcBrowser) => {
    const back = new URL(await provider.visit(await browser.begin(first, 'corp')))
    const answer = Object.fromEntries(back.searchParams) as Record<string, string>
    expect((await browser.callback(first, 'corp', answer)).status).toBe(303)
  }

  // Two logins in one session of the provider.
  const [here, there] = [new OidcBrowser(), new OidcBrowser()]
  await logIn(here)
  await logIn(there)
  let logoutUrl: string | undefined
  await until(async () => {
    const token = here.cookies.get('jwt') ?? ''
    const answer = await first.call('POST /api/v1/logout', { token, body: '' })
    logoutUrl = (answer.json() as { logoutUrl?: string }).logoutUrl
    if (logoutUrl === undefined) await logIn(here)
    return logoutUrl !== undefined
  })
  expect(await isIn(there, first)).toBe(true)

  const url = new URL(logoutUrl ?? '')
  expect(url.searchParams.get('post_logout_redirect_uri')).toBe(after)
  expect(first.logText()).not.toContain(url.searchParams.get('id_token_hint'))
  const page = String(await provider.visit(url))
  const [, action = ''] = /action="([^"]+)"/.exec(page) ?? []
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? []
  const end = await provider.visit(action, { xsrf, logout: 'yes' })
  expect(String(end)).toBe(after)

  await until(() => provider.logouts + provider.logoutErrors.length > 0)
  expect(provider.logoutErrors).toEqual([])
  await until(async () => !(await isIn(there, first)))
  expect(await isIn(there, second)).toBe(false)
  await new Promise((resolve) => relay.close(resolve))
})

test('a logout token ends the session that it names, on every gateway, once', async () => {
  const provider = await startFakeProvider()
  const logout = { backChannel: true }
  const { first, second } = await startTwo(oidcSettings(provider.issuer, { logout }))
  const key = Object.values(provider.keys)[0] ?? newKey('RS256')
  const claims = (more: Readonly<Record<string, unknown>> = {}) => ({
    ...{ iss: provider.issuer, aud: 'postern', iat: nowSeconds(), exp: nowSeconds() + 120 },
    ...{ jti: randomUUID(), events: { [event]: {} }, sid: 'session-1', ...more },
  })
  const signed = (more?: Readonly<Record<string, unknown>>, header: object = {}) =>
    signedBy(key, { kid: 'first', typ: 'logout+jwt', ...header }, claims(more))
  const send = (text: string, headers: readonly string[] = form) =>
    second.call(`POST ${path}/backchannel-logout`, { headers, body: `logout_token=${text}` })
  const logIn = async (sid: string) => {
    const browser = new OidcBrowser()
    const good = provider.approve(await browser.begin(first, 'corp'), { sid })
    expect((await browser.callback(first, 'corp', good)).status).toBe(303)
    return browser
  }
  const one = await logIn('session-1')
  const other = await logIn('session-2')

  const refused: Record<string, string> = {
    'not a token': 'x',
    'no event': signed({ events: {} }),
    'an event that is not an object': signed({ events: { [event]: true } }),
    'a nonce': signed({ nonce: 'x' }),
    'no jti': signed({ jti: undefined }),
    'neither sub nor sid': signed({ sid: undefined }),
    'a sid that is not a text': signed({ sid: 1, sub: 'subject-of-ada' }),
    'a sid that is too long': signed({ sid: 'x'.repeat(256), sub: 'subject-of-ada' }),
    'another issuer': signed({ iss: 'https://evil.example' }),
    'another audience': signed({ aud: 'other' }),
    'too old': signed({ iat: nowSeconds() - 3600 }),
    'issued in the future': signed({ iat: nowSeconds() + 3600 }),
    expired: signed({ exp: nowSeconds() - 3600 }),
    'an access token': signed({}, { typ: 'at+jwt' }),
    'another key': signedBy(newKey('RS256'), { kid: 'first' }, claims()),
    'another algorithm': signedBy(newKey('ES256'), { kid: 'first' }, claims()),
    'an ID token': signed({ events: undefined, nonce: 'n', sub: 'subject-of-ada' }, { typ: 'JWT' }),
  }
  for (const [what, text] of Object.entries(refused)) {
    const answer = await send(text)
    expect({ what, status: answer.status }).toEqual({ what, status: 400 })
    expect(answer.header('cache-control')).toBe('no-store')
  }
  expect((await send(signed(), ['Content-Type: application/json'])).status).toBe(400)
  expect(await isIn(one, first)).toBe(true)

  const good = signed()
  await until(async () => {
    // The session is recorded beside the login.
    expect((await send(signed())).status).toBe(200)
    return !(await isIn(one, second))
  })
  await until(async () => !(await isIn(one, first)))
  expect(await isIn(other, first)).toBe(true)
  expect((await send(good)).status).toBe(200)
  expect((await send(good)).status).toBe(400)

  // Without a session: every one of that person.
  await until(async () => {
    const answer = await send(signed({ sid: undefined, sub: 'subject-of-ada' }, { typ: 'JWT' }))
    expect(answer.status).toBe(200)
    return !(await isIn(other, second))
  })
  await until(async () => !(await isIn(other, first)))

  // A key that the provider has had since a moment ago.
  const third = await logIn('session-3')
  provider.keys = { ...provider.keys, newer: newKey('RS256') }
  const newer = provider.keys['newer'] ?? key
  await until(async () => {
    await send(signedBy(newer, { kid: 'newer' }, claims({ sid: 'session-3' })))
    return !(await isIn(third, second))
  })
})

test('an unreachable provider does not hold up a logout', async () => {
  const provider = await startFakeProvider()
  const settings = oidcSettings(provider.issuer, { logout: { endSession: true } })
  const { first } = await startTwo(settings)
  const browser = new OidcBrowser()
  const good = provider.approve(await browser.begin(first, 'corp'))
  expect((await browser.callback(first, 'corp', good)).status).toBe(303)
  await provider.stop()

  const token = browser.cookies.get('jwt') ?? ''
  const answer = await first.call('POST /api/v1/logout', { token, body: '' })

  expect(answer.json()).toMatchObject({ code: 200 })
  expect((await first.call('GET /api/v1/user/profile', { token })).json()).toMatchObject({
    code: 401,
  })
})

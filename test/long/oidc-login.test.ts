import { describe, expect, test } from 'vitest'
import { startCertifiedProvider } from '../support/certified-provider.ts'
import { oidcSettings } from '../support/fake-provider.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const callback = 'http://127.0.0.1:22000/api/v1/login/oidc/corp/callback'
const appCallback = 'http://127.0.0.1:22001/signed-in'
const scopes = ['openid', 'profile', 'groups']
const json = ['Content-Type: application/json']

async function startBoth({
  cookie = { set: true },
  settings = {},
  headers = {},
}: {
  cookie?: Readonly<Record<string, unknown>>
  settings?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, unknown>>
} = {}) {
  const provider = await startCertifiedProvider({ redirectUris: [callback, appCallback] })
  const oidc = [
    oidcSettings(provider.issuer, { scopes, appRedirectUris: [appCallback], ...settings }),
  ]
  const login = { oidc, perAddressPerMinute: 1000 }
  const first = await startPostern({ ownDatabase: true, config: { cookie, login, headers } })
  const application = { dataDirectory: first.dataDirectory }
  const second = await startPostern({ config: { application, cookie, login, headers } })
  return { provider, first, second, browser: new OidcBrowser() }
}

const answerOf = (address: URL | string) =>
  Object.fromEntries(new URL(address).searchParams) as Record<string, string>

describe('a login with a certified provider', () => {
  test('begins on one gateway, ends on another, and sets our cookie', async () => {
    const { provider, first, second, browser } = await startBoth()

    const address = await browser.begin(first, 'corp', '?to=/app%3Ftab=2')
    expect(address.searchParams.get('code_challenge_method')).toBe('S256')
    expect(address.searchParams.get('redirect_uri')).toBe(callback)
    expect(browser.flows).toHaveLength(1)
    const back = await provider.visit(address)
    const answer = await browser.callback(second, 'corp', answerOf(back))

    expect(answer.status).toBe(303)
    expect(answer.header('location')).toBe('/app?tab=2')
    expect(answer.header('cache-control')).toBe('no-store')
    expect(browser.flows).toEqual([])
    expect(browser.cookies.has('jwt')).toBe(true)

    const profile = await browser.send(first, 'GET /api/v1/user/profile')
    expect(profile.json()).toMatchObject({ code: 200 })
    const page = await browser.send(second, 'GET /api/v1/public/x')
    expect(page.status).toBe(200)
    // No code, state, token or secret in the log.
    for (const secret of [...Object.values(answerOf(back)), browser.cookies.get('jwt') ?? '']) {
      if (secret === provider.issuer) continue
      expect(first.logText() + second.logText()).not.toContain(secret)
    }
  })

  test('lets services of every gateway learn what the provider knows, until the next login', async () => {
    const { provider, first, second, browser } = await startBoth({
      settings: { scopes: [...scopes, 'email'] },
      headers: { preset: 'oauth2-proxy', claims: { sub: 'X-Subject' }, claimBytes: 256 },
    })
    const names = ['X-Forwarded-User', 'X-Forwarded-Email', 'X-Forwarded-Groups', 'X-Subject']
    const learned = async () => {
      const back = await provider.visit(await browser.begin(first, 'corp'))
      await browser.callback(first, 'corp', answerOf(back))
      await browser.send(second, 'GET /api/v1/public/x', { headers: ['X_Forwarded_Email: me@x'] })
      const [sent] = second.upstream.requests.slice(-1)
      return names.flatMap((name) => sent?.values(name))
    }

    provider.groups = ['staff', 'on call, 2nd']
    expect(await learned()).toEqual([
      ...['ada', 'ada@idp.example', 'staff,on%20call%2C%202nd', 'ada'],
    ])
    // Anyone may enter an address; and a list that does not fit is left out whole.
    provider.hasVerifiedEmail = false
    provider.groups = ['staff', ...Array.from({ length: 20 }, (_, at) => `a-group-number-${at}`)]
    expect(await learned()).toEqual(['ada', '', '', 'ada'])
    expect(first.logText()).toMatch(/"claim":"groups".*"claim left out: over headers.claimBytes"/)
    expect((browser.cookies.get('jwt') ?? '').length).toBeLessThan(1000)
  })

  test('answers with JSON where Postern sets no cookie', async () => {
    const { provider, first, browser } = await startBoth({ cookie: { set: false } })

    const back = await provider.visit(await browser.begin(first, 'corp'))
    const answer = await browser.callback(first, 'corp', answerOf(back))

    const { token, code } = answer.json() as { token: string; code: number }
    expect({ status: answer.status, code }).toEqual({ status: 200, code: 200 })
    expect((await first.call('GET /api/v1/public/x', { token })).status).toBe(200)
  })

  test('goes on by a page of ours where the cookie is strict', async () => {
    const { provider, first, browser } = await startBoth({
      cookie: { set: true, sameSite: 'strict' },
    })

    const address = await browser.begin(first, 'corp', "?to=/a'b%3Fx=1%26y=%3Cz")
    const answer = await browser.callback(first, 'corp', answerOf(await provider.visit(address)))

    expect(answer.status).toBe(200)
    expect(answer.body).toContain('content="0;url=\'/a%27b?x=1&#38;y=&#60;z\'"')
    expect(answer.header('content-security-policy')).toContain("default-src 'none'")
  })

  test('of a single-page application ends with POST /api/v1/login', async () => {
    const { provider, first, second, browser } = await startBoth()

    const begun = await browser.send(first, 'GET /api/v1/login/oidc/corp?mode=json')
    const { url } = begun.json() as { url: string }
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(appCallback)
    const { code, state, iss } = answerOf(await provider.visit(url))
    const body = JSON.stringify({ provider: 'corp', code, state, iss })
    const answer = await browser.send(second, 'POST /api/v1/login', { headers: json, body })

    expect(answer.json()).toMatchObject({ code: 200, success: true })
    expect(browser.flows).toEqual([])
    const again = await browser.send(second, 'POST /api/v1/login', { headers: json, body })
    expect(again.json()).toMatchObject({ code: 400 })

    const named = `redirectUri=${encodeURIComponent(appCallback)}`
    const other = await browser.send(first, `GET /api/v1/login/oidc/corp?mode=json&${named}`)
    expect(other.json()).toMatchObject({ code: 200 })
    const foreign = await browser.send(
      first,
      'GET /api/v1/login/oidc/corp?mode=json&redirectUri=https://evil.example/',
    )
    expect(foreign.json()).toMatchObject({ code: 400 })
    expect(foreign.header('set-cookie')).toBeUndefined()
  })

  test('gives the role of the first matching group, at every login, and refuses without one', async () => {
    const roles = [
      { value: 'chiefs', role: 'admin' },
      { value: 'staff', role: 'editor' },
    ]
    const { provider, first, second, browser } = await startBoth({ settings: { roles } })
    const logIn = async () => {
      const back = await provider.visit(await browser.begin(first, 'corp'))
      return browser.callback(first, 'corp', answerOf(back))
    }

    provider.groups = ['other', 'staff', 'chiefs']
    expect((await logIn()).status).toBe(303)
    expect((await browser.send(first, 'DELETE /api/v1/anything')).status).toBe(200)
    provider.groups = ['staff']
    expect((await logIn()).status).toBe(303)
    expect((await browser.send(first, 'DELETE /api/v1/anything')).json()).toMatchObject({
      code: 401,
    })
    const profile = () => browser.send(second, 'GET /api/v1/user/profile')
    expect((await profile()).json()).toMatchObject({ code: 200 })
    provider.groups = ['unknown']
    expect((await logIn()).json()).toMatchObject({ code: 403 })
    // The tokens from before have the role that was lost, on every gateway.
    await until(async () => (await profile()).body.includes('"code":401'))
    expect(first.logText()).toContain('revoked the tokens of account')
  })

  test('survives a new signing key of the provider at once', async () => {
    const { provider, first, browser } = await startBoth()

    const before = await provider.visit(await browser.begin(first, 'corp'))
    expect((await browser.callback(first, 'corp', answerOf(before))).status).toBe(303)
    provider.rotate()
    const after = await provider.visit(await browser.begin(first, 'corp'))
    expect((await browser.callback(first, 'corp', answerOf(after))).status).toBe(303)
  })

  test('is refused with what the provider says, and begins anew', async () => {
    const { provider, first, browser } = await startBoth()
    await browser.begin(first, 'corp')
    const address = await browser.begin(first, 'corp')
    const state = address.searchParams.get('state') ?? ''

    const answer = await browser.callback(first, 'corp', { error: 'access_denied', state })

    expect(answer.json()).toMatchObject({ code: 400 })
    expect(browser.flows).toHaveLength(1)
    await until(() => first.logText().includes('access_denied'))
    const back = await provider.visit(await browser.begin(first, 'corp'))
    expect((await browser.callback(first, 'corp', answerOf(back))).status).toBe(303)
  })
})

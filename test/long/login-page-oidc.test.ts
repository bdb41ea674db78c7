import { expect, test } from 'vitest'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { dev } from '../support/log-in.ts'
import { attribute, navigation, startWithPage } from '../support/login-page.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { until } from '../support/until.ts'

const formHeaders = [
  'Content-Type: application/x-www-form-urlencoded',
  'Sec-Fetch-Site: same-origin',
]

async function startBoth() {
  const provider = await startFakeProvider()
  provider.discovery = { end_session_endpoint: `${provider.issuer}/end` }
  const oidc = [oidcSettings(provider.issuer, { timeoutMs: 5000, logout: { endSession: true } })]
  const login = { oidc, page: { afterLogin: '/orders' } }
  const postern = await startWithPage({ ownDatabase: true, config: { ...dev, login } })
  return { provider, postern, browser: new OidcBrowser() }
}

test('the button of a provider logs in and goes on after the login, the logout ends both', async () => {
  const { provider, postern, browser } = await startBoth()
  const { body } = await browser.send(postern, 'GET /login')
  const button = attribute(body, /<a class="button" href="([^"]*)"/)
  expect(button).toBe('/api/v1/login/oidc/corp?to=%2Forders')
  const deep = await browser.send(postern, 'GET /login?to=/a%3Fb')
  expect(attribute(deep.body, /<a class="button" href="([^"]*)"/)).toBe(
    '/api/v1/login/oidc/corp?to=%2Fa%3Fb',
  )

  const address = await browser.begin(postern, 'corp', '?to=%2Forders')
  const answer = await browser.callback(postern, 'corp', provider.approve(address))
  expect(answer.header('location')).toBe('/orders')

  const left = await browser.send(postern, 'POST /login/logout', { headers: formHeaders, body: '' })
  expect(left.status).toBe(200)
  expect(left.body).toContain('You are logged out.')
  const onward = attribute(left.body, /<a class="button" href="([^"]*)"/)
  expect(onward).toMatch(`${provider.issuer}/end?`)
  expect(onward).toContain('id_token_hint=')
  expect(browser.cookies.has('jwt')).toBe(false)
})

test('a login that fails at the provider is explained on the page, and logged', async () => {
  const { provider, postern, browser } = await startBoth()
  const refused = await browser.callback(postern, 'corp', { code: 'x', state: 'y' })
  expect(refused.status).toBe(302)
  expect(refused.header('location')).toBe('/login?error=login-expired')
  await until(() => postern.logText().includes('"outcome":"login-expired"'))

  const address = await browser.begin(postern, 'corp')
  await provider.stop()
  const down = await browser.callback(postern, 'corp', provider.approve(address))
  expect(down.status).toBe(302)
  expect(down.header('location')).toBe('/login?error=identity-provider')
  await until(() => postern.logText().includes('"outcome":"identity-provider"'))
  const page = await postern.call('GET /login?error=identity-provider')
  expect(page.status).toBe(503)
})

test('a provider that was never reached is explained on the page; an application gets JSON', async () => {
  const appRedirectUris = ['http://127.0.0.1:22001/signed-in']
  const settings = oidcSettings('http://127.0.0.1:9', { timeoutMs: 1000, appRedirectUris })
  const postern = await startWithPage({ config: { ...dev, login: { oidc: [settings] } } })
  const begun = await postern.call('GET /api/v1/login/oidc/corp', { headers: navigation })
  expect(begun.status).toBe(302)
  expect(begun.header('location')).toBe('/login?error=identity-provider')
  const app = 'GET /api/v1/login/oidc/corp?mode=json'
  expect((await postern.call(app, { headers: navigation })).status).not.toBe(302)
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { dev } from '../support/log-in.ts'
import {
  attribute,
  cookieOf,
  goodForm,
  navigation,
  postForm,
  startWithPage,
} from '../support/login-page.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { until } from '../support/until.ts'

const begin = 'GET /api/v1/login/oidc/corp'
const sameOrigin = 'Sec-Fetch-Site: same-origin'

async function startBoth(login: Readonly<Record<string, unknown>> = {}) {
  const provider = await startFakeProvider()
  const logout = { endSession: true, backChannel: false }
  const oidc = [
    oidcSettings(provider.issuer, { logout, timeoutMs: 1000 }),
    oidcSettings(provider.issuer, { name: 'partner' }),
  ]
  const config = { ...dev, login: { oidc, ...login } }
  const postern = await startWithPage({ ownDatabase: true, config })
  return { provider, postern, browser: new OidcBrowser() }
}

describe('identity providers on the login page', () => {
  test('are all that is shown where names and passwords do not log in', async () => {
    const { postern } = await startBoth({ local: false })
    const { body } = await postern.call('GET /login')
    expect(body).toContain('Log in with corp')
    expect(body).not.toContain('<form')
  })

  test('show a refused login on the page to a browser, and as JSON to others', async () => {
    const { postern, browser, provider } = await startBoth()
    const address = await browser.begin(postern, 'corp', '?to=/orders%3Ftoken=a.b.c%26x=1')
    const approved = provider.approve(address, { groups: ['strangers'] })
    const answer = await browser.callback(postern, 'corp', approved)
    expect(answer.header('location')).toBe('/login?error=no-role&to=%2Forders%3Fx%3D1')
    // The cookie of the login ends with it.
    expect(browser.flows).toEqual([])
    expect(browser.cookies.has('jwt')).toBe(false)
    expect(postern.logText()).toContain('"outcome":"no-role"')
    const other = await postern.call(`${begin}/callback?state=x&code=y`)
    expect(other.json()).toMatchObject({ code: 400 })
  })

  test('show on the page that they are down, when it begins and when it ends', async () => {
    const { postern, browser, provider } = await startBoth()
    const approved = provider.approve(await browser.begin(postern, 'corp'))
    await provider.stop()
    const ended = await browser.callback(postern, 'corp', approved)
    expect(ended.header('location')).toBe('/login?error=identity-provider')
    const page = await postern.call('GET /login?error=identity-provider')
    expect(page.status).toBe(503)
    expect(page.body).toContain('The identity provider is not available')
    // The form for names and passwords still works.
    expect(page.body).toContain('<form')

    const late = await startWithPage({
      config: { ...dev, login: { oidc: [oidcSettings(provider.issuer, { timeoutMs: 1000 })] } },
    })
    const target = `${begin}?to=/api/v1/articles/1`
    const begun = await late.call(target, { headers: navigation })
    expect([begun.status, begun.header('location')]).toEqual([
      302,
      '/login?error=identity-provider&to=%2Fapi%2Fv1%2Farticles%2F1',
    ])
    expect(late.logText()).toContain('"outcome":"identity-provider"')
    const evil = await late.call(`${begin}?to=//evil.example`, { headers: navigation })
    expect(evil.header('location')).toBe('/login?error=identity-provider')
    for (const headers of [[], ['Sec-Fetch-Mode: cors', 'Accept: text/html']]) {
      expect((await late.call(target, { headers })).status).toBe(503)
    }
  })

  test('have a label, a picture, and a link to use another account', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'postern-icon-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const icon = join(directory, 'corp.svg')
    await writeFile(icon, '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    const provider = await startFakeProvider()
    const oidc = [
      oidcSettings(provider.issuer, { label: 'Corp <b>& Sons', icon, prompt: 'login' }),
      oidcSettings(provider.issuer, { name: 'partner' }),
    ]
    const postern = await startWithPage({ ownDatabase: true, config: { ...dev, login: { oidc } } })

    const { body } = await postern.call('GET /login?to=/orders')
    expect(body).toContain('Log in with Corp &#60;b&#62;&#38; Sons</a>')
    expect(body.match(/<img src="[^"]*"/g)).toEqual(['<img src="/login/icon-corp"'])
    const picture = await postern.call('GET /login/icon-corp')
    expect([picture.status, picture.header('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(picture.header('content-security-policy')).toContain('sandbox')
    expect((await postern.call('GET /login/icon-partner')).json()).toMatchObject({ code: 401 })

    const other = attribute(body, /<a href="([^"]*)">Use another account at partner</)
    expect(other).toBe('/api/v1/login/oidc/partner?to=%2Forders&prompt=select_account')
    const browser = new OidcBrowser()
    const promptOf = async (name: string, query = '') =>
      (await browser.begin(postern, name, query)).searchParams.get('prompt')
    expect(await promptOf('partner')).toBeNull()
    expect(await promptOf('partner', '?prompt=select_account')).toBe('select_account')
    expect(await promptOf('partner', '?prompt=none')).toBeNull()
    expect(await promptOf('partner', '?prompt=consent%20none')).toBeNull()
    // No link takes away what the operator asks for.
    expect(await promptOf('corp')).toBe('login')
    expect(await promptOf('corp', '?prompt=select_account')).toBe('login select_account')
    expect(await promptOf('corp', '?prompt=login')).toBe('login')
  })

  test('lead to a page without "Change password", which people with one here have', async () => {
    const { postern, browser, provider } = await startBoth()
    const approved = provider.approve(await browser.begin(postern, 'corp'))
    await browser.callback(postern, 'corp', approved)
    const theirs = await browser.send(postern, 'GET /login')
    expect(theirs.body).toContain('You are logged in as')
    expect(theirs.body).not.toContain('Change password')

    const cookie = cookieOf(await postForm(postern, '/login', goodForm(postern)))
    const own = await postern.call('GET /login', { headers: [`Cookie: ${cookie}`] })
    expect(own.body).toContain('Change password')
  })

  test('offer their own logout after ours', async () => {
    const { postern, browser, provider } = await startBoth()
    const logIn = async () => {
      const approved = provider.approve(await browser.begin(postern, 'corp'))
      await browser.callback(postern, 'corp', approved)
    }
    let body = ''
    // The session at the provider is recorded after the response to the login.
    await until(async () => {
      await logIn()
      const headers = ['Content-Type: application/x-www-form-urlencoded', sameOrigin]
      const left = await browser.send(postern, 'POST /login/logout', { headers, body: '' })
      expect(browser.cookies.has('jwt')).toBe(false)
      body = left.body
      return left.status === 200
    })
    expect(body).toContain('You are logged out.')
    const url = new URL(attribute(body, /href="([^"]*)">Log out at corp too</))
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/logout`)
    expect(url.searchParams.get('client_id')).toBe('postern')
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/)
    expect(postern.logText()).not.toContain(url.searchParams.get('id_token_hint'))
  })
})

import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBehind, usual, whyNot } from '../support/behind-proxy.ts'
import { findChromium } from '../support/browser.ts'
import { cookieOf, goodForm, navigation, nextOf } from '../support/login-page.ts'

const names = ['nginx', 'caddy', 'traefik', 'envoy', 'envoy-grpc'] as const
type Name = (typeof names)[number]
const leftOut = new Map<string, string | undefined>(names.map((name) => [name, whyNot(name)]))
for (const [name, why] of leftOut) {
  if (why !== undefined) console.warn(`left out: the login behind ${name}; ${why}`)
}

const start = (name: Name) =>
  startBehind(name, undefined, {
    ...usual,
    rules: ['editor, /orders*, GET'],
    config: {
      application: { mode: 'dev' },
      cookie: { set: true },
      login: { page: { enabled: true } },
    },
  })

const notHttp = /^(?:http:\/\/gateway\.test)?(?=\/)/

describe.each(names)('a browser behind a real %s', (name) => {
  const proxied = test.skipIf(leftOut.get(name) !== undefined)

  proxied('goes to the login page, logs in, and comes back to its page', async () => {
    const { backend, call, postern } = await start(name)
    const before = backend.requests.length

    const sent = await call('GET /orders/7?x=1', { headers: navigation })
    expect(sent.status).toBe(302)
    const location = sent.header('location') ?? ''
    expect(location).toMatch(/^(?:http:\/\/gateway\.test)?\/login\?to=%2Forders%2F7%3Fx%3D1$/)
    const login = location.replace(notHttp, '')

    const form = await call(`GET ${login}`, { headers: navigation })
    expect([form.status, form.header('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect((await call('GET /login/style.css')).header('content-type')).toContain('text/css')

    const body = new URLSearchParams(goodForm(postern)).toString()
    const headers = [
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
      'Origin: http://gateway.test',
    ]
    const done = await call(`POST ${login}`, { headers, body })
    expect([done.status, nextOf(done)]).toEqual([200, '/orders/7?x=1'])
    expect(backend.requests.length).toBe(before)

    const cookie = [`Cookie: ${cookieOf(done)}`, ...navigation]
    expect((await call('GET /orders/7?x=1', { headers: cookie })).status).toBe(200)
    expect(backend.requests.at(-1)?.target).toBe('/orders/7?x=1')
    expect(backend.requests.at(-1)?.values('X-User-Name')).toEqual(['editor'])

    const forbidden = await call('GET /secrets?x=1', { headers: cookie })
    expect([forbidden.status, forbidden.header('location')]).toEqual([403, undefined])
    expect(forbidden.header('content-type')).toBe('text/html; charset=utf-8')
    expect(forbidden.header('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(forbidden.body).toContain('You are logged in as editor.')
    expect([forbidden.header('x-user-id'), forbidden.body.includes('GET /secrets<')]).toEqual([
      undefined,
      true,
    ])
    expect(forbidden.body).toContain('href="/secrets?x=1"')
    const json = await call('GET /secrets', { headers: [`Cookie: ${cookieOf(done)}`] })
    expect(json.json()).toMatchObject({ code: 403 })
  })

  proxied('is told from a program, which gets the refusal', async () => {
    const { backend, call } = await start(name)
    const before = backend.requests.length

    for (const headers of [
      [],
      ['Accept: application/json'],
      ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty', 'Accept: text/html'],
      ['Accept: text/html', 'X-Requested-With: XMLHttpRequest'],
    ]) {
      const { status, header, json } = await call('GET /orders', { headers })
      expect([headers, status, header('location')]).toEqual([headers, 401, undefined])
      expect(json()).toMatchObject({ code: 401 })
    }
    expect(backend.requests.length).toBe(before)
  })

  proxied('is never sent to another host', async () => {
    const { call } = await start(name)

    for (const target of ['//evil.example', '/\\evil.example', '/%2f/evil.example', '/a//b']) {
      const { header } = await call(`GET ${target}`, { headers: navigation }).catch(() => ({
        header: () => undefined,
      }))
      const at = new URL(header('location') ?? '/', 'http://gateway.test')
      const to = new URL(at.searchParams.get('to') ?? '/', at)
      expect([target, at.host, to.host]).toEqual([target, 'gateway.test', 'gateway.test'])
    }
    for (const lie of [
      'X-Forwarded-Host: evil.example',
      'X-Original-Host: evil.example',
      'Forwarded: host=evil.example',
      'X-Forwarded-Uri: //evil.example',
      'X-Original-URI: //evil.example',
      'X-Forwarded-Proto: javascript',
    ]) {
      const { status, header } = await call('GET /orders', { headers: [lie, ...navigation] })
      const at = header('location')
      expect([lie, status, at]).toEqual([
        lie,
        302,
        expect.stringMatching(/^(?:http:\/\/gateway\.test)?\/login\?to=%2Forders$/),
      ])
    }
  })
})

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

describe.skipIf(program === undefined)('Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: program ?? '',
      args: ['--no-sandbox', '--host-resolver-rules=MAP *.localhost 127.0.0.1'],
    })
  })
  afterAll(() => browser?.close())

  describe.each(names)('behind a real %s', (name) => {
    test.skipIf(leftOut.get(name) !== undefined).each([true, false])(
      'opens the pages of two applications after a login at each; JavaScript: %s',
      async (javaScriptEnabled) => {
        const { backend, port, postern } = await start(name)
        const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
        const page = await context.newPage()
        for (const application of ['orders', 'invoices']) {
          const origin = `http://${application}.localhost:${port}`
          await page.goto(`${origin}/orders/${application}?x=1`)
          expect(page.url()).toBe(`${origin}/login?to=%2Forders%2F${application}%3Fx%3D1`)

          await page.fill('#username', 'editor')
          await page.fill('#password', postern.passwords['editor'] ?? '')
          await page.keyboard.press('Enter')
          await page.waitForURL(`${origin}/orders/${application}?x=1`)

          expect(backend.requests.at(-1)?.target).toBe(`/orders/${application}?x=1`)
          expect(await page.textContent('body')).toContain('ok')
        }
        await context.close()
      },
    )
  })
})

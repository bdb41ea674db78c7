import { mkdirSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { violations, watchConsole } from '../support/accessibility.ts'
import { whyNot } from '../support/behind-proxy.ts'
import { findChromium } from '../support/browser.ts'
import { createCertificates } from '../support/certificates.ts'
import { asked } from '../support/forward-auth.ts'
import { startWithPage } from '../support/login-page.ts'
import { type Script, startRecordingUpstream } from '../support/recording-upstream.ts'
import { freePort } from '../support/redis-server.ts'
import type { TestPostern } from '../support/start-postern.ts'
import { type ForwardAuthProxy, startBefore } from '../support/two-applications.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')
const proxies = (['traefik', 'nginx', 'caddy', 'envoy', 'envoy-grpc'] as const).filter((name) => {
  const why = whyNot(name)
  if (why !== undefined) console.log(`skipped: the walk behind ${name}; ${why}`)
  return why === undefined
})

const views = [390, 1280].flatMap((width) =>
  [true, false].map((javaScriptEnabled) => ({ width, javaScriptEnabled }) as const),
)

/** Each width once, and JavaScript once on and once off. */
const isOpposite = ({ width, javaScriptEnabled }: (typeof views)[number]) =>
  (width === 1280) === javaScriptEnabled

/** An application whose pages say which one it is and who asks. */
const application =
  (name: string): Script =>
  (socket, { target, values }) => {
    const body = `<!doctype html><html lang="en"><title>${name}</title><main><h1>${name}</h1><p>${target} for ${values('x-user-name').join()}</p></main></html>`
    const head = `Content-Type: text/html; charset=utf-8\r\nContent-Length: ${body.length}`
    socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`)
  }

interface Site {
  readonly postern: TestPostern
  readonly app: string
  readonly wiki: string
  readonly login: string
  /** What the service of the wiki does with the next requests. */
  wikiAnswers(script: Script): void
}

const domain = 'example.test'

/** The application app and the wiki, with HTTPS on one port. */
async function startSite(behind: ForwardAuthProxy | 'postern'): Promise<Site> {
  const port = await freePort()
  const certificates = await createCertificates(`*.${domain}`)
  const wiki = await startRecordingUpstream()
  onTestFinished(async () => {
    await wiki.close()
    await certificates.remove()
  })
  const [app, wikiHost, login] = ['app', 'wiki', 'login'].map((name) => `${name}.${domain}`)
  const origin = (host: string | undefined) => `https://${host}:${port}`
  const settings = {
    cookie: { set: true, domain },
    login: {
      page: {
        url: `${origin(login)}/login`,
        hosts: [`*.${domain}`],
        afterLogin: `${origin(app)}/orders`,
      },
    },
    pages: { contact: 'help@example.test' },
    upstreams: {
      wiki: {
        ...{ targets: [wiki.origin], connections: 1, maxShare: 100 },
        ...{ queueTimeoutMs: 200, headersTimeoutMs: 2000 },
      },
    },
  }
  const { certificate: certFile, key: keyFile } = certificates
  const postern = await startWithPage({
    rules: ['editor, /orders*, GET', 'editor, /pages*, GET'],
    routes: [
      { path: '/', upstream: 'wiki', hosts: [wikiHost] },
      { path: '/', upstream: 'backend', hosts: [app] },
    ],
    config:
      behind === 'postern'
        ? { ...settings, application: { port }, tls: { certFile, keyFile } }
        : asked(settings),
  })
  postern.upstream.answerWith(application('Orders'))
  wiki.answerWith(application('Wiki'))
  if (behind !== 'postern') {
    const ports = {
      ...{ postern: postern.publicPort, asked: postern.forwardAuthPort ?? 0 },
      ...{ backend: postern.upstream.port, listen: port },
    }
    await startBefore(behind, ports, {
      tls: certificates,
      loginHost: login ?? '',
      wiki: { host: wikiHost ?? '', port: wiki.port },
    })
  }
  return {
    postern,
    ...{ app: origin(app), wiki: origin(wikiHost), login: origin(login) },
    wikiAnswers: (script) => wiki.answerWith(script),
  }
}

/** What a page of Postern must be, however wide: accessible, and not wider than the window. */
async function examine(page: Page, name: string): Promise<void> {
  expect([name, await violations(page, name.includes('-js-'))]).toEqual([name, []])
  const overflow = 'document.documentElement.scrollWidth > innerWidth'
  expect([name, await page.evaluate(overflow)]).toEqual([name, false])
  const { POSTERN_TEST_SCREENSHOTS: folder } = process.env
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png` })
}

async function logIn(page: Page, postern: TestPostern, username: string): Promise<void> {
  await page.fill('#username', username)
  await page.fill('#password', postern.passwords[username] ?? '')
  await page.fill('#code', postern.captchaTexts.at(-1) ?? '')
  await page.keyboard.press('Enter')
}

/** A page of one application, after the login that it asks for. */
async function openWiki({ wiki, postern }: Site, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${wiki}/pages/home`)
  await logIn(page, postern, 'editor')
  await page.waitForURL(`${wiki}/pages/home`)
  return page
}

describe.skipIf(program === undefined)('two applications on two hosts in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: program ?? '',
      args: ['--no-sandbox', `--host-resolver-rules=MAP *.${domain} 127.0.0.1`],
    })
  })
  afterAll(() => browser?.close())

  async function newContext(view: Partial<(typeof views)[number]> = {}) {
    const context = await browser.newContext({
      ...{ locale: 'en', ignoreHTTPSErrors: true },
      ...(view.javaScriptEnabled !== undefined && { javaScriptEnabled: view.javaScriptEnabled }),
      ...(view.width !== undefined && { viewport: { width: view.width, height: 800 } }),
    })
    // A busy machine may take longer than the 30 seconds that are the default.
    context.setDefaultTimeout(120_000)
    return context
  }

  /** One login, a denied page, another account, one logout. Returns the cookies of the last login. */
  async function walk(site: Site, context: BrowserContext, label: string): Promise<void> {
    const { postern, app, wiki, login } = site
    const page = await context.newPage()
    const problems = watchConsole(page)

    await page.goto(`${app}/orders/7?x=1`)
    expect(page.url()).toBe(`${login}/login?to=${encodeURIComponent(`${app}/orders/7?x=1`)}`)
    await examine(page, `${label}-login`)
    await logIn(page, postern, 'editor')
    await page.waitForURL(`${app}/orders/7?x=1`)
    expect(await page.textContent('main')).toContain('/orders/7?x=1 for editor')

    // The other application opens without a login, also in another tab.
    const other = await context.newPage()
    await other.goto(`${wiki}/pages/home`)
    expect(other.url()).toBe(`${wiki}/pages/home`)
    expect(await other.textContent('main')).toContain('/pages/home for editor')

    const denied = await page.goto(`${wiki}/secrets?y=2`)
    expect(denied?.status()).toBe(403)
    for (const part of ['You are logged in as editor.', 'GET /secrets', 'help@example.test']) {
      expect(await page.textContent('main')).toContain(part)
    }
    await examine(page, `${label}-denied`)
    await page.click('text=Use another account')
    await examine(page, `${label}-logout`)
    await page.click('button:has-text("Log out")')
    await page.waitForSelector('#username')
    await examine(page, `${label}-logged-out`)
    await logIn(page, postern, 'admin')
    await page.waitForURL(`${wiki}/secrets?y=2`)
    expect(await page.textContent('main')).toContain('/secrets?y=2 for admin')

    await page.goto(`${login}/login`)
    expect(await page.textContent('main')).toContain('You are logged in as admin.')
    await examine(page, `${label}-account`)
    const cookies = await context.cookies()
    expect(cookies.map(({ name, domain: of }) => [name, of])).toEqual([
      ['__Secure-jwt', `.${domain}`],
    ])
    await page.click('text=Log out')
    await page.click('button:has-text("Log out")')
    await page.waitForSelector('text=You are logged out.')
    const wanted = [`${app}/orders`, `${wiki}/pages/home`]
    for (const address of wanted) {
      await page.goto(address)
      expect(page.url()).toBe(`${login}/login?to=${encodeURIComponent(address)}`)
    }
    // Nor does the token of that login open anything, wherever it was kept.
    const thief = await newContext()
    await thief.addCookies(cookies)
    const stolen = await thief.newPage()
    for (const address of wanted) {
      await stolen.goto(address)
      expect(stolen.url()).toBe(`${login}/login?to=${encodeURIComponent(address)}`)
    }
    await thief.close()
    // The pages of the applications have no icon.
    expect(problems.filter((problem) => !/\/favicon\.ico: /.test(problem))).toEqual([])
  }

  test('open with one login and close with one logout, with Postern alone', async () => {
    const site = await startSite('postern')
    for (const view of views) {
      const label = `postern-${view.width}-${view.javaScriptEnabled ? 'js' : 'plain'}`
      const context = await newContext(view)
      await walk(site, context, label)

      // The service of one application fails in three ways; the other one goes on.
      const page = await openWiki(site, context)
      const slow = await context.newPage()
      const fails = async (at: Page, name: string, status: number) => {
        const answer = await at.goto(`${site.wiki}/pages/${name}`)
        expect(answer?.status()).toBe(status)
        for (const part of [
          'You are logged in as editor.',
          `GET /pages/${name}`,
          'help@example.test',
        ])
          expect(await at.textContent('main')).toContain(part)
        await examine(at, `${label}-${status}`)
      }
      site.wikiAnswers((socket) => socket.destroy())
      await fails(page, 'home', 502)
      const waiting = Promise.withResolvers<void>()
      site.wikiAnswers(() => waiting.resolve())
      const late = fails(slow, 'slow', 504)
      await waiting.promise
      await fails(page, 'home', 503)
      await late
      await slow.goto(`${site.app}/orders`)
      expect(await slow.textContent('main')).toContain('/orders for editor')

      site.wikiAnswers(application('Wiki'))
      await page.click('text=Try again')
      await page.waitForSelector('h1:has-text("Wiki")')
      expect(page.url()).toBe(`${site.wiki}/pages/home`)
      expect(await page.textContent('main')).toContain('/pages/home for editor')
      await context.close()
    }
  })

  test.each(proxies)('open with one login and close with one logout, behind %s', async (name) => {
    const site = await startSite(name)
    // Some listen before they have read their certificate.
    const first = await newContext().then((context) => context.newPage())
    await until(() =>
      first.goto(site.login).then(
        () => true,
        () => false,
      ),
    )
    await first.context().close()
    for (const view of name === 'traefik' ? views : views.filter(isOpposite)) {
      const label = `${name}-${view.width}-${view.javaScriptEnabled ? 'js' : 'plain'}`
      const context = await newContext(view)
      await walk(site, context, label)

      // The proxy forwards, so it also answers for a service that is down; the login outlasts that.
      const page = await openWiki(site, context)
      site.wikiAnswers((socket) => socket.destroy())
      const failed = page.waitForResponse(`${site.wiki}/pages/home`)
      // Chromium shows a page of its own for a response without a body, as Caddy sends.
      await page.goto(`${site.wiki}/pages/home`).catch(() => undefined)
      expect((await failed).status()).toBe(name.startsWith('envoy') ? 503 : 502)
      site.wikiAnswers(application('Wiki'))
      const again = await context.newPage()
      await again.goto(`${site.wiki}/pages/home`)
      expect(await again.textContent('main')).toContain('/pages/home for editor')
      await context.close()
    }
  })
})

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { type BrowserContext, type Browser as Chromium, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outcomes } from '../../src/http/ended-request.ts'
import { catalogs } from '../../src/messages/catalogs.ts'
import { findChromium } from '../support/browser.ts'

/** npm's words for a lock file that is wrong. Every other failure is the registry's or the network's. */
const ownFault = /npm error code (?:EUSAGE|EINTEGRITY|ERESOLVE|EBADENGINE|EJSONPARSE)/

const root = 'site/dist'
let missing: string | undefined
let address = ''
let said = ''
let server: ChildProcess

/** `npm run docs -- --serve`, on a free port. */
async function buildAndServe(): Promise<void> {
  server = spawn(process.execPath, ['scripts/docs.mjs', '--serve', '0'], { detached: true })
  const { promise, resolve } = Promise.withResolvers<void>()
  const hear = (data: Buffer) => {
    said += String(data)
    if (/http:\/\/\S+/.test(said)) resolve()
  }
  server.stdout?.on('data', hear)
  server.stderr?.on('data', hear)
  server.once('close', () => resolve())
  // A registry that accepts connections and never answers must not hold up everything else.
  const giveUp = setInterval(() => said.includes('building') || resolve(), 600_000)
  await promise
  clearInterval(giveUp)
  address = /http:\/\/\S+/.exec(said)?.[0] ?? ''
  if (said.includes('building') || ownFault.test(said)) return
  const reason = /npm error code \S+/.exec(said)?.[0] ?? said.trim().slice(-300)
  missing = `the packages of site/package-lock.json cannot be installed here: ${reason}`
  console.warn(`test/long/site.test.ts: skipped: ${missing}`)
}

beforeAll(buildAndServe, 1_500_000)
afterAll(() => {
  try {
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL')
  } catch {
    // It has exited already.
  }
})

interface Built {
  readonly links: readonly string[]
  readonly anchors: ReadonlySet<string>
}

function builtPages(): ReadonlyMap<string, Built> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => name.endsWith('.html'))
  return new Map(
    pages.map((name) => {
      const html = readFileSync(join(root, name), 'utf8')
      const values = (attribute: string) =>
        [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) =>
          decodeURIComponent(value.replaceAll('&amp;', '&')),
        )
      return [
        name,
        { links: [...values('href'), ...values('src')], anchors: new Set(values('id')) },
      ]
    }),
  )
}

test('npm run docs says where the site is', ({ skip }) => {
  skip(missing !== undefined, missing)

  expect(said).toMatch(/^postern: \d+ pages in site\/dist$/m)
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
})

test('every page of docs is on the site, and every link and anchor leads somewhere', ({ skip }) => {
  skip(missing !== undefined, missing)
  const pages = builtPages()
  const files = new Set(readdirSync(root, { recursive: true, encoding: 'utf8' }))
  const expected = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!README)\.md$/.test(name))
    .map((name) => name.replace(/md$/, 'html'))
  expect(expected.filter((name) => !pages.has(name))).toEqual([])

  const headings = readFileSync(join(root, 'http-api.html'), 'utf8')
  expect(headings).toMatch(/<h3[^>]*>GET \/api\/v1\/login\/oidc\/\{provider\}(?!\/)/)

  let looked = 0
  const broken = [...pages].flatMap(([page, { links }]) =>
    links.flatMap((link) => {
      if (/^(?:https?|mailto|data):/.test(link)) return []
      looked += 1
      const [path = '', anchor = ''] = link.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      const target = file.endsWith('/') || file === '.' ? join(file, 'index.html') : file
      if (!files.has(target)) return [`${page}: ${link}`]
      const known = anchor === '' || pages.get(target)?.anchors.has(anchor) === true
      return known ? [] : [`${page}: ${link}: no such heading`]
    }),
  )
  expect(looked).toBeGreaterThan(1000)
  expect(broken).toEqual([])
})

test('every outcome, metric, refusal and policy warning has an anchor', ({ skip }) => {
  skip(missing !== undefined, missing)
  const pages = builtPages()
  const without = (page: string, names: readonly string[]) =>
    names.filter((name) => pages.get(page)?.anchors.has(name) !== true)
  expect(without('outcomes.html', outcomes)).toEqual([])
  expect(without('refusals.html', Object.keys(catalogs.en))).toEqual([])
  const metrics = readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(postern_\w+)`/gm)
  const names = [...metrics].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(45)
  expect(without('metrics.html', names)).toEqual([])
  expect(without('policy-warnings.html', ['duplicate', 'expired', 'wide-rule'])).toEqual([])
})

test('llms.txt names pages that exist, and llms-full.txt has their texts', ({ skip }) => {
  skip(missing !== undefined, missing)
  const list = readFileSync(join(root, 'llms.txt'), 'utf8')
  const links = [...list.matchAll(/^- \[.+?\]\(([^)]+)\)/gm)].map(([, link = '']) => link)
  const pages = builtPages()
  expect(links.length).toBeGreaterThan(80)
  expect(links.filter((link) => !pages.has(link))).toEqual([])
  const full = readFileSync(join(root, 'llms-full.txt'), 'utf8')
  for (const name of ['forward-auth', 'policies', 'oidc', 'settings']) {
    expect(full).toContain(readFileSync(`docs/${name}.md`, 'utf8').trimEnd())
  }
})

describe('in a browser', () => {
  const program = findChromium()
  let browser: Chromium | undefined
  beforeAll(async () => {
    if (missing !== undefined) return
    if (program === undefined) {
      missing = 'there is no Chromium: set POSTERN_TEST_CHROMIUM'
      console.warn(`test/long/site.test.ts: pages are not opened: ${missing}`)
      return
    }
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  /** A context, and what went wrong in it: requests to elsewhere, failed ones, errors of scripts. */
  async function watched(
    width: number,
    colorScheme: 'light' | 'dark',
  ): Promise<{ context: BrowserContext; wrong: string[] }> {
    if (browser === undefined) throw new Error('no browser')
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
    context.setDefaultTimeout(180_000)
    const wrong: string[] = []
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(address) && !url.startsWith('data:')) wrong.push(`requested ${url}`)
    })
    context.on('response', (response) => {
      if (response.status() >= 400) wrong.push(`${response.status()} ${response.url()}`)
    })
    context.on('weberror', (error) => wrong.push(error.error().message))
    return { context, wrong }
  }

  test.for([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('pages fit %i pixels, %s, and ask nobody else', async ([width, scheme], { skip }) => {
    skip(missing !== undefined, missing)
    const { context, wrong } = await watched(width, scheme)
    const page = await context.newPage()
    for (const name of [
      '',
      'forward-auth.html',
      'settings.html',
      'http-api.html',
      'overview.html',
      'contents.html',
    ]) {
      await page.goto(address + name, { waitUntil: 'networkidle' })
      const over = 'document.documentElement.scrollWidth - innerWidth'
      expect(await page.evaluate(over), name).toBeLessThanOrEqual(0)
      expect(await page.evaluate(`document.documentElement.classList.contains('dark')`)).toBe(
        scheme === 'dark',
      )
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  test('the front page leads to forward-auth first, then to the tutorials', async ({ skip }) => {
    skip(missing !== undefined, missing)
    const { context } = await watched(1280, 'light')
    const page = await context.newPage()
    await page.goto(address)
    const links = await page.locator('.VPHero a').evaluateAll((all) => {
      return all.map((link) => new URL(link.getAttribute('href') ?? '', link.baseURI).pathname)
    })
    expect(links).toEqual([
      '/forward-auth.html',
      '/tutorial-own-application.html',
      '/contents.html',
    ])
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await page.locator('.VPHero').innerText()).toContain(`Version ${version}`)
    const width = () => page.evaluate(`document.querySelector('.VPHero img').naturalWidth`)
    await expect.poll(width).toBeGreaterThan(500)
    await context.close()
  })

  test('search finds a page, and opens it', async ({ skip }) => {
    skip(missing !== undefined, missing)
    const { context, wrong } = await watched(1280, 'light')
    const page = await context.newPage()
    await page.goto(address, { waitUntil: 'networkidle' })
    await page.keyboard.press('Control+k')
    await page.locator('#localsearch-input').fill('forward-auth')
    await page.locator('.VPLocalSearchBox .result[href*="forward-auth.html"]').first().click()
    await page.waitForURL(/forward-auth\.html/)
    expect(await page.locator('h1').innerText()).toContain('forward-auth')
    expect(wrong).toEqual([])
    await context.close()
  })

  /** What operators type, and the pages of which one must be among the first three results. */
  const questions: readonly (readonly [words: string, pages: string])[] = [
    ['unlock user', 'unlock-user'],
    ['captcha', 'own-login-page'],
    ['revoke token', 'service-accounts'],
    ['client ip behind a cdn', 'client-ip'],
    ['real ip load balancer', 'client-ip'],
    ['health check load balancer', 'health-checks'],
    ['kubernetes liveness readiness probe', 'health-checks'],
    ['ship logs as json', 'logs'],
    ['rate limit', 'rate-limits'],
    ['websocket', 'websocket'],
    ['upgrade', 'upgrade'],
    ['roll back', 'upgrade,policy-publishing'],
    ['size of a machine', 'size'],
    ['redis is down', 'redis-down'],
    ['database is down', 'login-down'],
    ['identity provider is down', 'login-down'],
    ['block an ip address', 'routes,client-ip'],
    ['make an endpoint public', 'routes,policy-review'],
    ['revoke all tokens emergency', 'revoke-everything'],
    ['forgot password', 'unlock-user,passwords'],
    ['locked out user', 'unlock-user'],
    ['rotate signing key', 'rotate-keys'],
    ['renew certificate', 'rotate-keys,tls'],
    ['cors', 'cors'],
    ['502 bad gateway', 'upstream-errors'],
    ['504 timeout', 'upstream-errors,timeouts'],
    ['413 body too large', 'client-errors,timeouts'],
    ['keycloak', 'oidc'],
    ['active directory', 'active-directory'],
    ['nginx auth_request', 'forward-auth-nginx,migrate'],
    ['traefik', 'forward-auth-traefik,forward-auth-kubernetes'],
    ['envoy ext_authz', 'forward-auth-envoy'],
    ['istio', 'forward-auth-kubernetes'],
    ['grpc', 'http2,upstream-http2'],
    ['sidecar', 'sidecar'],
    ['helm install', 'deploy'],
    ['two factor', 'second-factor'],
    ['api token for ci', 'service-accounts,machine-clients'],
    ['who can delete orders', 'policy-questions'],
    ['expire a grant', 'temporary-access'],
    ['separation of duties', 'guardrails'],
    ['require two approvals', 'gitops'],
    ['audit log who changed', 'audit'],
    ['backup', 'backup'],
    ['prometheus alerts', 'alerts'],
    ['environment variables', 'configure'],
    ['sticky sessions', 'sticky-sessions'],
    ['x-forwarded-for trusted proxies', 'client-ip'],
    ['readyz healthz', 'health-checks'],
    ['send logs to elasticsearch or loki', 'logs'],
    ['custom error page', 'login-page'],
    ['own html for errors', 'login-page'],
    ['one login for subdomains', 'cookie,tutorial-sso,login-page'],
    ['single sign-on for several hosts', 'tutorial-sso,cookie,login-page'],
    ['throttle requests per second', 'rate-limits'],
    ['wss upgrade', 'websocket'],
    ['install a new version', 'upgrade'],
    ['go back to the previous version', 'upgrade'],
    ['how much memory and cpu', 'size'],
    ['capacity requests per second', 'size,performance'],
    ['how many replicas do I need', 'size,scale'],
    ['redis outage', 'redis-down'],
    ['postgres unavailable', 'login-down'],
    ['keycloak is unreachable', 'login-down'],
    ['deny ip range', 'routes,client-ip'],
    ['allow anonymous access', 'routes,policy-review'],
    ['give a colleague read access', 'console-setup,accounts,roles'],
    ['read-only access to the console', 'console-setup'],
    ['log everyone out', 'revoke-everything,sessions'],
    ['leaked signing key', 'revoke-everything,rotate-keys'],
    ['why is a call denied', 'policy-explain'],
    ['verify signed headers', 'assertions'],
    ['lost replica', 'policy-status'],
    ['try a policy on live traffic', 'policy-shadow'],
  ]

  test('the search finds the right page first for what operators type', async ({ skip }) => {
    skip(missing !== undefined, missing)
    const { context, wrong } = await watched(1280, 'light')
    const page = await context.newPage()
    await page.goto(address, { waitUntil: 'networkidle' })
    await page.keyboard.press('Control+k')
    const input = page.locator('#localsearch-input')
    const results = page.locator('.VPLocalSearchBox .result')
    for (const [words, pages] of questions) {
      await input.fill('')
      await expect.poll(() => results.count()).toBe(0)
      await input.fill(words)
      const found = async () => {
        const links = await results.evaluateAll((all) =>
          all
            .slice(0, 3)
            .map((link) => new URL(link.getAttribute('href') ?? '', link.baseURI).pathname),
        )
        return pages.split(',').some((name) => links.includes(`/${name}.html`)) ? 'found' : links
      }
      await expect.poll(found, { message: words }).toBe('found')
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  test('diagrams are drawn, and drawn again in dark colors', async ({ skip }) => {
    skip(missing !== undefined, missing)
    const { context, wrong } = await watched(1280, 'light')
    const page = await context.newPage()
    await page.goto(`${address}architecture.html`)
    const blocks = readFileSync('docs/architecture.md', 'utf8').split('```mermaid').length - 1
    await expect.poll(() => page.locator('.diagram svg').count()).toBe(blocks)
    const scrolling = () =>
      page
        .locator('.diagram')
        .evaluateAll((all) =>
          all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.scrollWidth),
        )
    expect(await scrolling()).toEqual([])
    const first = await page.locator('.diagram').first().innerHTML()
    expect(first).toContain('receive, identify, authorize, forward')
    await page.locator('.VPSwitchAppearance').first().click()
    await expect.poll(() => page.locator('.diagram').first().innerHTML()).not.toBe(first)
    expect(wrong).toEqual([])
    await context.close()
  })
})

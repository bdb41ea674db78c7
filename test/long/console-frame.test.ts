import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { logInToConsole, visit } from '../support/console-browser.ts'
import { largePages, startLargeConsole } from '../support/console-large.ts'
import {
  addressesOf,
  hasNoBrowser,
  pagesInNavigation,
  walkConsole,
} from '../support/console-walk.ts'
import { until } from '../support/until.ts'

/** What each page cannot do without. */
const neededBy = {
  '#/': 'fleet',
  '#/fleet': 'fleet',
  [largePages.can]: 'policy/explain',
  [largePages.who]: 'policy/who',
  [largePages.role]: 'policy/can',
  [largePages.compare]: 'policy/can',
  [largePages.matrix]: 'policy/matrix',
  [largePages.open]: 'policy/open',
  // Fails: this gateway has nothing published.
  '#/changes': 'policy/status',
  '#/editor': 'policy/files',
  [largePages.people]: 'user/list',
  [largePages.person]: 'user/show',
  [largePages.roles]: 'role/list',
  [largePages.oneRole]: 'role/show',
  '#/sessions': 'session/list',
  '#/logins': 'login/list',
  '#/audit': 'audit/list',
} as const

describe.skipIf(hasNoBrowser)('around the pages of the console', () => {
  const walk = walkConsole(startLargeConsole)
  const show = (page: Page, hash: string) => visit(page, walk.gateway().address, hash)

  test('a refused login says so, and a good one leads to the page that was asked for', async () => {
    const { page, problems } = await walk.stranger()
    await page.goto(`${walk.gateway().address}${largePages.can}`)
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('password')
    await page.keyboard.type(walk.gateway().passwords['admin'] ?? '')
    await page.keyboard.press('Enter')
    await page.locator('.verdict').waitFor()

    expect(await page.locator('.verdict').textContent()).toContain('Denied')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('navigation moves the focus to the heading and cancels what is no longer shown', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, '#/open')
    const failed: string[] = []
    page.on('requestfailed', (request) => failed.push(new URL(request.url()).pathname))
    await page.route('**/policy/matrix*', () => {})
    const asked = page.waitForRequest('**/policy/matrix*')
    await page.getByRole('link', { name: 'Matrix' }).click()
    await asked
    await page.getByRole('link', { name: 'Who can?' }).click()
    await page.getByRole('heading', { name: 'Who can?' }).waitFor()
    await until(() => failed.includes('/console/api/v1/policy/matrix'))
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    expect(await page.title()).toBe('Who can? – Postern')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('asks what a page needs beside the question who is logged in, and once', async () => {
    const { page, problems } = await walk.loggedIn()
    const asked: string[] = []
    page.on('request', (request) => {
      const [, path] = request.url().split('/console/api/v1/')
      if (path !== undefined) asked.push(path)
    })
    for (const [hash, needed] of Object.entries(neededBy)) {
      const release = Promise.withResolvers<void>()
      await page.route('**/api/v1/session', async (route) => {
        await release.promise
        await route.continue()
      })
      await page.goto('about:blank')
      asked.length = 0
      await page.goto(`${walk.gateway().address}${hash}`)
      const isNeeded = (path: string) => path.split('?', 1)[0] === needed
      await until(() => asked.some(isNeeded))
      const question = asked.find(isNeeded)
      expect(await page.locator('h1').count(), hash).toBe(0)
      release.resolve()
      await page.locator('main h1').waitFor()
      await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' })

      expect(
        asked.filter((path) => path === question),
        hash,
      ).toEqual([question])
      await page.unrouteAll({ behavior: 'wait' })
    }
    expect(problems).toEqual([])

    // Without a session there is nothing to ask.
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Password').waitFor()
    asked.length = 0
    await page.goto('about:blank')
    await page.goto(`${walk.gateway().address}${largePages.who}`)
    await page.getByLabel('Password').waitFor()
    expect(asked.filter((path) => path.startsWith('policy/'))).toEqual([])
    await page.context().close()
  })

  test('an outage shows a banner, and an ended session the login', async () => {
    const { page } = await walk.loggedIn()
    await show(page, largePages.open)
    await page.route('**/policy/who*', (route) =>
      route.fulfill({
        ...{ status: 503, contentType: 'application/json' },
        body: '{"ok":false,"errors":[{"message":"Redis is unreachable"}]}',
      }),
    )
    await show(page, largePages.who)
    await page.locator('.banner.error').waitFor()
    expect(await page.locator('.banner.error').textContent()).toContain('Redis is unreachable')
    await page.unroute('**/policy/who*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table').first().waitFor()
    expect(await page.locator('.banner.error').count()).toBe(0)

    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Open endpoints' }).click()
    await page.getByLabel('Password').waitFor()
    expect(page.url()).toContain('#/open')
    await page.context().close()
  })

  test('speaks Chinese to browsers that do, and keeps the language that was chosen', async () => {
    const { page, problems } = await walk.stranger({ locale: 'zh-CN' })
    await page.goto(walk.gateway().address)
    await page.getByLabel('用户名').waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN')
    await logInToConsole(page, walk.gateway())
    const asked = Object.values(largePages)
    for (const hash of addressesOf(await pagesInNavigation(page), asked)) {
      await show(page, hash)
      // English is left in names, paths, lines and what commands say.
      const own = 'h1, h2, label, button, .about, dt, .table thead th'
      const english = (
        await page.locator(`main :is(${own}), .side :is(nav a, h2)`).allTextContents()
      )
        .map((text) =>
          text.replace(
            /admin|CSV|OpenAPI|Postern|Redis|\/[\w/-]+|lead|viewer|→ app|[\w-]+\.(?:conf|csv|yaml)/g,
            '',
          ),
        )
        .filter((text) => /[A-Za-z]{4}/.test(text))
      expect(english, hash).toEqual([])
    }
    await page.getByLabel('语言').selectOption('en')
    await page.reload()
    await page.getByRole('link', { name: 'Who can?' }).waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  })
})

import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../support/accessibility.ts'
import { findChromium } from '../support/browser.ts'
import { startWithPage } from '../support/login-page.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

/** Presses Tab until the element that `selector` finds has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  const hasFocus = `document.activeElement?.matches(${JSON.stringify(selector)})`
  for (let pressed = 0; pressed < 20; pressed++) {
    if (await page.evaluate(hasFocus)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${selector}`)
}

describe.skipIf(program === undefined)('every page of the login, by keyboard alone', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test.each(['light', 'dark'] as const)('works and is accessible: %s', async (colorScheme) => {
    const postern = await startWithPage({
      config: {
        application: { mode: 'test' },
        login: { secondFactor: { roles: ['admin'] } },
        refusals: { status: 'real' },
      },
    })
    const address = `http://127.0.0.1:${postern.publicPort}`
    const viewport = { width: 360, height: 740 }
    const context = await browser.newContext({ colorScheme, locale: 'en', viewport })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => {
      // The page of the upstream has no icon of its own, and this caller may not load one.
      const isForeign = message.location().url.endsWith('/favicon.ico')
      if (message.type() === 'error' && !isForeign) problems.push(message.text())
    })
    const password = postern.passwords['editor'] ?? ''

    await page.goto(`${address}/api/v1/articles/1`)
    await page.waitForFunction(`document.querySelector('#captcha img')?.complete`)
    expect(await violations(page)).toEqual([])
    await tabTo(page, '#captcha a[href*="audio"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#captcha audio')
    expect(await violations(page)).toEqual([])
    await tabTo(page, '#username')
    await page.keyboard.type('editor')
    await tabTo(page, '#password')
    await page.keyboard.type(password)
    await tabTo(page, '#code')
    await page.keyboard.type('none')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#problem')
    expect(await page.locator('#captcha audio').count()).toBe(1)
    expect(await violations(page)).toEqual([])

    await page.goto(`${address}/login?to=/api/v1/articles/1`)
    await page.waitForFunction(`document.querySelector('#captcha img')?.complete`)
    await tabTo(page, '#username')
    await page.keyboard.type('editor')
    await tabTo(page, '#password')
    await page.keyboard.type(password)
    await tabTo(page, '#code')
    await page.keyboard.type(postern.captchaTexts.at(-1) ?? '')
    await tabTo(page, 'button[type=submit]')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${address}/api/v1/articles/1`)

    await page.goto(`${address}/login`)
    expect(await violations(page)).toEqual([])
    await tabTo(page, 'a[href$="/login/password"]')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === '/login/password')
    expect(await violations(page)).toEqual([])
    await tabTo(page, 'input[autocomplete="current-password"]')
    await page.keyboard.type(password)
    await tabTo(page, 'input[autocomplete="new-password"]')
    await page.keyboard.type('12345678')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role=alert]')
    expect(await violations(page)).toEqual([])

    await page.goto(`${address}/login/logout`)
    expect(await violations(page)).toEqual([])
    await tabTo(page, 'button[type=submit]')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname === '/login')
    await page.waitForSelector('#username')
    expect(await violations(page)).toEqual([])
    const cookies = await context.cookies()
    expect(cookies.filter(({ name, value }) => name === 'jwt' && value !== '')).toEqual([])
    // With real statuses, a browser reports refused forms itself.
    expect(problems.filter((text) => !text.includes('status of 400'))).toEqual([])
    await context.close()
  })
})

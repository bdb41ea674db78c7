import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import {
  accessibilityProblems,
  type ConsoleGateway,
  openWatchedPage,
  overflow,
  startConsoleGateway,
} from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

describe.skipIf(program === undefined)('the login page of the console', () => {
  let browser: Browser
  let gateway: ConsoleGateway
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
    const { 'config/postern.yaml': _, ...policies } = consoleFiles
    const config = { jwt: { secret: testSecret } }
    gateway = await startConsoleGateway(policies, config, { mode: 'prod' })
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  test('plays the captcha to those who cannot see it', async () => {
    for (const [locale, label, lang] of [
      ['en-US', 'Listen to the characters', 'en'],
      ['zh-CN', '朗读字符', 'zh'],
    ] as const) {
      const { page, problems } = await openWatchedPage(browser, gateway.address, {
        ...{ locale, viewport: { width: 360, height: 800 } },
      })
      await page.goto(gateway.address)
      const asked = page.waitForResponse(/captcha\.wav/)
      await page.getByRole('button', { name: label }).click()
      const answer = await asked
      expect(new URL(answer.url()).searchParams.get('lang')).toBe(lang)
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'audio/wav'])
      await until(
        async () => (await page.evaluate('document.querySelector("audio").currentTime')) !== 0,
      )
      expect(await page.getByRole('alert').count()).toBe(0)
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(problems).toEqual([])
      await page.context().close()
    }
  })

  test('says in words why a provider sent someone back, and nothing that an address says', async () => {
    const said = {
      'login-expired': /took too long/,
      'not-permitted': /may not use the console/,
      'identity-provider': /not available/,
      'no-such-kind': /failed\. Try again/,
      constructor: /failed\. Try again/,
      '<img src=x onerror=alert(1)>Call 555-0100': /failed\. Try again/,
    }
    const { page, problems } = await openWatchedPage(browser, gateway.address)
    for (const [kind, text] of Object.entries(said)) {
      await page.goto('about:blank')
      await page.goto(`${gateway.address}?error=${encodeURIComponent(kind)}#/who`)
      const shown = await page.getByRole('alert').textContent()
      expect([kind, shown]).toEqual([kind, expect.stringMatching(text)])
      expect(await page.locator('main').textContent()).not.toMatch(/555|no-such-kind|onerror/)
      // The next visit is not told again.
      expect(page.url()).toBe(`${gateway.address}#/who`)
    }
    await page.context().close()
    const chinese = await openWatchedPage(browser, gateway.address, { locale: 'zh-CN' })
    await chinese.page.goto(`${gateway.address}?error=not-permitted`)
    expect(await chinese.page.getByRole('alert').textContent()).toBe('您的角色无权使用控制台。')
    expect([problems, chinese.problems]).toEqual([[], []])
    await chinese.page.context().close()
  })

  test('says that a store is unreachable, and lets the reader try again', async () => {
    const { page } = await openWatchedPage(browser, gateway.address)
    await page.route('**/api/v1/session', (route) =>
      route.fulfill({
        ...{ status: 503, contentType: 'application/json' },
        body: '{"ok":false,"errors":[{"message":"try again later","kind":"database"}]}',
      }),
    )
    await page.goto(gateway.address)
    await page.getByLabel('Password').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('A store is unreachable')
    await page.unroute('**/api/v1/session')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.context().close()
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { runDocumentedPage } from '../support/documented-pages.ts'
import type { RanPage } from '../support/run-page.ts'

test('docs/tutorial-own-application.md: every command prints what the page shows', {
  timeout: 900_000,
}, async () => {
  const page = await runDocumentedPage('docs/tutorial-own-application.md')
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(21)
  await expectBrowserLogin(page)
})

/** What step 9 tells a reader to do by hand. */
async function expectBrowserLogin(ran: RanPage): Promise<void> {
  const program = findChromium()
  if (program === undefined) {
    console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')
    return
  }
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${ran.port(8000)}/notes`)
  await page.fill('#username', 'ada')
  const password = readFileSync(join(ran.directory, 'shop/secrets/password'), 'utf8').trim()
  await page.fill('#password', password)
  await page.keyboard.press('Enter')

  await expect.poll(() => page.textContent('body')).toContain('(read by ada)')
}

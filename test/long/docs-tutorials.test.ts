import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { checkPage } from '../support/check-page.ts'
import { runDocumentedPage } from '../support/documented-pages.ts'
import type { RanPage } from '../support/run-page.ts'

test.each(['docs/tutorial-kubernetes.md', 'docs/tutorial-two-reviewers.md'])(
  '%s: every command prints what the page shows',
  { timeout: 900_000 },
  checkPage,
)

test('docs/tutorial-sso.md: every command prints what the page shows', {
  timeout: 900_000,
}, async () => {
  const page = await runDocumentedPage('docs/tutorial-sso.md')
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(17)
  await expectOneLogin(page)
})

/** What step 4 tells a reader to do by hand. */
async function expectOneLogin(ran: RanPage): Promise<void> {
  const program = findChromium()
  if (program === undefined) {
    console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')
    return
  }
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const at = (name: string) => `http://${name}.office.localhost:${ran.port(8000)}`
  await page.goto(`${at('wiki')}/start`)
  expect(page.url()).toContain(`${at('login')}/login?`)
  await page.fill('#username', 'ada')
  const password = readFileSync(join(ran.directory, 'office/secrets/password'), 'utf8').trim()
  await page.fill('#password', password)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.textContent('body')).toContain('wiki: GET /start by ada')

  await page.goto(`${at('notes')}/`)
  expect(await page.textContent('body')).toContain('notes: GET / by ada')
  await page.goto(`${at('stock')}/`)
  expect(await page.textContent('body')).toContain('You have no permission for this operation.')
}

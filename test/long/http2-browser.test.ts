import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { createCertificates } from '../support/certificates.ts'
import { startWithPage } from '../support/login-page.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

test.skipIf(program === undefined)('a browser logs in over HTTP/2, and stays there', async () => {
  const certificates = await createCertificates('127.0.0.1')
  onTestFinished(certificates.remove)
  const postern = await startWithPage({
    config: {
      application: { mode: 'dev' },
      tls: { certFile: certificates.certificate, keyFile: certificates.key },
    },
  })
  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en' })
  const page = await context.newPage()
  const protocols = () =>
    page.evaluate(
      "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((one) => one.nextHopProtocol)",
    ) as Promise<string[]>
  // Each cookie becomes a field of its own.
  await context.addCookies(
    Array.from({ length: 120 }, (_, at) => ({
      name: `c${at}`,
      value: '1',
      url: `https://127.0.0.1:${postern.publicPort}`,
    })),
  )

  await page.goto(`https://127.0.0.1:${postern.publicPort}/api/v1/articles/1`)
  expect(page.url()).toContain('/login?to=')
  expect(new Set(await protocols())).toEqual(new Set(['h2']))

  await page.fill('#username', 'editor')
  await page.fill('#password', postern.passwords['editor'] ?? '')
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname === '/api/v1/articles/1')
  expect(await page.textContent('body')).toContain('"ok":true')
  expect(await protocols()).toContain('h2')
  const [seen] = postern.upstream.requests
  expect(seen?.values('x-role-key')).toEqual(['editor'])
  expect(seen?.values('cookie')).toHaveLength(1)
  expect(seen?.values('cookie')[0]).toContain('c119=1')
})

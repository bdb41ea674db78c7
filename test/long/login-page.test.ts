import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations, watchConsole } from '../support/accessibility.ts'
import { findChromium } from '../support/browser.ts'
import { startWithPage } from '../support/login-page.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

const views = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [320, 390, 1280].flatMap((width) =>
    ['en', 'zh-CN'].map((locale) => {
      // Each width and each language with and without it.
      const javaScriptEnabled = (width === 390) === (locale === 'en')
      return { colorScheme, width, locale, javaScriptEnabled } as const
    }),
  ),
)

describe.skipIf(program === undefined)('the login page in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test.each(views)(
    'is accessible: $colorScheme, $width px, $locale, JavaScript: $javaScriptEnabled',
    async (view) => {
      const postern = await startWithPage({ config: { application: { mode: 'dev' } } })
      const { colorScheme, width, locale, javaScriptEnabled } = view
      const context = await browser.newContext({
        ...{ colorScheme, locale, javaScriptEnabled },
        viewport: { width, height: 720 },
      })
      const page = await context.newPage()
      const problems = watchConsole(page)
      await page.goto(`http://127.0.0.1:${postern.publicPort}/api/v1/articles/1`)
      expect(page.url()).toContain('/login?to=')
      const found = () => violations(page, javaScriptEnabled)
      expect(await found()).toEqual([])
      const overflow = 'document.documentElement.scrollWidth > innerWidth'
      expect(await page.evaluate(overflow)).toBe(false)
      const { POSTERN_TEST_SCREENSHOTS: folder } = process.env
      const name = `${colorScheme}-${width}-${locale}`
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })

      await page.fill('#username', 'editor')
      await page.fill('#password', 'wrong words')
      await page.keyboard.press('Enter')
      await page.waitForSelector('#problem')
      expect(await page.evaluate('document.activeElement.id')).toBe('problem')
      expect(await page.inputValue('#username')).toBe('editor')
      expect(await page.inputValue('#password')).toBe('')
      expect(await found()).toEqual([])
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}-error.png` })
      expect(problems).toEqual([])
      await context.close()
    },
  )

  test.each([true, false])('logs in with a captcha; JavaScript: %s', async (javaScriptEnabled) => {
    const postern = await startWithPage({ config: { application: { mode: 'test' } } })
    const context = await browser.newContext({ javaScriptEnabled, locale: 'en' })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${postern.publicPort}/api/v1/articles/1?x=1`)
    await page.fill('#username', 'editor')
    const before = await page.getAttribute('#captcha img', 'src')
    await page.click('text=New picture')
    const source = `document.querySelector('#captcha img')?.getAttribute('src')`
    await page.waitForFunction(`${source} !== ${JSON.stringify(before)}`)
    if (javaScriptEnabled) expect(await page.inputValue('#username')).toBe('editor')
    await page.fill('#username', 'editor')
    await page.click('text=Listen instead')
    await page.waitForSelector('#captcha audio')
    await page.click('text=Show a picture instead')
    await page.waitForSelector('#captcha img')
    await page.waitForFunction(`document.querySelector('#captcha img').complete`)
    await page.fill('#username', 'editor')
    await page.fill('#password', postern.passwords['editor'] ?? '')
    await page.fill('#code', postern.captchaTexts.at(-1) ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/api/v1/articles/1?x=1')
    expect(postern.upstream.requests.length).toBe(1)
    await context.close()
  })

  test('goes on to a page that leads to another host, which form-action would block', async () => {
    const postern = await startWithPage({ config: { application: { mode: 'dev' } } })
    const { port } = postern.upstream
    postern.upstream.answerWith((socket, { target }) => {
      const away = `HTTP/1.1 302 Found\r\nLocation: http://localhost:${port}/there\r\nContent-Length: 0\r\n\r\n`
      const there = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nthere'
      socket.write(target === '/there' ? there : away)
    })
    const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en' })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${postern.publicPort}/api/v1/articles/1`)
    await page.fill('#username', 'editor')
    await page.fill('#password', postern.passwords['editor'] ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(`http://localhost:${port}/there`)
    await context.close()
  })
})

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Browser, findChromium, type Page, startBrowser } from '../support/browser.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) {
  console.warn(
    'no Chromium on PATH or in POSTERN_TEST_CHROMIUM: the page of the sample is left out',
  )
}

/** The files of the sample on an origin of their own. */
async function startSite(gateway: () => string): Promise<string> {
  const server = createServer(({ url }, reply) => {
    const isScript = url === '/login.js'
    const text = readFileSync(`samples/own-page/${isScript ? 'login.js' : 'index.html'}`, 'utf8')
    reply.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    reply.end(text.replace('https://api.example.com', gateway()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.runIf(program !== undefined)('the sample own-page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser(program ?? '')
  })
  afterAll(() => browser.close())

  /** Cookies belong to a host, whatever its port: tests that log in share those of 127.0.0.1. */
  async function start({ host = '127.0.0.1', cors = {} } = {}) {
    let gateway = ''
    const origin = await startSite(() => gateway)
    const postern = await startPostern({
      config: {
        cors: { origins: [origin], credentials: true, ...cors },
        cookie: { set: true, trustedOrigins: [origin] },
      },
    })
    gateway = `http://${host}:${postern.publicPort}`
    return { postern, page: await browser.open(origin) }
  }

  const text = (page: Page, id: string) =>
    page.evaluate(`document.getElementById('${id}').textContent`)
  const isShown = (page: Page, id: string) =>
    page.evaluate(`!document.getElementById('${id}').hidden`).then(Boolean)

  async function logIn(page: Page, postern: TestPostern, password: string | undefined) {
    const drawn = postern.captchaTexts.length
    const values = { username: 'editor', password, code: postern.captchaTexts.at(-1) }
    await page.evaluate(`for (const [id, value] of Object.entries(${JSON.stringify(values)}))
      document.getElementById(id).value = value
      document.querySelector('form button[type=submit]').click()`)
    return drawn
  }

  test('logs in with a captcha, keeps the token in the cookie only, and logs out', async () => {
    const { postern, page } = await start()
    const picture = `document.getElementById('picture').src.startsWith('data:image/png')`
    await until(() => page.evaluate(picture).then(Boolean))

    await logIn(page, postern, postern.passwords['editor'])
    await until(() => isShown(page, 'welcome'))

    expect(await text(page, 'name')).toBe('editor')
    expect(
      await page.evaluate('document.cookie + localStorage.length + sessionStorage.length'),
    ).toBe('00')
    expect(await page.evaluate(`document.getElementById('password').value`)).toBe('')
    await page.evaluate(`document.getElementById('logout').click()`)
    await until(() => isShown(page, 'login'))
    const profile = `fetch(document.querySelector('meta[name=postern]').content + '/api/v1/user/profile', { credentials: 'include' })`
    expect(await page.evaluate(`${profile}.then((it) => it.json())`)).toMatchObject({ code: 401 })
  })

  test('says what was wrong, and shows another picture', async () => {
    const { postern, page } = await start({ host: 'localhost' })
    await until(() => page.evaluate(`document.getElementById('picture').src !== ''`).then(Boolean))

    const drawn = await logIn(page, postern, 'wrong')
    await until(async () => (await text(page, 'message')) !== '')
    await until(() => postern.captchaTexts.length > drawn)

    expect(await text(page, 'message')).toBe('incorrect username or password')
    expect(await isShown(page, 'welcome')).toBe(false)
    expect(await isShown(page, 'second-factor')).toBe(true)
  })

  test('says so when the gateway does not list its origin', async () => {
    const { page } = await start({ cors: { origins: ['https://other.example.com'] } })

    await until(async () => String(await text(page, 'message')).includes('cannot be reached'))
  })
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Browser, findChromium, type Page, startBrowser } from '../support/browser.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const program = findChromium()
if (program === undefined) {
  console.warn(
    'no Chromium on PATH or in POSTERN_TEST_CHROMIUM: the CORS browser tests are left out',
  )
}

/** The origin of a server with one empty page. */
async function startSite(): Promise<string> {
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>page</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

describe.runIf(program !== undefined)('a page in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser(program ?? '')
  })
  afterAll(() => browser.close())

  /** What a page gets to see of a call: status and JSON, or only that it failed. */
  function fetched(page: Page, address: string, init: object = {}): Promise<unknown> {
    const call = `fetch(${JSON.stringify(address)}, ${JSON.stringify(init)})`
    return page.evaluate(
      `${call}.then(async (answer) => ({ status: answer.status, body: await answer.json() }))
         .catch((error) => ({ failed: error.name }))`,
    )
  }

  async function startBetween(cors: object = {}) {
    const [listed, unlisted] = [await startSite(), await startSite()]
    const postern = await startPostern({
      config: { cors: { origins: [listed], ...cors }, cookie: { trustedOrigins: [listed] } },
    })
    return { postern, listed, unlisted, api: `http://127.0.0.1:${postern.publicPort}/api/v1` }
  }

  test('of a listed origin logs in, calls, and reads why it was refused', async () => {
    const { postern, listed, api } = await startBetween()
    const page = await browser.open(listed)
    const json = { 'Content-Type': 'application/json' }

    const captcha = (await fetched(page, `${api}/getCaptcha`)) as { body: { id: string } }
    const body = JSON.stringify({
      username: 'editor',
      password: postern.passwords['editor'],
      uuid: captcha.body.id,
      code: postern.captchaTexts.at(-1),
    })
    const login = await fetched(page, `${api}/login`, { method: 'POST', headers: json, body })
    const { token } = (login as { body: { token: string } }).body
    const headers = { Authorization: `Bearer ${token}` }
    const allowed = await fetched(page, `${api}/public/a`, { headers })
    const denied = await fetched(page, `${api}/sys-user`, { method: 'DELETE', headers })
    const nobody = await fetched(page, `${api}/public/a`)

    expect(login).toMatchObject({ status: 200, body: { code: 200 } })
    expect(allowed).toEqual({ status: 200, body: { ok: true } })
    expect(denied).toMatchObject({ status: 200, body: { code: 401 } })
    expect(nobody).toMatchObject({ status: 200, body: { code: 401 } })
    expect(postern.upstream.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('of a listed origin reads faults, whatever the upstream says about origins', async () => {
    const { postern, listed, api } = await startBetween()
    const page = await browser.open(listed)
    const headers = { Authorization: `Bearer ${tokenOf('editor')}` }
    postern.upstream.answerWith((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: https://other.test\r\n' +
          'Content-Length: 4\r\n\r\ntrue',
      ),
    )

    expect(await fetched(page, `${api}/public/a`, { headers })).toEqual({ status: 200, body: true })
    postern.upstream.answerWith((socket) => socket.destroy())
    expect(await fetched(page, `${api}/public/a`, { headers })).toMatchObject({
      status: 502,
      body: { code: 502 },
    })
  })

  test('of a listed origin sends its cookie where credentials are allowed, and only there', async () => {
    const cookie = `jwt=${tokenOf('editor')}; path=/`
    const seen: unknown[] = []
    for (const credentials of [true, false]) {
      const { listed, api } = await startBetween({ credentials })
      const page = await browser.open(listed)
      // Cookies know no ports: this one goes to every server on the same host.
      await page.evaluate(`document.cookie = ${JSON.stringify(cookie)}`)
      const there = api.replace('127.0.0.1', 'localhost')
      seen.push(await fetched(page, `${there}/public/a`, { credentials: 'include' }))
    }

    expect(seen).toEqual([{ status: 200, body: { ok: true } }, { failed: 'TypeError' }])
  })

  test('without an origin of its own, in a sandbox, reads nothing', async () => {
    const { listed, api } = await startBetween()
    const page = await browser.open(listed)

    const answer = await page.evaluate(`new Promise((resolve) => {
      addEventListener('message', ({ data }) => resolve(data))
      const frame = document.createElement('iframe')
      frame.sandbox = 'allow-scripts'
      frame.srcdoc = \`<script>fetch('${api}/getCaptcha')
        .then(() => parent.postMessage('read', '*'), () => parent.postMessage('failed', '*'))</script>\`
      document.body.append(frame)
    })`)

    expect(answer).toBe('failed')
  })

  test('of another origin reads nothing, and its preflight reaches no upstream', async () => {
    const { postern, unlisted, api } = await startBetween()
    const page = await browser.open(unlisted)

    expect(await fetched(page, `${api}/getCaptcha`)).toEqual({ failed: 'TypeError' })
    const headers = { Authorization: 'Bearer x' }
    const call = { method: 'DELETE', headers }
    expect(await fetched(page, `${api}/public/a`, call)).toEqual({ failed: 'TypeError' })
    expect(postern.upstream.bytes()).toBe(0)
    expect(postern.logText()).toContain('"outcome":"origin-not-allowed"')
  })
})

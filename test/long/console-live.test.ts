import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startConsoleGateway, visit } from '../support/console-browser.ts'
import { callThrough, logInAt } from '../support/console-fleet.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { expectShown, hasNoBrowser, walkConsole } from '../support/console-walk.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { runCommand } from '../support/run-command.ts'
import { startConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

const { 'config/postern.yaml': _, ...files } = consoleFiles

describe.skipIf(hasNoBrowser)('live pages of a gateway without Redis', () => {
  const walk = walkConsole(async () => {
    const upstream = await startRecordingUpstream()
    const gateway = await startConsoleGateway(
      { ...files, 'policies/policy.csv': 'p, editor, /orders, GET\n' },
      {
        upstreams: { app: { targets: [upstream.origin] } },
        routes: [{ path: '/orders', upstream: 'app' }],
        refusals: { notPermittedCode: 403 },
      },
    )
    const stop = async () => {
      await gateway.stop()
      await upstream.close()
    }
    return { ...gateway, stop }
  })
  const show = (page: Page, hash: string) => visit(page, walk.gateway().address, hash)
  const isLive = (page: Page) => page.locator('.live-state.live').waitFor()

  async function caller() {
    const gateway = walk.gateway()
    const { token } = await logInAt(gateway, 'editor', gateway.passwords['editor'] ?? '')
    return (method: string, path: string) => callThrough(gateway, method, path, token)
  }

  test('Overview is the first page, and its chart counts requests', async () => {
    const { page, problems } = await walk.loggedIn()
    await isLive(page)
    expect(await page.title()).toBe('Overview – Postern')
    expect(await page.getByText('Mode dev').isVisible()).toBe(true)
    const tile = (name: string) => page.locator('.tile', { hasText: name }).locator('dd').first()
    expect(await tile('Replicas on it').textContent()).toBe('1/1')
    expect(await tile('Live policy').textContent()).toMatch(/^r-[0-9a-f]{12}$/)
    expect(await page.getByText('Nothing needs attention.').isVisible()).toBe(true)

    const call = await caller()
    expect([await call('GET', '/orders'), await call('DELETE', '/orders')]).toEqual([200, 403])
    const denied = page.locator('.legend li', { hasText: 'denied by policy' }).locator('.latest')
    await until(async () => (await denied.count()) > 0 && (await denied.textContent()) === '1')
    expect(Number(await tile('Requests per minute').textContent())).toBeGreaterThanOrEqual(2)
    await page.locator('summary', { hasText: 'Outcomes of the last hour' }).click()
    await page.getByRole('cell', { name: 'not-permitted' }).waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Decisions shows each one, filters, pauses and explains', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, '#/decisions')
    await isLive(page)
    const call = await caller()
    const rows = page.locator('tbody tr')
    await call('DELETE', '/orders')
    await page.getByRole('row', { name: /Denied editor user \d+ DELETE \/orders/ }).waitFor()
    await call('GET', '/orders')
    await page
      .getByRole('row', { name: /Allowed editor .* GET \/orders .*policy\.csv:1/ })
      .waitFor()

    await page.getByLabel('Verdict').selectOption('deny')
    await until(async () => (await rows.count()) === 1)
    expect(page.url()).toContain('verdict=deny')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await call('PUT', '/orders')
    await page.getByText('1 new since the pause').waitFor()
    expect(await rows.count()).toBe(1)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('row', { name: /PUT/ }).waitFor()
    expect(await rows.count()).toBe(2)

    await page
      .getByRole('row', { name: /DELETE/ })
      .getByRole('link')
      .click()
    await page.locator('.verdict').waitFor()
    expect(await page.locator('.verdict').textContent()).toContain('editor may not DELETE /orders')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Frequent refusals lists them with the line that would allow each', async () => {
    const { page, problems } = await walk.loggedIn()
    const call = await caller()
    await call('PATCH', '/orders')
    const { configFile } = walk.gateway()
    await until(async () => {
      const { out } = await runCommand(['policy', 'denials', '--config', configFile])
      return out.includes('PATCH')
    })
    await show(page, '#/decisions?view=refusals')
    const found = page.getByRole('row', { name: /PATCH \/orders/ })
    await expectShown(page, 'frequent refusals')
    expect(await found.textContent()).toContain('p, editor, /orders, PATCH')
    await found.getByRole('link', { name: 'Explain' }).click()
    await page.locator('.verdict').waitFor()
    expect(await page.locator('.verdict').textContent()).toContain('may not PATCH')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('a page in use shows the login when its session is ended', async () => {
    const { page } = await walk.loggedIn()
    await show(page, '#/decisions')
    await isLive(page)
    const { configFile } = walk.gateway()
    const { code } = await runCommand([
      ...['token', 'revoke', '--user', 'admin', '--config', configFile],
    ])
    expect(code).toBe(0)
    await page.getByLabel('Password').waitFor()

    expect(page.url()).toContain('#/decisions')
    await page.context().close()
  })

  test('eight tabs all load; four are live, and another one as soon as one of them is closed', async () => {
    const first = await walk.loggedIn()
    const context = first.page.context()
    const tabs = [first.page]
    for (let nth = 1; nth < 8; nth++) {
      const tab = await context.newPage()
      await tab.goto(`${walk.gateway().address}#/fleet`)
      await tab.getByRole('row', { name: /gateway current/ }).waitFor()
      tabs.push(tab)
    }
    const live = async (of: readonly Page[]) =>
      (await Promise.all(of.map((tab) => tab.locator('.live-state.live').count()))).filter(
        (count) => count === 1,
      ).length
    await until(async () => (await live(tabs)) === 4)
    await tabs.at(-1)?.locator('.live-state.waiting').waitFor()

    await first.page.close()
    await until(async () => (await live(tabs.slice(1))) === 4)
    await context.close()
  })

  test('a tab that is hidden has no stream', async () => {
    const { page } = await walk.loggedIn()
    await isLive(page)
    const setHidden = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
    const ended = page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('/live/traffic'),
    )
    await setHidden(true)
    await ended
    const begun = page.waitForRequest('**/live/traffic')
    await setHidden(false)
    await begun
    await isLive(page)
    await page.context().close()
  })

  test('connects again after the connection broke, with a banner until then', async () => {
    const { page } = await walk.loggedIn()
    await isLive(page)
    await page.route('**/live/traffic', (route) => route.abort())
    await page.reload()
    await page.locator('.live-state.broken').waitFor()
    expect(await page.locator('.banner.error').first().textContent()).toContain('does not answer')
    await page.unroute('**/live/traffic')
    await isLive(page)
    await page.locator('.banner.error').waitFor({ state: 'detached' })
    await page.context().close()
  })
})

describe('a live stream', () => {
  async function open(now?: () => number) {
    const console = await startConsole({ ownDatabase: true, ...(now && { now }) })
    const cookie = await console.logIn('editor')
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const url = `http://127.0.0.1:${console.port}/console/api/v1/live/traffic`
    const response = await fetch(url, { headers: { cookie }, signal: controller.signal })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      ...[200, 'text/event-stream'],
    ])
    let isOver = false
    const reading = (async () => {
      for await (const _chunk of response.body ?? []);
    })()
    void reading.catch(() => {}).finally(() => (isOver = true))
    const status = async () => (await fetch(url, { headers: { cookie } })).status
    return { console, cookie, isOver: () => isOver, status }
  }

  test('needs a session', async () => {
    const { console } = await open()
    for (const path of ['live/traffic', 'live/decisions']) {
      expect((await console.call(`GET ${path}`)).status).toBe(401)
    }
  })

  test('ends with a logout', async () => {
    const { console, cookie, isOver, status } = await open()
    await console.call('POST logout', { cookie })
    await until(isOver)

    expect(await status()).toBe(401)
  })

  test('ends when a command ends its session', async () => {
    const { console, isOver, status } = await open()
    let id = ''
    await until(async () => {
      const { out } = await console.postern('session list --output json')
      id = JSON.parse(out).sessions[0]?.id ?? ''
      return id !== ''
    })
    expect(isOver()).toBe(false)
    await console.postern(`session end ${id}`)
    await until(isOver)

    expect(await status()).toBe(401)
  })

  test('ends when its session expires', async () => {
    let ahead = 0
    const { isOver, status } = await open(() => Date.now() / 1000 + ahead)
    expect(isOver()).toBe(false)
    ahead = 28_801
    await until(isOver)

    expect(await status()).toBe(401)
  })
})

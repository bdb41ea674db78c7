import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { logInToConsole, openWatchedPage, visit } from '../support/console-browser.ts'
import {
  type ConsoleFleet,
  callThrough,
  expectDone,
  logInAt,
  startConsoleFleet,
} from '../support/console-fleet.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { hasNoBrowser } from '../support/console-walk.ts'
import { until } from '../support/until.ts'

/** A directory with the policy of the fleet and one rule more. */
async function policyWith(rule: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-next-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(consoleFiles)) {
    const file = join(directory, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, name.endsWith('policy.csv') ? `${text}${rule}\n` : text)
  }
  return join(directory, 'policies')
}

describe.skipIf(hasNoBrowser)('live pages of a fleet', () => {
  let browser: Browser
  let fleet: ConsoleFleet
  beforeAll(async () => {
    const executablePath = findChromium() ?? ''
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    fleet = await startConsoleFleet({
      people: { petra: 'admin', carl: 'clerk' },
      config: { refusals: { notPermittedCode: 403 } },
    })
  })
  afterAll(async () => {
    await browser?.close()
    await fleet?.stop()
  })

  async function loggedIn(hash: string) {
    const watched = await openWatchedPage(browser, fleet.address)
    await logInToConsole(watched.page, fleet, 'petra')
    await visit(watched.page, fleet.address, hash)
    await watched.page.locator('.live-state.live').waitFor()
    return watched
  }

  test('Decisions hears both gateways, and explains by the revision that decided', async () => {
    const { page, problems } = await loggedIn('#/decisions')
    const { token } = await logInAt(fleet.gateways[0], 'carl', fleet.passwords['carl'] ?? '')
    const denied = (method: string) =>
      page.getByRole('row', { name: `Denied clerk user 2 ${method}` })
    for (const [at, method] of [
      [0, 'PUT'],
      [1, 'DELETE'],
    ] as const) {
      // The first ones may come before the gateway has learned that a console watches.
      await until(async () => {
        await callThrough(fleet.gateways[at], method, '/orders', token)
        return (await denied(method).count()) > 0
      })
    }
    await denied('PUT').first().getByRole('link').click()
    await page.locator('.verdict').waitFor()
    expect(await page.locator('.verdict').textContent()).toContain('clerk may not PUT /orders')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Overview shows a policy as soon as it is live, and who published it', async () => {
    const { page, problems } = await loggedIn('#/overview')
    const policy = page.locator('.tile', { hasText: 'Live policy' }).locator('dd').first()
    const replicas = page.locator('.tile', { hasText: 'Replicas on it' }).locator('dd').first()
    await until(async () => (await replicas.textContent()) === '2/2')
    const before = await policy.textContent()

    const next = await policyWith('p, clerk, /orders, PATCH')
    const why = 'clerks change orders'
    const push = ['policy', 'push', next, '-m', why, '--yes', '--over', 'live']
    await expectDone(fleet.postern, ...push)
    await until(async () => (await policy.textContent()) !== before)
    await page.getByRole('row', { name: /clerks change orders/ }).waitFor()
    expect(await page.getByRole('row', { name: /clerks change orders/ }).count()).toBe(1)
    await until(async () => (await replicas.textContent()) === '2/2')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('a banner says that Redis is unreachable, on each live page, and goes with the outage', async () => {
    const overview = (await loggedIn('#/overview')).page
    const decisions = (await loggedIn('#/decisions')).page
    fleet.redis.pause()
    try {
      await overview.locator('.banner.error').first().waitFor()
      await overview.getByText(/Gateways have not answered since/).waitFor()
      await decisions.getByText(/Redis is unreachable/).waitFor()
      // What was known stays on the page.
      expect(await overview.locator('.tile').count()).toBe(6)
    } finally {
      fleet.redis.resume()
    }
    await overview.locator('.banner.error').first().waitFor({ state: 'detached' })
    await decisions.locator('.banner.error').waitFor({ state: 'detached' })
    await decisions.locator('.live-state.live').waitFor()
    for (const page of [overview, decisions]) await page.context().close()
  })

  test('a gateway that was killed shows as lost', async () => {
    const { page, problems } = await loggedIn('#/fleet')
    await until(async () => (await page.getByRole('row', { name: /current/ }).count()) === 2)
    await fleet.gateways[1].kill()
    await page.getByText('1 replica is lost').waitFor()
    const lost = page.getByRole('row', { name: / lost / })
    expect(await lost.count()).toBe(1)
    // Those that need attention come first.
    expect(await page.locator('tbody tr').first().textContent()).toContain('lost')

    await page.getByLabel('State').selectOption('lost')
    await until(async () => (await page.locator('tbody tr').count()) === 1)
    await visit(page, fleet.address, '#/overview')
    await page.locator('.attention .error', { hasText: '1 replica is lost' }).waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  })
})

import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { findChromium } from './browser.ts'
import { logInToConsole, openWatchedPage, type WatchedPage } from './console-browser.ts'
import { type ConsoleFleet, tabTo } from './console-fleet.ts'

/** A browser and a fleet for all tests of a group, and people who have logged in to its console. */
export function walkFleet(start: () => Promise<ConsoleFleet>): {
  readonly fleet: () => ConsoleFleet
  loggedIn(name: string): Promise<WatchedPage>
} {
  let browser: Browser | undefined
  let fleet: ConsoleFleet | undefined
  beforeAll(async () => {
    const executablePath = findChromium() ?? ''
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    fleet = await start()
  })
  afterAll(async () => {
    await browser?.close()
    await fleet?.stop()
  })

  function running(): ConsoleFleet {
    if (fleet === undefined) throw new Error('the fleet does not run')
    return fleet
  }
  return {
    fleet: running,
    async loggedIn(name) {
      if (browser === undefined) throw new Error('the browser does not run')
      const watched = await openWatchedPage(browser, running().address)
      await logInToConsole(watched.page, running(), name)
      return watched
    },
  }
}

/** How a page finds out that a change needs the password is an error for the browser. */
export function unexpected(problems: readonly string[]): readonly string[] {
  return problems.filter((problem) => !problem.includes('status of 403'))
}

/** Goes to each of these links and buttons with Tab, and presses Enter there. */
export async function press(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.getByText(name, { exact: true }).first().waitFor()
    await tabTo(page, name)
    await page.keyboard.press('Enter')
  }
}

/** Types once the dialog has the focus in its first field. */
export async function typeInDialog(page: Page, text: string): Promise<void> {
  await page.locator('input:focus, textarea:focus').waitFor()
  await page.keyboard.type(text)
}

export async function enterPassword(page: Page, password: string): Promise<void> {
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
  await page.locator('input[name=password]:focus').waitFor()
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
}

export async function revisionsIn(page: Page, message: string): Promise<readonly string[]> {
  const row = page.getByRole('row', { name: message })
  return row.locator('code').allTextContents()
}

/** Proposes that clerks may change orders, with the session of this page. Returns the revision. */
export async function propose(page: Page, { files, address }: ConsoleFleet): Promise<string> {
  const draft = files.map(({ name, text }) => ({
    ...{
      name,
      text: text.replace(
        'p, clerk, /orders, GET',
        'p, clerk, /orders, GET\np, clerk, /orders, PUT',
      ),
    },
  }))
  const status = await page.request.get(`${address}api/v1/policy/status`)
  const over = (await status.json()).head.revision
  const answer = await page.request.post(`${address}api/v1/policy/propose`, {
    data: { files: draft, message: 'clerks change orders', over },
  })
  expect([answer.status(), await answer.text()]).toEqual([200, expect.stringContaining('r-')])
  return (await answer.json()).revision
}

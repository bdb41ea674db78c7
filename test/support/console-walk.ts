import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { findChromium } from './browser.ts'
import {
  accessibilityProblems,
  type ConsoleGateway,
  logInToConsole,
  openWatchedPage,
  overflow,
  visit,
  type WatchedPage,
} from './console-browser.ts'

const program = findChromium()
/** Whether there is no browser; the file says so once. */
export const hasNoBrowser = program === undefined
if (hasNoBrowser) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

type PageOptions = Parameters<typeof openWatchedPage>[2]

/** A browser and a console for all tests of a file. */
export interface ConsoleWalk {
  readonly gateway: () => ConsoleGateway
  /** A page of a new browser context, at the login. */
  stranger(options?: PageOptions): Promise<WatchedPage>
  /** The same for an administrator who has logged in. */
  loggedIn(options?: PageOptions): Promise<WatchedPage>
}

export function walkConsole(start: () => Promise<ConsoleGateway>): ConsoleWalk {
  let browser: Browser | undefined
  let gateway: ConsoleGateway | undefined
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
    gateway = await start()
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  function running(): ConsoleGateway {
    if (gateway === undefined) throw new Error('the console does not run')
    return gateway
  }
  async function stranger(options: PageOptions = {}): Promise<WatchedPage> {
    if (browser === undefined) throw new Error('the browser does not run')
    return openWatchedPage(browser, running().address, options)
  }
  return {
    gateway: running,
    stranger,
    async loggedIn(options) {
      const watched = await stranger(options)
      await logInToConsole(watched.page, running())
      return watched
    },
  }
}

/** Where the navigation leads to: the table of pages, as a reader sees it. */
export async function pagesInNavigation(page: Page): Promise<readonly string[]> {
  const links = page.locator('.side nav a')
  return links.evaluateAll((all) => all.map((link) => (link as { hash?: string }).hash ?? ''))
}

/** Those of the navigation, each replaced by the addresses that show it with an answer. */
export function addressesOf(
  inNavigation: readonly string[],
  asked: readonly string[],
): readonly string[] {
  const plain = inNavigation.filter((hash) => !asked.some((each) => each.startsWith(`${hash}?`)))
  return [...new Set([...plain, ...asked])]
}

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

/** Visits the login, every page of the navigation and `asked`. */
export async function expectAccessible(
  walk: ConsoleWalk,
  { colorScheme, width }: Look,
  asked: readonly string[],
): Promise<void> {
  const { address } = walk.gateway()
  const { page, problems } = await walk.stranger({ colorScheme, viewport: { width, height: 800 } })
  await page.goto(address)
  await page.locator('[name=password]').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await logInToConsole(page, walk.gateway())

  const inNavigation = await pagesInNavigation(page)
  expect(inNavigation.length).toBeGreaterThan(10)
  for (const hash of addressesOf(inNavigation, asked)) {
    await visit(page, address, hash)
    await expectShown(page, hash)
  }
  expect(problems).toEqual([])
  await page.context().close()
}

/** That the page at this address is accessible, and not wider than the screen. */
export async function expectShown(page: Page, hash: string): Promise<void> {
  expect(await accessibilityProblems(page), hash).toEqual([])
  expect(await overflow(page), hash).toBeLessThanOrEqual(0)
  expect(await page.getByText('Mode dev').isVisible(), hash).toBe(true)
  // Sizes and places that only the script knows; everything else is in the style sheet.
  const sized = '.matrix-frame, col, td, .code *'
  expect(await page.locator(`[style]:not(${sized})`).count(), hash).toBe(0)
}

import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * The rules of accessibility that a page breaks. Axe itself needs JavaScript: what a browser without it
 * shows is examined in one that runs no script of the page.
 */
export async function violations(page: Page, javaScriptEnabled = true): Promise<readonly string[]> {
  if (javaScriptEnabled) return idsOf(page)
  const shown = await page.content()
  const address = page.url()
  const options = { ignoreHTTPSErrors: true, viewport: page.viewportSize() }
  const context = await page.context().browser()?.newContext(options)
  if (context === undefined) throw new Error('the page is in no browser that could open another')
  const copy = await context.newPage()
  await copy.route('**/*', (route) => {
    const request = route.request()
    if (request.url() === address) return route.fulfill({ contentType: 'text/html', body: shown })
    return request.resourceType() === 'script' ? route.abort() : route.continue()
  })
  await copy.goto(address)
  const found = await idsOf(copy)
  await context.close()
  return found
}

async function idsOf(page: Page): Promise<readonly string[]> {
  return (await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)
}

/** The lines of the browser's console, but that the pages themselves came with another status than a success. */
export function watchConsole(page: Page): readonly string[] {
  const problems: string[] = []
  const pages = new Set<string>()
  page.on('request', (request) => {
    if (request.isNavigationRequest()) pages.add(request.url())
  })
  page.on('console', (message) => {
    const { url } = message.location()
    const isPage = pages.has(url) && message.text().startsWith('Failed to load resource')
    if (!isPage) problems.push(`${url}: ${message.text()}`)
  })
  return problems
}

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { visit } from '../support/console-browser.ts'
import { startLargeConsole } from '../support/console-large.ts'
import { hasNoBrowser, walkConsole } from '../support/console-walk.ts'
import { until } from '../support/until.ts'

describe.skipIf(hasNoBrowser)('the matrix of the console', () => {
  const walk = walkConsole(startLargeConsole)
  const show = (page: Page, hash: string) => visit(page, walk.gateway().address, hash)

  test('Matrix: few cells exist, keys move, a click explains', async () => {
    const { page, problems } = await walk.loggedIn({ viewport: { width: 1280, height: 800 } })
    await show(page, '#/matrix')
    const grid = page.getByRole('grid')
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBeGreaterThan(2000)
    expect(await grid.getAttribute('aria-colcount')).toBe('204')
    const cells = () => page.locator('.matrix td[data-column]').count()
    expect(await cells()).toBeLessThan(3000)

    await grid.focus()
    await page.keyboard.press('Control+End')
    await until(async () => (await activeCell(page)) !== null)
    expect(await cells()).toBeLessThan(3000)
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.locator('.verdict').waitFor()
    expect(page.url()).toContain('#/can?role=')

    await show(page, '#/matrix?operations=orders&roles=editor')
    await page.locator('td.own').first().click()
    await page.getByText('editor may GET').waitFor()
    await show(page, '#/matrix?view=routes')
    expect(await page.getByRole('table').textContent()).toContain('/unused')
    await show(page, '#/matrix?view=everyone')
    expect(await grid.textContent()).not.toContain('things')
    expect(problems).toEqual([])
    await page.context().close()
  })
})

/** The cell that the keyboard is at, if it exists. */
async function activeCell(page: Page): Promise<string | null> {
  const id = await page.getByRole('grid').getAttribute('aria-activedescendant')
  return page.locator(`[id="${id}"]`).getAttribute('id', { timeout: 1000 })
}

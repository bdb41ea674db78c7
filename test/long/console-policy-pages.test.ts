import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { visit } from '../support/console-browser.ts'
import { hostile, largePages, startLargeConsole } from '../support/console-large.ts'
import { hasNoBrowser, walkConsole } from '../support/console-walk.ts'

describe.skipIf(hasNoBrowser)('the pages about the policy', () => {
  const walk = walkConsole(startLargeConsole)
  const show = (page: Page, hash: string) => visit(page, walk.gateway().address, hash)

  test('Can they? by keyboard: two times Enter, verdict, line, near misses, link', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, '#/can')
    const role = page.getByRole('combobox', { name: 'Role' })
    await role.fill('edi')
    await page.getByRole('option', { name: 'editor' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await role.inputValue()).toBe('editor')
    expect(await page.getByRole('listbox').count()).toBe(0)

    await page.getByRole('combobox', { name: 'Path' }).fill('/api/v1/orders/7')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    await page.locator('.verdict').waitFor()
    expect(await page.locator('.verdict').textContent()).toContain(
      'editor may GET /api/v1/orders/7',
    )
    const main = page.locator('main')
    expect(await main.textContent()).toContain('p, editor, /api/v1/orders/:id, GET')
    expect(await main.textContent()).toContain('app')
    expect(page.url()).toContain('#/can?role=editor&method=GET&path=/api/v1/orders/7')

    await page.getByLabel('Method').selectOption('DELETE')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('may not DELETE').waitFor()
    expect(await page.getByRole('table').textContent()).toContain(':id, PUT')
    await page.goBack()
    await page.getByText('editor may GET').waitFor()
    expect(await page.getByLabel('Method').inputValue()).toBe('GET')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Can they? asks for an account, and for a caller without a token', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, '#/can?user=editor&method=PUT&path=/api/v1/orders/7')
    expect(await page.locator('.verdict').textContent()).toContain('editor may PUT')
    await page.getByLabel('Without a token').check()
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.locator('.verdict.refused').waitFor()
    expect(page.url()).toContain('anonymous=1')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Who can? lists roles with lines and inheritance, and downloads them', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, largePages.who)
    const rows = page.getByRole('table').locator('tbody tr')
    const texts = await rows.allTextContents()
    expect(texts.find((text) => text.startsWith('editor'))).toMatch(
      /^editor1own rule.*policy\.csv:1p, editor/,
    )
    expect(texts.find((text) => text.startsWith('lead'))).toContain('inherited: editor')
    // Names are text, whatever they contain.
    expect(texts.find((text) => text.startsWith(hostile))).toBeDefined()

    const sort = page.getByRole('button', { name: 'Role' })
    await sort.click()
    await sort.click()
    expect(await page.locator('th[aria-sort=descending]').textContent()).toBe('Role')
    expect((await rows.allTextContents())[0]).toMatch(/^lead/)
    await rows.first().getByRole('link').focus()
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('editor')

    const waiting = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download CSV' }).click()
    const file = await (await waiting).path()
    expect(await readFile(file, 'utf8')).toContain('editor,yes,rule,allow,GET,/api/v1/orders/:id')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Role shows what a role may do by route, and how it differs from another', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, largePages.role)
    expect(await page.locator('main').textContent()).toContain('Inherits fromeditor')
    expect(await page.getByRole('heading', { name: '/api/v1' }).isVisible()).toBe(true)
    expect(await page.getByRole('table').textContent()).toContain('inherited: editor')
    await show(page, largePages.compare)
    await page.getByRole('heading', { name: 'lead may and viewer may not' }).waitFor()
    await show(page, '#/role?role=nobody-has-it')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('nobody-has-it')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('Open endpoints lists what needs no permission with reasons', async () => {
    const { page, problems } = await walk.loggedIn()
    await show(page, largePages.open)
    const text = await page.locator('main').textContent()
    expect(text).toContain('Probes have no token.')
    expect(text).toContain(`Help, ${hostile}`)
    expect(text).toContain('no reason given')
    expect(text).toContain('/api/v1/login')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.side').isVisible()).toBe(false)
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect(problems).toEqual([])
    await page.context().close()
  })
})

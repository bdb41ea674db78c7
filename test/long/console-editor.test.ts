import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import {
  accessibilityProblems,
  type ConsoleGateway,
  logInToConsole,
  openWatchedPage,
  overflow,
  startConsoleGateway,
  visit,
} from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

const hostile = '# <img src=x onerror=alert(1)></textarea><script>alert(2)</script>'
const rules = `${hostile}\np, clerk, /orders, GET\np, lead, /orders, PUT\ng, lead, clerk\n`
const broken = rules.replace('/orders, PUT', '/orders, PUT, one, two')
const widened = rules.replace(
  'p, lead, /orders, PUT',
  'p, lead, /orders, PUT\np, clerk, /orders, DELETE',
)

describe.skipIf(program === undefined)('the editor of the console', () => {
  let browser: Browser
  let gateway: ConsoleGateway
  let redis: RedisServer
  let directory: string
  let live: string

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
    redis = await startRedis()
    directory = await mkdtemp(join(tmpdir(), 'postern-editor-'))
    for (const [name, text] of Object.entries({ ...consoleFiles, 'policies/policy.csv': rules })) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    live = await publish('first')
    gateway = await startConsoleGateway(
      {},
      {
        redis: { url: redis.url },
        policy: { source: 'redis', directory: join(directory, 'policies') },
        upstreams: { app: { targets: ['http://127.0.0.1:9'] } },
        routes: [{ path: '/orders', upstream: 'app' }],
        console: {
          ...{ enabled: true, port: 0, write: true },
          roles: { reader: ['editor'], author: [], publisher: ['admin'] },
        },
      },
    )
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
    await redis?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** Runs a command with the same Redis, and returns what it prints. */
  async function postern(line: string, ...more: readonly string[]) {
    const env = { POSTERN_REDIS__URL: redis.url }
    const argv = [...line.split(' '), '--output', 'json', ...more]
    const { code, out, err } = await runCommand(argv, { cwd: directory, env })
    if (code !== 0) throw new Error(err)
    return JSON.parse(out)
  }

  async function publish(message: string): Promise<string> {
    await postern('policy push --yes --no-wait --over live', '-m', message)
    return (await postern('policy files live')).revision
  }

  async function openEditor(username = 'admin') {
    const watched = await openWatchedPage(browser, gateway.address)
    await logInToConsole(watched.page, gateway, username)
    await visit(watched.page, gateway.address, '#/editor')
    // A browser reports the status by which the API says that a draft is not valid.
    const unexpected = () => watched.problems.filter((text) => !text.includes('status of 422'))
    return { page: watched.page, unexpected }
  }

  const code = (page: Page) => page.locator('.code-frame:not([hidden]) textarea')
  const check = async (page: Page, text: string) => {
    await code(page).fill(text)
    await page.keyboard.press('Control+s')
  }
  const proposals = async () =>
    (await postern('policy proposals')) as readonly { revision: string; message: string }[]

  test('shows messages at their lines, tests and the difference, and proposes', async () => {
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    expect(await code(page).inputValue()).toBe(rules)
    expect(await page.getByText('Coverage 50 %').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Propose' }).isDisabled()).toBe(true)

    await check(page, broken)
    await page.locator('.code-band.error').waitFor()
    expect(await page.locator('.code-gutter .error').textContent()).toBe('3')
    const message = await page.locator('.findings .error').textContent()
    expect(message).toContain('policy.csv:3')
    expect(message).toContain('6 columns')
    // A line above moves the message, and an edit of its line removes it.
    await code(page).fill(`# above\n${broken}`)
    await until(async () => (await page.locator('.code-gutter .error').textContent()) === '4')
    await page.getByRole('button', { name: 'policy.csv:3' }).click()
    await until(async () => (await page.getByText('Line 4, column').count()) === 1)
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')

    await check(page, widened)
    await page.locator('.changes').waitFor()
    expect(await page.locator('.changes').textContent()).toContain('clerk')
    expect(await page.locator('.changes').textContent()).toContain('DELETE /orders')
    expect(await page.locator('.code-band.error').count()).toBe(0)

    await page.getByRole('button', { name: 'Propose' }).click()
    await page.locator('[name=message]').fill('clerks <b>delete</b>')
    await page.getByRole('dialog').getByRole('button', { name: 'Propose' }).click()
    await page.getByText('Proposed as r-').waitFor()
    const [proposed] = await proposals()
    expect(proposed?.message).toBe('clerks <b>delete</b>')
    const after = await postern('policy files live')
    expect([after.revision, after.files[1].text]).toEqual([live, rules])

    await page.getByRole('link', { name: 'Show the proposal' }).click()
    await page
      .getByText(proposed?.revision ?? '')
      .first()
      .waitFor()

    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await until(async () => (await code(page).inputValue()) === widened)
    await check(page, broken)
    await page.getByText('not proposed').waitFor()
    await page.evaluate(`location.hash = '#/editor?revision=${live}'`)
    await page.getByText('This draft is not proposed yet.').waitFor()
    expect(await code(page).inputValue()).toBe(broken)
    await page.getByRole('button', { name: 'Discard it and begin with' }).click()
    await until(async () => (await code(page).inputValue()) === rules)
    expect(await page.getByText('Discard it').count()).toBe(0)
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('keeps a draft across a reload, and removes it at the logout', async () => {
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    await code(page).pressSequentially('# mine\n')
    await page.getByText('not proposed').waitFor()
    page.removeAllListeners('dialog')
    const warnings: string[] = []
    page.on('dialog', (dialog) => {
      warnings.push(dialog.type())
      void dialog.accept()
    })

    await page.reload()

    await page.getByText('not proposed').waitFor()
    expect(await code(page).inputValue()).toContain('# mine')
    expect(warnings).toEqual(['beforeunload'])
    const stored = () => page.evaluate('Object.keys(sessionStorage)')
    expect(await stored()).toEqual(['postern-draft-admin'])
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.locator('[name=password]').waitFor()
    expect(await stored()).toEqual([])
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('adds, renames and deletes files, and refuses names that are no policy files', async () => {
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    const name = async (button: string, value: string) => {
      await page.getByRole('button', { name: button, exact: true }).first().click()
      await page.locator('[name=file]').fill(value)
      await page.getByRole('dialog').getByRole('button', { name: button }).click()
    }
    const names = () => page.locator('.editor-files nav .mono').allTextContents()

    await name('Add file', '../evil.csv')
    await page.getByText('not the name of a policy file').waitFor()
    await page.locator('[name=file]').fill('policy.csv')
    await page.keyboard.press('Enter')
    await page.getByText('has a file with this name').waitFor()
    await page.locator('[name=file]').fill('more.csv')
    await page.keyboard.press('Enter')
    await check(page, 'p, clerk, /orders, POST\n')
    await page.locator('.changes').waitFor()
    expect(await page.locator('.changes').textContent()).toContain('more.csv:1')
    await name('Rename', 'stock.csv')
    expect(await names()).toEqual([
      ...['model.conf', 'policy.csv', 'stock.csv', 'tests/orders_test.yaml'],
    ])
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    expect(await names()).toEqual(['model.conf', 'policy.csv', 'tests/orders_test.yaml'])
    await page.getByText('not proposed').waitFor({ state: 'detached' })
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('proposes nothing over a policy that became live meanwhile, unless told so', async () => {
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    await check(page, rules.replace('GET', 'PATCH'))
    const before = (await proposals()).length
    await writeFile(join(directory, 'policies', 'policy.csv'), `${rules}p, chief, /orders, GET\n`)
    const newer = await publish('meanwhile')
    const propose = async () => {
      await page.getByRole('button', { name: 'Propose' }).first().click()
      await page.locator('[name=message]').fill('patch')
      await page.getByRole('dialog').getByRole('button', { name: 'Propose' }).click()
    }

    // Its test fails.
    await page.locator('.findings .error').waitFor()
    expect(await page.getByRole('button', { name: 'Propose' }).isDisabled()).toBe(true)
    await check(page, `${rules}p, lead, /orders, PATCH\n`)
    await page.locator('.changes').first().waitFor()
    await propose()
    await page.getByText(`Not proposed: ${newer} became live`).waitFor()
    expect((await proposals()).length).toBe(before)
    await page.getByRole('button', { name: 'Continue with my draft' }).click()
    await propose()
    await page.getByText('Proposed as r-').waitFor()
    expect((await proposals()).length).toBe(before + 1)
    expect((await postern('policy files live')).revision).toBe(newer)
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('shows a long file in parts that are one text', async () => {
    const lines = Array.from({ length: 2995 }, (_, at) => `p, clerk, /orders/${at}, GET`)
    const long = [...rules.trim().split('\n'), ...lines.with(2495, 'p, clerk'), ''].join('\n')
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    // `fill` inserts line by line, which takes browsers minutes.
    await code(page).evaluate((element, text) => {
      Object.assign(element, { value: text })
      element.dispatchEvent(new Event('input', { bubbles: true }))
    }, long)
    await page.getByText('not proposed').waitFor()
    expect(await page.getByLabel('Lines', { exact: true }).count()).toBe(0)
    page.removeAllListeners('dialog')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    const part = page.getByLabel('Lines', { exact: true })
    await part.waitFor()
    const shown = (from: number, to: number) => long.split('\n').slice(from, to).join('\n')
    const value = () => code(page).inputValue()

    expect(await part.locator('option').allTextContents()).toEqual([
      ...['1 – 1,000', '1,001 – 2,000', '2,001 – 3,000', 'All 3,000 lines'],
    ])
    expect(await value()).toBe(shown(0, 1000))
    await part.selectOption('1')
    expect(await value()).toBe(shown(1000, 2000))
    await code(page).focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('x')
    await part.selectOption('0')
    await part.selectOption('1')
    expect(await value()).toBe(`x${shown(1000, 2000)}`)
    // The text field has stayed, with its history.
    await code(page).focus()
    await page.keyboard.press('Control+z')
    expect(await value()).toBe(shown(1000, 2000))
    await page.keyboard.insertText('# mine\n')
    await until(async () => (await page.getByText('Line 1002, column 1').count()) === 1)

    // A message leads to its line in another part.
    await page.getByRole('button', { name: 'policy.csv:2500' }).click()
    await until(async () => (await page.getByText('Line 2501, column').count()) === 1)
    expect(await part.inputValue()).toBe('2')
    expect(await page.locator('.code-frame:not([hidden]) .code-gutter .error').textContent()).toBe(
      '2501',
    )
    expect(await accessibilityProblems(page)).toEqual([])
    await part.selectOption('all')
    expect(await value()).toBe(`${shown(0, 1000)}\n# mine\n${shown(1000, 3000)}`)
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('is not for readers', async () => {
    const { page, unexpected } = await openEditor('editor')

    await page.getByText('Drafts need the console role author').waitFor()
    expect(await page.locator('textarea').count()).toBe(0)
    expect(unexpected()).toEqual([])
    await page.context().close()
  })

  test('is accessible, wide and narrow, light and dark, and Tab leaves the text', async () => {
    const { page, unexpected } = await openEditor()
    await page.locator('.meter').waitFor()
    await check(page, broken)
    await page.locator('.code-band.error').waitFor()

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await accessibilityProblems(page), `${colorScheme} ${width}`).toEqual([])
        expect(await overflow(page), `${colorScheme} ${width}`).toBeLessThanOrEqual(0)
      }
    }
    await code(page).focus()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.tagName')).not.toBe('TEXTAREA')
    expect(await code(page).inputValue()).toBe(broken)
    expect(unexpected()).toEqual([])
    await page.context().close()
  })
})

import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { inject } from 'vitest'
import { startGatewayProcess } from './gateway-process.ts'
import { freePort } from './redis-server.ts'
import { until } from './until.ts'

/** A gateway with its console, as an operator runs them, and a directory of their own. */
export interface ConsoleGateway {
  /** Ends with a slash. */
  readonly address: string
  /** Where the gateway takes requests. */
  readonly publicPort: number
  readonly directory: string
  readonly configFile: string
  readonly passwords: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** `files` are relative to the directory; `config` is merged over the configuration section by section. */
export async function startConsoleGateway(
  files: Readonly<Record<string, string>>,
  config: Readonly<Record<string, unknown>>,
  application: Readonly<Record<string, unknown>> = {},
): Promise<ConsoleGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-console-'))
  const data = join(directory, 'data')
  await cp(inject('databaseTemplate'), data, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  const configFile = join(directory, 'postern.yaml')
  const gateway = await startGatewayProcess(configFile, {
    application: {
      ...{ mode: 'dev', host: '127.0.0.1', port: 0, dataDirectory: data },
      ...application,
    },
    // Known beforehand: the console asks the gateway there.
    ops: { host: '127.0.0.1', port: await freePort() },
    policy: { directory: join(directory, 'policies') },
    console: { enabled: true, port: 0 },
    ...config,
  })
  const listening = () => gateway.log.find(({ msg }) => msg === 'console listening')
  await until(() => listening() !== undefined)
  return {
    address: String(listening()?.['address']),
    publicPort: gateway.publicPort,
    directory,
    configFile,
    passwords: inject('passwords'),
    async stop() {
      await gateway.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export interface WatchedPage {
  readonly page: Page
  /** Errors in the browser's console, uncaught exceptions, violations of the CSP, foreign requests. */
  readonly problems: readonly string[]
}

/** A page of a new browser context that collects everything that a reader must never see. */
export async function openWatchedPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  // A busy machine may take longer than the 30 seconds that are the default.
  context.setDefaultTimeout(120_000)
  const problems: string[] = []
  await context.exposeFunction('reportViolation', (text: string) => void problems.push(text))
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    reportViolation('CSP ' + event.violatedDirective + ' ' + event.blockedURI))`)
  const page = await context.newPage()
  page.on('console', (message) => {
    // How the pages find out that nobody is logged in, and that nothing is published without Redis.
    const isExpected =
      /\/api\/v1\/(?:session|login|policy\/status|policy\/files\?revision=live)$/.test(
        message.location().url,
      )
    if (message.type() === 'error' && !isExpected)
      problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('dialog', (dialog) => {
    problems.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  const { origin } = new URL(address)
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && request.url() !== 'about:blank')
      problems.push(`request to ${request.url()}`)
  })
  return { page, problems }
}

/** Logs in by the form and waits for the first page. */
export async function logInToConsole(
  page: Page,
  { address, passwords }: Pick<ConsoleGateway, 'address' | 'passwords'>,
  username = 'admin',
): Promise<void> {
  await page.goto(address)
  await page.getByRole('textbox').first().fill(username)
  await page.locator('[name=password]').fill(passwords[username] ?? '')
  await page.keyboard.press('Enter')
  await page.locator('h1').waitFor()
  await page.locator('.side').waitFor()
}

/** Opens a page by its address, as a permalink does, and waits for its answer. */
export async function visit(page: Page, address: string, hash: string): Promise<void> {
  // Else only the part after `#` changes, and what the last page shows could pass for this one.
  await page.goto('about:blank')
  await page.goto(`${address}${hash}`)
  await page.locator('main h1').waitFor()
  await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' })
}

/** The rules of accessibility that a page breaks, with the elements. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** How many pixels the document is wider than the screen. */
export async function overflow(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}

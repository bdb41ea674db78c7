import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { logInToConsole, openWatchedPage, overflow, visit } from '../support/console-browser.ts'
import {
  type ConsoleFleet,
  callThrough,
  expectDone,
  logInAt,
  startConsoleFleet,
} from '../support/console-fleet.ts'
import { smallPng } from '../support/small-png.ts'
import { until } from '../support/until.ts'

const pictures = join(import.meta.dirname, '..', '..', 'docs', 'images', 'console')
const isAsked = process.env['POSTERN_SCREENSHOTS'] === '1'
const program = findChromium()

interface Shot {
  readonly hash: string
  readonly options?: BrowserContextOptions
}

const phone = { viewport: { width: 360, height: 740 } }
const dark = { colorScheme: 'dark' } as const

/** By the name of the picture. `REVISION` is the one that is proposed. */
const shots: Readonly<Record<string, Shot>> = {
  overview: { hash: '#/overview' },
  can: { hash: '#/can?role=lead&method=DELETE&path=/orders/7' },
  'can-phone': { hash: '#/can?role=lead&method=PUT&path=/orders/7', options: phone },
  who: { hash: '#/who?method=GET&path=/orders/7' },
  'matrix-dark': { hash: '#/matrix', options: dark },
  open: { hash: '#/open' },
  changes: { hash: '#/changes' },
  proposal: { hash: '#/changes?proposal=REVISION' },
  editor: { hash: '#/editor' },
  fleet: { hash: '#/fleet' },
}

test('docs/console.md has every picture, each small', async () => {
  const text = await readFile(join(pictures, '..', '..', 'console.md'), 'utf8')
  const shown = [...text.matchAll(/\]\(images\/console\/([\w-]+)\.png\)/g)].map(
    ([, name = '']) => name,
  )
  expect(shown.toSorted()).toEqual(Object.keys(shots).toSorted())
  for (const name of shown) {
    const { size } = await stat(join(pictures, `${name}.png`))
    expect([name, size < 70_000]).toEqual([name, true])
  }
})

if (!isAsked) console.log('pictures stay as they are: POSTERN_SCREENSHOTS=1 takes them again')

test.skipIf(!isAsked || program === undefined)(
  'the browser takes every picture of the documentation',
  async () => {
    await mkdir(pictures, { recursive: true })
    const fleet = await startSample()
    onTestFinished(fleet.stop)
    const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
    onTestFinished(() => browser.close())
    const revision = await propose(browser, fleet)
    for (const [name, { hash, options = {} }] of Object.entries(shots)) {
      const viewport = { width: 1280, height: 760 }
      const { page } = await openWatchedPage(browser, fleet.address, { viewport, ...options })
      await logInToConsole(page, fleet, 'petra')
      await visit(page, fleet.address, hash.replace('REVISION', revision))
      await hideModeBanner(page)
      expect([name, await overflow(page)]).toEqual([name, 0])
      await writeFile(join(pictures, `${name}.png`), smallPng(await page.screenshot()))
      await page.context().close()
    }
  },
)

/** The banner of the mode of tests is not what operators see. */
async function hideModeBanner(page: Page): Promise<void> {
  await page.locator('.banner', { hasText: 'Mode dev' }).evaluateAll((all) => {
    for (const each of all) (each as { remove(): void }).remove()
  })
}

const policyText = `# Orders
p, clerk, /orders, GET
p, clerk, /orders, POST
p, clerk, /orders/:id, GET
p, clerk, /orders/:id, PUT
p, clerk, /orders/:id/lines, GET
p, clerk, /orders/:id/lines, POST
p, auditor, /orders, GET
p, auditor, /orders/*, GET
p, lead, /orders/:id/cancellation, POST
p, lead, /reports/monthly, GET
g, lead, clerk
# Invoices
p, accountant, /invoices, GET
p, accountant, /invoices/:id, GET
p, accountant, /invoices/:id, PUT
p, accountant, /invoices/:id/payment, POST
p, accountant, /orders/:id, GET
`

const model = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && keyMatch2(r.obj, p.obj) && r.act == p.act
`

const sample = {
  'policies/model.conf': model,
  'policies/policy.csv': policyText,
  'policies/exclusions.yaml': '- { method: GET, path: /orders/help, reason: Help for everyone. }\n',
  'policies/tests/orders_test.yaml':
    '- { role: clerk, method: GET, path: /orders, expect: allow, reason: They take orders. }\n',
}

async function startSample(): Promise<ConsoleFleet> {
  const fleet = await startConsoleFleet({
    people: { petra: 'admin', ann: 'author', carl: 'clerk', lea: 'lead', ada: 'auditor' },
    files: sample,
    routes: [
      { path: '/orders', upstream: 'app' },
      { path: '/invoices', upstream: 'app' },
      { path: '/reports', upstream: 'app' },
      { path: '/status', upstream: 'app', access: 'public', reason: 'Probes have no token.' },
      { path: '/news', upstream: 'app', access: 'authenticated', reason: 'For all staff.' },
    ],
  })
  const [gateway] = fleet.gateways
  const { token } = await logInAt(gateway, 'carl', fleet.passwords['carl'] ?? '')
  await until(async () => (await callThrough(gateway, 'GET', '/orders', token)) === 200)
  for (let count = 0; count < 40; count++) {
    await callThrough(gateway, count % 5 === 0 ? 'DELETE' : 'GET', '/orders/7', token)
  }
  return fleet
}

/** One published change and one proposal, so that pages have something to show. */
async function propose(browser: Browser, fleet: ConsoleFleet): Promise<string> {
  const { page } = await openWatchedPage(browser, fleet.address)
  await logInToConsole(page, fleet, 'ann')
  const api = `${fleet.address}api/v1/`
  const add = async (line: string, message: string) => {
    const { head } = await (await page.request.get(`${api}policy/status`)).json()
    const files = Object.entries(sample).map(([name, text]) => ({
      name: name.slice('policies/'.length),
      text: name.endsWith('policy.csv') ? `${text}${line}` : text,
    }))
    const data = { files, message, over: head.revision }
    return (await (await page.request.post(`${api}policy/propose`, { data })).json()).revision
  }
  const first = await add('p, lead, /invoices, GET\n', 'leads read invoices')
  await expectDone(fleet.postern, 'policy', 'push', first, '--yes')
  const next = 'p, lead, /invoices, GET\np, clerk, /orders/:id, DELETE\n'
  const revision = await add(next, 'clerks delete orders')
  await page.context().close()
  return revision
}

import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../cli/policy-runner.ts'
import { findChromium } from '../support/browser.ts'
import {
  logInToConsole,
  openWatchedPage,
  startConsoleGateway,
  visit,
} from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

/** Runs if a page takes it for markup, wherever it comes from. */
const script = (from: string) => `<img src=x onerror=alert('${from}')>`

test.skipIf(program === undefined)('no page runs what others have stored', async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const rules = [
    `# ${script('comment')}`,
    'p, clerk, /orders, GET',
    `p, "${script('role')}", /orders, GET`,
    'p, clerk, /orders/%3Cimg/src=x%3E, GET',
    'g, lead, clerk',
  ].join('\n')
  const { 'config/postern.yaml': _, ...policies } = consoleFiles
  const files = { ...policies, 'policies/policy.csv': `${rules}\n` }
  const url = redis.url
  const settings = { redis: { url }, policy: { source: 'redis' } }
  const cwd = await folder({ ...files, 'config/postern.yaml': JSON.stringify(settings) })
  const push = ['policy', 'push', '-m', script('message'), '--yes', '--no-wait']
  const pushed = await runCommand([...push, 'policies'], { cwd })
  expect([pushed.code, pushed.code === 0 ? '' : pushed.err]).toEqual([0, ''])
  const gateway = await startConsoleGateway(files, {
    ...settings,
    logger: { enableddb: true },
    upstreams: { app: { targets: ['http://127.0.0.1:9'] } },
    routes: [{ path: '/orders', upstream: 'app' }],
    console: { enabled: true, port: 0, write: true, roles: { reader: ['clerk'] } },
  })
  onTestFinished(gateway.stop)
  const postern = async (...typed: string[]) => {
    const ran = await runCommand([...typed, '--config', gateway.configFile])
    expect([typed, ran.code, ran.code === 0 ? '' : ran.err]).toEqual([typed, 0, ''])
    return ran.out.trim()
  }
  await postern('role', 'add', 'clerk', '--name', script('name'), '--data-scope', 'self')
  const username = script('user')
  const password = await postern('user', 'add', username, '--role', 'clerk')
  const login = await fetch(`${gateway.address}api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': script('agent') },
    body: JSON.stringify({ username, password }),
  })
  expect(login.status).toBe(200)

  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const { page, problems } = await openWatchedPage(browser, gateway.address)
  await logInToConsole(page, gateway)
  const links = await page
    .locator('.side nav a')
    .evaluateAll((all) => all.map((each) => (each as unknown as { hash: string }).hash))
  expect(links.length).toBeGreaterThan(10)
  const named = (hash: string, name: string) => `${hash}${encodeURIComponent(name)}`
  let shown = ''
  for (const hash of [
    ...links,
    '#/who?method=GET&path=/orders',
    named('#/can?method=GET&path=/orders&role=', script('role')),
    named('#/role?role=', script('role')),
    named('#/people?name=', username),
    '#/roles?key=clerk',
    named('#/', script('page')),
  ]) {
    await visit(page, gateway.address, hash)
    shown += await page.locator('body').innerText()
    const found = await page.locator('img, script:not([src]), [onerror]').count()
    expect([hash, found]).toEqual([hash, 0])
  }
  for (const from of ['role', 'message', 'user', 'name']) {
    expect([from, shown.includes(`alert('${from}')`)]).toEqual([from, true])
  }
  expect(problems).toEqual([])
})

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { type ConsoleGateway, startConsoleGateway, visit } from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { expectShown, hasNoBrowser, walkConsole } from '../support/console-walk.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

describe.skipIf(hasNoBrowser)('the page Changes with all that it can show', () => {
  let redis: RedisServer | undefined
  const walk = walkConsole(async () => {
    redis = await startRedis()
    return startConsoleGateway(consoleFiles, {
      redis: { url: redis.url },
      policy: { source: 'redis' },
      jwt: { secret: testSecret },
      console: { enabled: true, port: 0, write: true },
      upstreams: { app: { targets: ['http://127.0.0.1:9'] } },
      routes: [{ path: '/orders', upstream: 'app' }],
    })
  })
  afterAll(() => redis?.stop())

  test('axe finds nothing in proposals, shadow, history and differences', async () => {
    const gateway = walk.gateway()
    const revisions = await publishAndPropose(gateway)
    await causeDisagreement(gateway)
    const { proposed, first, second } = revisions
    const looks = [
      { colorScheme: 'light', width: 360 },
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 1920 },
    ] as const
    const shown = {
      '#/changes': ['clerks may cancel', 'try it out', 'would deny', 'second'],
      [`#/changes?proposal=${proposed}`]: ['clerks may cancel', 'can be published'],
      [`#/changes?from=${first}&to=${second}`]: ['/orders'],
    }

    for (const { colorScheme, width } of looks) {
      const viewport = { width, height: 800 }
      const { page, problems } = await walk.loggedIn({ colorScheme, viewport })
      expect(await askedBeforeSession(page, `${gateway.address}#/changes`)).toEqual([
        ...['policy/history?limit=200', 'policy/proposals', 'policy/shadow', 'policy/status'],
      ])
      for (const [hash, texts] of Object.entries(shown)) {
        await visit(page, gateway.address, hash)
        const text = (await page.locator('main').textContent()) ?? ''
        for (const each of texts) expect(text.toLowerCase(), hash).toContain(each)
        await expectShown(page, hash)
      }
      expect(problems).toEqual([])
      await page.context().close()
    }
  })
})

/** What a page asks, if it asks all of it once and without knowing who is logged in. */
async function askedBeforeSession(page: Page, address: string): Promise<readonly string[]> {
  const asked: string[] = []
  // The page before may still be asking.
  await page.goto('about:blank')
  page.on('request', (request) => {
    const [, path] = request.url().split('/console/api/v1/policy/')
    if (path !== undefined) asked.push(`policy/${path}`)
  })
  const release = Promise.withResolvers<void>()
  await page.route('**/api/v1/session', async (route) => {
    await release.promise
    await route.continue()
  })
  await page.goto(address)
  await until(() => asked.length >= 4)
  release.resolve()
  await page.locator('main h1').waitFor()
  await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' })
  await page.unrouteAll({ behavior: 'wait' })
  return asked.toSorted()
}

/** Two live revisions, an open proposal and a shadow. */
async function publishAndPropose({ directory, configFile }: ConsoleGateway) {
  const file = join(directory, 'policies/policy.csv')
  const text = await readFile(file, 'utf8')
  async function postern(typed: readonly string[]) {
    const argv = ['policy', ...typed, '--config', configFile, '--output', 'json']
    const { code, out, err } = await runCommand(argv, { cwd: directory })
    expect([typed, code, code === 0 ? '' : err]).toEqual([typed, 0, ''])
    return JSON.parse(out)
  }
  await postern(['push', '-m', 'first', '--yes', '--no-wait'])
  await writeFile(file, `${text}p, lead, /orders/:id, GET\n`)
  await postern(['push', '-m', 'second', '--yes', '--no-wait'])
  await writeFile(file, `${text}p, clerk, /orders/:id, DELETE\n`)
  const proposed: string = (await postern(['propose', '-m', 'clerks may cancel'])).revision
  await writeFile(file, text.replace('p, lead, /orders, PUT', 'p, lead, /orders, PATCH'))
  await postern(['push', '-m', 'try it out', '--shadow', '--yes', '--no-wait'])
  const [second, first]: { revision: string }[] = await postern(['history'])
  return { first: first?.revision, second: second?.revision, proposed }
}

/** Calls that the shadow would deny, until the report has them. */
async function causeDisagreement({ publicPort, directory, configFile }: ConsoleGateway) {
  const headers = { Authorization: `Bearer ${tokenOf('lead')}` }
  await until(async () => {
    await fetch(`http://127.0.0.1:${publicPort}/orders`, { method: 'PUT', headers })
    const argv = ['policy', 'shadow', '--config', configFile, '--output', 'json']
    const { out } = await runCommand(argv, { cwd: directory })
    return JSON.parse(out).wouldDeny > 0
  })
}

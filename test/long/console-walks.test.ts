import { describe, expect, test } from 'vitest'
import { findChromium } from '../support/browser.ts'
import { callThrough, logInAt, startConsoleFleet } from '../support/console-fleet.ts'
import {
  enterPassword,
  press,
  propose,
  revisionsIn,
  typeInDialog,
  unexpected,
  walkFleet,
} from '../support/console-steps.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

/** Each walk uses the keyboard alone, on a fleet with real Redis and PostgreSQL. */
describe.skipIf(program === undefined)('a walk through the console', () => {
  const { fleet: running, loggedIn } = walkFleet(() =>
    startConsoleFleet({
      people: { ann: 'author', petra: 'admin', carl: 'clerk', cora: 'clerk', cleo: 'clerk' },
      config: {
        login: { failuresPerPair: 2, failuresPerAccount: 100 },
        refusals: { notPermittedCode: 403 },
      },
    }),
  )

  test('takes a change from proposal to rollback by two people', async () => {
    const fleet = running()
    const { token } = await logInAt(fleet.gateways[0], 'carl', fleet.passwords['carl'] ?? '')
    const mayPut = () =>
      Promise.all(fleet.gateways.map((each) => callThrough(each, 'PUT', '/orders', token)))
    const both = (code: number) => until(async () => (await mayPut()).every((x) => x === code))
    await both(403)

    const ann = await loggedIn('ann')
    const proposed = await propose(ann.page, fleet)
    expect(await mayPut()).toEqual([403, 403])
    await press(ann.page, 'Changes', proposed)
    await ann.page.getByText('Access widens').waitFor()
    // An author proposes and does not publish.
    expect(await ann.page.getByRole('button', { name: 'Publish' }).count()).toBe(0)

    const petra = await loggedIn('petra')
    fleet.moveClock()
    await press(petra.page, 'Changes', proposed, 'Publish')
    await typeInDialog(petra.page, proposed)
    await petra.page.keyboard.press('Enter')
    await enterPassword(petra.page, fleet.passwords['petra'] ?? '')
    await petra.page.getByText('2 of 2 use it').waitFor()
    await both(200)

    await petra.page.getByText('published by petra').waitFor()
    const [first = ''] = await revisionsIn(petra.page, 'the first policy')
    await press(petra.page, 'Roll back')
    await typeInDialog(petra.page, 'carl must not change orders')
    await petra.page.keyboard.press('Tab')
    await petra.page.keyboard.type(first)
    await petra.page.keyboard.press('Enter')
    const history = petra.page.getByRole('table', { name: 'History' })
    await history.getByText('carl must not change orders').waitFor()
    await both(403)

    expect(await history.locator('tbody tr').count()).toBe(3)
    await press(petra.page, 'Overview')
    const moves = petra.page.getByRole('table', { name: 'Policy changes' })
    await moves.getByText('published by petra').first().waitFor()
    await press(petra.page, 'Audit')
    const audit = petra.page.getByRole('table', { name: 'Audit' })
    const row = (action: string) => audit.locator('tbody tr', { hasText: action })
    await until(async () => {
      await petra.page.reload()
      await audit.waitFor()
      return (await row('policy.rollback').count()) === 1
    })
    expect(await row('policy.push').first().textContent()).toMatch(/petra.*\(console\).*ann/)
    expect(await row('policy.rollback').textContent()).toMatch(/petra.*\(console\)/)
    expect(unexpected([...ann.problems, ...petra.problems])).toEqual([])
  })

  test('unlocks a person who entered wrong passwords', async () => {
    const fleet = running()
    const [gateway] = fleet.gateways
    const attempt = async (password: string) => (await logInAt(gateway, 'cora', password)).code
    const codes = [await attempt('wrong'), await attempt('wrong'), await attempt('wrong')]
    expect(codes).toEqual([400, 400, 429])
    expect(await attempt(fleet.passwords['cora'] ?? '')).toBe(429)

    const { page, problems } = await loggedIn('petra')
    fleet.moveClock()
    await press(page, 'Login log', 'Unlock')
    await page.getByRole('dialog').waitFor()
    await press(page, 'Unlock')
    await enterPassword(page, fleet.passwords['petra'] ?? '')
    await page.getByText('Nothing is locked out.').waitFor()

    expect(await attempt(fleet.passwords['cora'] ?? '')).toBe(200)
    expect(unexpected(problems)).toEqual([])
  })

  test('ends the session of a person who is active', async () => {
    const fleet = running()
    const { token } = await logInAt(fleet.gateways[0], 'cleo', fleet.passwords['cleo'] ?? '')
    const calls = () =>
      Promise.all(fleet.gateways.map((each) => callThrough(each, 'GET', '/orders', token)))
    await until(async () => (await calls()).every((code) => code === 200))

    const { page, problems } = await loggedIn('petra')
    fleet.moveClock()
    await press(page, 'Sessions')
    const row = page.locator('tbody tr', { hasText: 'cleo' })
    await until(async () => {
      await page.reload()
      await page.getByRole('table').waitFor()
      return (await row.count()) === 1
    })
    await row.getByRole('button', { name: 'End' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await calls()).toEqual([200, 200])
    await press(page, 'End')
    await enterPassword(page, fleet.passwords['petra'] ?? '')
    await row.waitFor({ state: 'detached' })

    expect(await calls()).toEqual([401, 401])
    expect(unexpected(problems)).toEqual([])
  })
})

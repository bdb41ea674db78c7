import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { findChromium } from '../support/browser.ts'
import { callThrough, expectDone, logInAt, startConsoleFleet } from '../support/console-fleet.ts'
import {
  enterPassword,
  press,
  propose,
  typeInDialog,
  unexpected,
  walkFleet,
} from '../support/console-steps.ts'
import { testSigner } from '../support/policy-signers.ts'
import { remotePostern } from '../support/remote-postern.ts'
import { until } from '../support/until.ts'

const program = findChromium()
if (program === undefined) console.log('skipped: no Chromium found; set POSTERN_TEST_CHROMIUM')

/** Gateways that load only what two of their keys signed. */
describe.skipIf(program === undefined)('the console with policy.trust', () => {
  let keys: string
  const [ann, ben, eve] = ['ann', 'ben', 'eve'].map(testSigner)
  beforeAll(async () => {
    keys = await mkdtemp(join(tmpdir(), 'postern-keys-'))
    for (const [name, signer] of Object.entries({ ann, ben, eve })) {
      await writeFile(join(keys, `${name}.pem`), signer?.pem ?? '')
    }
    const config = {
      application: { mode: 'dev' },
      redis: { url: 'redis://127.0.0.1:1' },
      policy: { source: 'redis', trust: { keys: [ann?.line, ben?.line], signatures: 2 } },
    }
    await writeFile(join(keys, 'postern.yaml'), stringify(config))
  })
  afterAll(() => rm(keys, { recursive: true, force: true }))
  const { fleet: running, loggedIn } = walkFleet(() =>
    startConsoleFleet({
      people: { ann: 'author', petra: 'admin', carl: 'clerk' },
      config: {
        policy: {
          ...{ source: 'redis', pollSeconds: 1 },
          trust: { keys: [ann?.line, ben?.line], signatures: 2 },
        },
        refusals: { notPermittedCode: 403 },
      },
      files: { 'ann.pem': ann?.pem ?? '', 'ben.pem': ben?.pem ?? '' },
      publish: async (postern) => {
        const proposed = await expectDone(
          ...([postern, 'policy', 'propose', 'policies', '-m', 'the first policy'] as const),
          ...['--key', 'ann.pem', '--output', 'json'],
        )
        const { revision } = JSON.parse(proposed)
        await expectDone(postern, 'policy', 'approve', revision, '--key', 'ben.pem', '--yes')
        await expectDone(postern, 'policy', 'push', revision, '--yes', '--no-wait')
      },
    }),
  )

  test('publishes what two people signed with the command that the page shows', async () => {
    const fleet = running()
    const { token } = await logInAt(fleet.gateways[0], 'carl', fleet.passwords['carl'] ?? '')
    const mayPut = () =>
      Promise.all(fleet.gateways.map((each) => callThrough(each, 'PUT', '/orders', token)))
    await until(async () => (await mayPut()).every((code) => code === 403))

    const author = await loggedIn('ann')
    await press(author.page, 'Changes')
    await author.page.getByText('2 signatures are needed').waitFor()
    const revision = await propose(author.page, fleet)
    const { page, problems } = await loggedIn('petra')
    await press(page, 'Changes', revision)
    await page.getByText('2 more signatures are needed').waitFor()
    const publish = page.getByRole('button', { name: 'Publish' })
    expect(await publish.count()).toBe(0)

    const shown = await page.locator('code', { hasText: 'policy approve' }).textContent()
    // An approver has a key, an account, policy.trust and the address of the console, and cannot reach Redis.
    const machine = await remotePostern(fleet.address.replace(/\/console\/$/, ''))
    expect((await machine.logIn('ann', fleet.passwords['ann'] ?? '')).code).toBe(0)
    const signWith = (key: string) => {
      const [, ...args] = (shown ?? '').trim().replace('FILE', `${key}.pem`).split(' ')
      return machine.run([...args, '--yes'], { cwd: keys })
    }
    // A key that no configuration lists signs nothing.
    expect((await signWith('eve')).code).not.toBe(0)
    expect((await signWith('ann')).code).toBe(0)
    await page.reload()
    await page.getByText('1 of 2 (ann)').waitFor()
    await page.getByText('1 more signature is needed').waitFor()
    expect(await publish.count()).toBe(0)
    // One person is not two.
    expect((await signWith('ann')).code).not.toBe(0)
    // The API refuses what the page does not offer.
    const early = await page.request.post(`${fleet.address}api/v1/policy/push`, {
      data: { revision, confirm: revision },
    })
    expect(early.headers()['postern-exit-code']).toBe('1')
    expect(await early.text()).toContain('needs 1 more signature')
    expect(await mayPut()).toEqual([403, 403])

    expect((await signWith('ben')).code).toBe(0)
    await page.reload()
    await page.getByText('2 of 2 (ann, ben)').waitFor()
    fleet.moveClock()
    await press(page, 'Publish')
    await typeInDialog(page, revision)
    await page.keyboard.press('Enter')
    await enterPassword(page, fleet.passwords['petra'] ?? '')
    await page.getByText('2 of 2 use it').waitFor()
    await until(async () => (await mayPut()).every((code) => code === 200))
    const history = page.getByRole('table', { name: 'History' })
    const row = history.locator('tbody tr', { hasText: 'clerks change orders' })
    expect(await row.textContent()).toMatch(/ann, ben \(signed\).*published by petra/)
    expect(unexpected([...author.problems, ...problems])).toEqual([])
  })

  test('offers the commands for a rollback, which needs signatures too', async () => {
    const { page, problems } = await loggedIn('petra')
    await press(page, 'Changes', 'Roll back')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This needs 2 signatures.').waitFor()
    expect(await dialog.locator('code').allTextContents()).toEqual([
      expect.stringContaining('postern policy propose'),
    ])
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    expect(unexpected(problems)).toEqual([])
  })
})

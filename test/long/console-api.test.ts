import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { folder } from '../cli/policy-runner.ts'
import { compareAnswers } from '../support/compare-answers.ts'
import { startConsoleApi } from '../support/console-api.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { testRedis } from '../support/published-policies.ts'
import { runCommand } from '../support/run-command.ts'

describe('the management API answers as the commands do', () => {
  test('with the embedded database', async () => {
    const cwd = await folder(consoleFiles)
    await cp(inject('databaseTemplate'), join(cwd, 'data'), { recursive: true })

    await compareAnswers(await startConsoleApi({ cwd }), cwd)
  })

  test('with Redis and PostgreSQL', async () => {
    const cwd = await fleetFolder()

    await compareAnswers(await startConsoleApi({ cwd, config: 'config/postern.yaml' }), cwd)
  })
})

describe('a change through the management API', () => {
  test('goes from a draft to a proposal, live and back, in the name of its author', async () => {
    const cwd = await fleetFolder()
    const config = 'config/postern.yaml'
    const api = await startConsoleApi({ cwd, config })
    const live = async () => JSON.parse((await api.get('policy/status')).body).head.revision
    const first: string = await live()
    const files = Object.entries(consoleFiles)
      .filter(([name]) => name.startsWith('policies/'))
      .map(([name, text]) => ({ name: name.slice('policies/'.length), text }))
    const draft = files.map((file) => ({
      ...file,
      text: file.text.replace('p, lead, /orders, PUT', 'p, lead, /orders, DELETE'),
    }))
    const broken = [...draft, { name: 'broken.csv', text: 'p, clerk\n' }]

    const checked = await api.post('policy/check', { files: broken })
    const compared = await api.post('policy/diff', { files, from: 'live' })
    const proposed = await api.post('policy/propose', {
      files: draft,
      message: 'more',
      over: first,
    })
    const { revision } = JSON.parse(proposed.body)
    const wrong = await api.post('policy/push', { revision, confirm: first, 'no-wait': true })
    const still = await live()
    const pushed = await api.post('policy/push', { revision, confirm: revision, 'no-wait': true })
    const next = await live()
    const back = { revision: first, confirm: first, message: 'undo', 'no-wait': true }
    const rolled = await api.post('policy/rollback', back)

    expect([checked.status, JSON.parse(checked.body).errors[0].file]).toEqual([422, 'broken.csv'])
    expect([compared.status, compared.headers.get('postern-exit-code')]).toEqual([200, '0'])
    expect([proposed.status, proposed.headers.get('postern-exit-code')]).toEqual([200, '0'])
    expect([wrong.status, still]).toEqual([400, first])
    expect([pushed.status, next]).toEqual([200, revision])
    expect([rolled.status, await live()]).toEqual([200, first])
    const history = JSON.parse((await api.get('policy/history')).body)
    expect(history.map(({ author }: { author: string }) => author)).toEqual([
      'petra',
      'petra',
      'ada',
    ])
    const changes = await runCommand(['audit', 'list', '--output', 'json'], { cwd })
    expect(api.bugs).toEqual([])
    expect(changes.code).toBe(0)
  })

  test('is in the audit log with the person and their address', async () => {
    const cwd = await fleetFolder()
    const api = await startConsoleApi({ cwd, config: 'config/postern.yaml' })

    const added = await api.post('user/add', { name: 'ben', role: 'clerk' })
    const disabled = await api.post('user/disable', { name: 'ben', confirm: 'ben' })
    const smuggled = await api.post('user/role', {
      name: '--force',
      role: 'admin',
      confirm: '--force',
    })

    expect([added.status, disabled.status]).toEqual([200, 200])
    expect(JSON.parse(smuggled.body).errors[0].message).toContain('--force')
    const { out } = await runCommand(['audit', 'list', '--subject', 'ben', '--output', 'json'], {
      cwd,
    })
    const actor = { kind: 'user', name: 'petra', origin: '192.0.2.7 (console)' }
    expect(JSON.parse(out)).toMatchObject([
      { action: 'user.disable', actor },
      { action: 'user.add', actor },
    ])
  })
})

/** A directory whose configuration names a Redis and a PostgreSQL, with a policy and an account. */
async function fleetFolder(): Promise<string> {
  const redis = await testRedis()
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const cwd = await folder(consoleFiles)
  const file = join(cwd, 'config/postern.yaml')
  const settings = `redis: { url: '${redis.url}' }\npolicy: { source: redis }\ndatabase: { url: '${postgres.url}' }\n`
  await writeFile(file, `${await readFile(file, 'utf8')}${settings}`)
  for (const typed of [
    'db migrate',
    'role add clerk --name Clerk --data-scope 1',
    'user add ann --role clerk',
    'policy push -m first --yes --no-wait',
  ]) {
    const { code, err } = await runCommand(typed.split(' '), { cwd })
    expect([typed, code, code === 0 ? '' : err]).toEqual([typed, 0, ''])
  }
  return cwd
}

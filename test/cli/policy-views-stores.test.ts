import { readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { testRedis } from '../support/published-policies.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const config = `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes: [{ path: /orders, upstream: app }]
`

describe('a question about a policy', () => {
  test('is about the live revision, and names it', async () => {
    const redis = await testRedis()
    const cwd = await folder({
      'config/postern.yaml': `${config}redis: { url: '${redis.url}' }\npolicy: { source: redis }\n`,
      'policies/model.conf': model,
      'policies/policy.csv': 'p, clerk, /orders, GET\n',
      'other/model.conf': model,
      'other/policy.csv': 'p, clerk, /orders, PUT\n',
    })
    const asking = ['who', 'GET', '/orders']
    const nothing = await policy(asking, { cwd })
    const push = ['push', '-m', 'first', '--yes', '--no-tests', '--no-wait']
    expect((await policy(push, { cwd })).code).toBe(0)

    const live = await policy(asking, { cwd })
    const directory = await policy([...asking, '--policies', 'other'], { cwd })
    const [revision = ''] = /r-\w+/.exec(live.out) ?? []
    const named = await policy(['can', 'clerk', '--revision', revision.slice(0, 14)], { cwd })
    const missing = await policy(['matrix', '--revision', 'r-000000000000'], { cwd })

    expect(nothing).toMatchObject({ code: 5, err: 'postern: nothing is published yet\n' })
    expect(live.code).toBe(0)
    expect(live.out).toContain(`policy  live, ${revision}\n`)
    expect(live.out).toContain('clerk  policy.csv:1: p, clerk, /orders, GET\n')
    expect(directory.code).toBe(1)
    expect(directory.out).toContain('policy  other, r-')
    expect(named.out).toContain(`policy  ${revision}\n`)
    expect(missing).toMatchObject({ code: 5, out: '' })
    expect(missing.err).toMatch(/^postern: revision r-000000000000 does not exist/)
  })

  test('counts the accounts of each role through the gateway that has the database open', async () => {
    const cwd = await folder({
      'config/postern.yaml': config,
      'policies/model.conf': model,
      'policies/policy.csv': 'p, viewer, /orders, GET\np, clerk, /orders, GET\n',
    })
    const directory = join(cwd, 'data')
    await cp(inject('databaseTemplate'), directory, { recursive: true })
    const timeouts = { connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }
    const gateway = await openDatabase({ directory, poolSize: 1, ...timeouts })
    onTestFinished(() => gateway.close())
    const accounts = createAccountChanges(gateway, { kind: 'operator', name: 'ada', origin: '' })
    for (const username of ['ann', 'bob', 'eve']) {
      await accounts.add({ username, roleKey: 'viewer', passwordHash: '-' })
    }
    await accounts.setEnabled('eve', false)
    const before = await createAccountDirectory(gateway).list()

    const { code, out, err } = await policy(['who', 'GET', '/orders', '--accounts'], { cwd })

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('  ROLE    ACCOUNTS            RULE\n')
    expect(out).toContain('  admin   1                   needs no rule\n')
    expect(out).toContain('  clerk   0                   policies/policy.csv:2: ')
    expect(out).toContain('  viewer  2 (and 1 disabled)  policies/policy.csv:1: ')
    expect(await createAccountDirectory(gateway).list()).toEqual(before)
  })

  test('says why accounts could not be counted', async () => {
    const cwd = await folder({
      'config/postern.yaml': `${config}database: { url: 'postgres://127.0.0.1:1/none', connectTimeoutMs: 500 }\n`,
      'policies/model.conf': model,
      'policies/policy.csv': 'p, editor, /orders, GET\n',
    })

    const { code, out, err } = await policy(['who', 'GET', '/orders', '--accounts'], { cwd })

    expect(code).toBe(0)
    expect(out).not.toContain('ACCOUNTS')
    expect(err).toMatch(/^note: accounts are not counted: .+\n$/)
  })
})

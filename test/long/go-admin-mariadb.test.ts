import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tenants } from '../policy/domain-models.ts'
import { findMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const missing = findMariadb() === undefined
if (missing) console.warn('left out: following go-admin on MariaDB; mariadbd is not installed')

let server: MariadbServer
beforeAll(async () => {
  if (missing) return
  server = await startMariadb()
  await server.query('create database ga character set utf8mb4 collate utf8mb4_general_ci')
  await run(
    'create table casbin_rule (id bigint unsigned auto_increment primary key, ptype varchar(100), v0 varchar(100), v1 varchar(100), v2 varchar(100), v3 varchar(100), v4 varchar(100), v5 varchar(100))',
  )
})
afterAll(() => server?.stop())
const run = (text: string) => server.query(text, 'ga')
const add = (role: string, path: string) =>
  run(`insert into casbin_rule (ptype, v0, v1, v2) values ('p', '${role}', '${path}', 'GET')`)

test.skipIf(missing)('a gateway follows a table with domains on MariaDB', async () => {
  await run('delete from casbin_rule')
  const inDomain = (...values: readonly string[]) =>
    run(
      `insert into casbin_rule (ptype, v0, v1, v2, v3) values (${values.map((each) => `'${each}'`).join(', ')})`,
    )
  await inDomain('p', 'lead', 'north', '/orders/:id', 'GET')
  await inDomain('g', 'editor', 'lead', 'north', '')
  const postern = await startPostern({
    model: tenants,
    rules: ['stale, north, /x, GET'],
    config: {
      database: { url: server.urlOf('ga') },
      policy: {
        domain: { from: 'claim', claim: 'tenant' },
        follow: { database: true, intervalMs: 500 },
      },
    },
  })
  const rules = () => readFile(join(postern.policyDirectory, 'policy.csv'), 'utf8')
  expect(await rules()).toBe('g, editor, lead, north\np, lead, north, /orders/:id, GET\n')
  const isServed = async (tenant: string) => {
    const reached = postern.upstream.requests.length
    await postern.call('GET /orders/7', { token: tokenOf('editor', { tenant }) })
    return postern.upstream.requests.length > reached
  }
  expect(await isServed('north')).toBe(true)
  expect(await isServed('south')).toBe(false)

  await inDomain('g', 'editor', 'lead', 'south', '')
  await inDomain('p', 'lead', 'south', '/orders/:id', 'GET')
  await until(() => isServed('south'))
})

test.skipIf(missing)('a gateway follows a Casbin table on MariaDB', async () => {
  await run('delete from casbin_rule')
  await add('clerk', '/api/v1/dept')
  const postern = await startPostern({
    rules: ['stale, /x, GET'],
    config: {
      database: { url: server.urlOf('ga') },
      policy: { follow: { database: true, intervalMs: 500 } },
    },
  })
  const rules = () => readFile(join(postern.policyDirectory, 'policy.csv'), 'utf8')
  expect(await rules()).toBe('p, clerk, /api/v1/dept, GET\n')

  // To the collation of the table nothing changed.
  await run(`update casbin_rule set v0 = 'Clerk'`)
  await until(async () => (await rules()) === 'p, Clerk, /api/v1/dept, GET\n')

  await add('clerk', '/(a|b)')
  await until(() => postern.logText().includes('go-admin policy rejected'))
  await run(`delete from casbin_rule where v1 like '/(%'`)
  await add('clerk', '/api/v1/post')
  await until(async () => (await rules()).includes('/api/v1/post'))
  expect(postern.logText()).not.toContain('revocation list update failed')
})

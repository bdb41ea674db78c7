import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAdmission } from '../../src/admission/verdict.ts'
import { failingTests } from '../../src/answers/policy-tests.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { updateDirectory } from '../../src/stores/policies/follow/followed-directory.ts'
import { createFollower } from '../../src/stores/policies/follow/follower.ts'
import { watchCasbinTable } from '../../src/stores/policies/follow/table-fingerprint.ts'
import { folder } from '../cli/policy-runner.ts'
import { copiedDirectory, limits } from '../stores/test-databases.ts'
import { until } from '../support/until.ts'

const columns =
  'id serial primary key, ptype varchar(100), v0 varchar(100), v1 varchar(100), v2 varchar(100), v3 varchar(100)'
const model = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*")
`
const exclusions = '- { method: GET, path: /api/v1/mine, reason: "Ours." }\n'
const admission = createAdmission({
  routes: undefined,
  endpoints: { logout: 'gateway', profile: 'gateway', password: 'gateway', captchaAlias: false },
})

describe('a policy directory that follows a Casbin table', () => {
  let database: Database
  beforeAll(async () => {
    database = await openDatabase({ directory: await copiedDirectory(), ...limits })
  })
  afterAll(() => database.close())
  const run = async (...statements: readonly string[]) => {
    for (const statement of statements) await sql.raw(statement).execute(database.db)
  }
  const add = (line: string, table = 'casbin_rule') => {
    const [ptype, v0, v1, v2, v3 = ''] = line.split(', ')
    return `insert into ${table} (ptype, v0, v1, v2, v3) values ('${ptype}', '${v0}', '${v1}', '${v2}', '${v3}')`
  }
  beforeEach(async () => {
    await run(
      'drop table if exists casbin_rule',
      'drop table if exists sys_casbin_rule',
      `create table casbin_rule (${columns})`,
      add('p, clerk, /api/v1/dept, GET'),
      add('p, clerk, /api/v1/post, GET'),
    )
  })

  async function following(settleMs = 5) {
    const directory = await folder({
      'model.conf': model,
      'policy.csv': 'p, old, /x, GET\n',
      'exclusions.yaml': exclusions,
      'local.csv': 'p, clerk, /local, GET\n',
    })
    const lines: { readonly msg: string; readonly reason?: string }[] = []
    const log = {
      info: (fields: object, msg: string) => void lines.push({ ...fields, msg }),
      warn: (fields: object, msg: string) => void lines.push({ ...fields, msg }),
    }
    const follower = createFollower({
      table: watchCasbinTable(database.db),
      publish: (imported) =>
        updateDirectory(imported, {
          directory,
          shown: 'policies',
          failing: (set, tests) => failingTests(set, tests, admission),
        }),
      everyMs: 30,
      settleMs,
      log,
    })
    onTestFinished(() => follower.close())
    await follower.start()
    const rules = () => readFile(join(directory, 'policy.csv'), 'utf8')
    return { directory, lines, rules, follower }
  }
  const both = 'p, clerk, /api/v1/dept, GET\np, clerk, /api/v1/post, GET\n'

  test('takes over new rows and deletions, and keeps what is local', async () => {
    const { directory, lines, rules, follower } = await following()
    expect(await rules()).toBe(both)
    expect(lines.at(-1)).toMatchObject({ author: 'go-admin', added: 2, removed: 1, rows: 2 })
    const first = follower.state().revision

    await run(
      add('p, editor, /api/v1/dept/:id, PUT'),
      `delete from casbin_rule where v1 like '%post'`,
    )
    await until(async () => (await rules()).includes('editor'))

    expect(await rules()).toBe('p, clerk, /api/v1/dept, GET\np, editor, /api/v1/dept/:id, PUT\n')
    expect(await readFile(join(directory, 'exclusions.yaml'), 'utf8')).toBe(exclusions)
    expect(await readFile(join(directory, 'local.csv'), 'utf8')).toBe('p, clerk, /local, GET\n')
    expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([])
    await until(() => follower.state().revision !== first)
    expect(follower.state()).toMatchObject({ stopped: undefined, reloads: { ok: 2, failed: 0 } })
  })

  test('notices a row that changes in place, and a value that moves to another column', async () => {
    const table = watchCasbinTable(database.db)
    const seen = [await table.fingerprint()]
    for (const change of [`v2 = 'POST'`, `v0 = v1, v1 = v0`, `v0 = v1, v1 = v0, v2 = 'GET'`]) {
      await run(`update casbin_rule set ${change} where id = 1`)
      seen.push(await table.fingerprint())
    }
    expect(new Set(seen).size).toBe(3)
    expect(seen[3]).toBe(seen[0])
  })

  // go-admin deletes the rows of a role and inserts the new ones in other transactions.
  test('waits until a role is saved', async () => {
    const { rules, lines } = await following(400)
    await run(`delete from casbin_rule where v0 = 'clerk'`, add('p, other, /x, GET'))
    setTimeout(() => void run(add('p, clerk, /api/v1/dept, PUT')), 150)
    await until(async () => (await rules()).includes('other'))

    expect(await rules()).toBe('p, clerk, /api/v1/dept, PUT\np, other, /x, GET\n')
    expect(lines.filter(({ msg }) => msg.includes('published'))).toHaveLength(2)
  })

  test.each([
    ['is empty', ['delete from casbin_rule'], [add('p, a, /x, GET')], 'has no rows'],
    [
      'has a row that cannot be imported',
      [add('p, a, /(x|y), GET')],
      [`delete from casbin_rule where v0 = 'a'`],
      'cannot be imported',
    ],
    [
      'has a row that denies',
      [add('p, a, /x, GET, deny')],
      [`delete from casbin_rule where v0 = 'a'`],
      'cannot be imported',
    ],
    [
      'is gone',
      ['alter table casbin_rule rename to elsewhere'],
      ['alter table elsewhere rename to casbin_rule'],
      /does not exist|no table/,
    ],
  ])(
    'stops when the table %s, and goes on when it is right again',
    async (_, wrong, right, words) => {
      const { rules, lines, follower } = await following()
      await run(...wrong)
      await until(() => follower.state().stopped !== undefined)

      expect(follower.state().stopped).toMatch(words)
      expect(await rules()).toBe(both)
      expect(lines.at(-1)).toMatchObject({
        msg: 'go-admin policy rejected; keeping the last good revision',
        reason: expect.stringMatching(words),
      })

      await run(...right)
      await until(() => follower.state().stopped === undefined)
      expect(lines.some(({ msg }) => msg === 'go-admin policy recovered')).toBe(true)
    },
  )

  test('stops when both tables have rows', async () => {
    await run(
      `create table sys_casbin_rule (${columns})`,
      add('p, old, /x, GET', 'sys_casbin_rule'),
    )
    const { rules, follower } = await following()
    expect(follower.state().stopped).toContain('both casbin_rule and sys_casbin_rule contain rows')
    expect(await rules()).toBe('p, old, /x, GET\n')
  })

  // A soft-deleted row would grant what go-admin no longer grants.
  test('stops when a column has an unknown meaning', async () => {
    await run('alter table casbin_rule add column deleted_at timestamptz')
    const { rules, follower } = await following()
    expect(follower.state().stopped).toContain('columns of unknown meaning: deleted_at')
    expect(await rules()).toBe('p, old, /x, GET\n')
  })

  test('stops when a test of the directory fails', async () => {
    const { directory, rules, follower } = await following()
    await mkdir(join(directory, 'tests'))
    const line = '- { role: clerk, method: DELETE, path: /api/v1/dept, expect: deny }\n'
    await writeFile(join(directory, 'tests/clerk_test.yaml'), line)
    await run(add('p, clerk, /api/v1/dept, DELETE'))
    await until(() => follower.state().stopped !== undefined)

    expect(follower.state().stopped).toContain('test failed: clerk DELETE /api/v1/dept')
    expect(await rules()).toBe(both)
  })
})

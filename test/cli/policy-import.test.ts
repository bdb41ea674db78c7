import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { withForeignDatabase } from '../../src/stores/policies/casbin-rows.ts'
import { tenants } from '../policy/domain-models.ts'
import { policyFiles, shippedModel } from '../policy/policy-text.ts'
import { copiedDirectory, limits } from '../stores/test-databases.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { folder, policy } from './policy-runner.ts'

const columns =
  'id serial primary key, ptype varchar(100), v0 varchar(100), v1 varchar(100), v2 varchar(100), v3 varchar(100), v4 varchar(100), v5 varchar(100)'

/** What a go-admin database has: (role, path, method), the rest empty. */
const rows = (...lines: readonly string[]) =>
  lines.map((line) => {
    const [ptype = '', v0 = '', v1 = '', v2 = '', v3 = '', v4 = ''] = line.split(', ')
    return `('${ptype}', '${v0}', '${v1}', '${v2}', '${v3}', '${v4}', '')`
  })
const insert = (table: string, ...lines: readonly string[]) =>
  `insert into ${table} (ptype, v0, v1, v2, v3, v4, v5) values ${rows(...lines).join(', ')}`

const inDomains = [
  'p, lead, north, /orders/:id, GET',
  'p, lead, south, /orders/:id, PUT',
  'g, ann, lead, north',
]
const tenantTable =
  'g, ann, lead, north\np, lead, north, /orders/:id, GET\np, lead, south, /orders/:id, PUT\n'

async function writeFolder(directory: string, modelText: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const { name, text } of policyFiles({ modelText, lines: ['# postern: empty'] })) {
    await writeFile(join(directory, name), text)
  }
}

describe('postern policy import database', () => {
  let database: Database
  let config: string
  beforeAll(async () => {
    const directory = await copiedDirectory()
    database = await openDatabase({ directory, ...limits })
    config = `application: { mode: dev, dataDirectory: '${directory}' }\n`
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    for (const table of ['casbin_rule', 'sys_casbin_rule']) {
      await sql.raw(`drop table if exists ${table}`).execute(database.db)
    }
  })

  async function given(...statements: readonly string[]): Promise<string> {
    for (const statement of statements) await sql.raw(statement).execute(database.db)
    return folder({ 'x.yaml': config })
  }
  const run = (cwd: string, ...args: readonly string[]) =>
    policy(['import', 'database', 'imported', '--config', 'x.yaml', ...args], { cwd })

  test('writes a directory that can be used, business endpoints as comments', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert(
        'casbin_rule',
        'p, editor, /api/v1/sys-user/:id, GET',
        'p, clerk, /api/v1/dept, POST',
        'p, clerk, /api/v1/dept, POST',
      ),
    )

    const { code, out, err } = await run(cwd)
    const checked = await policy(['check', 'imported'], { cwd })

    expect(code).toBe(0)
    expect(out).toMatch(/^imported: r-[0-9a-f]{32}, imported 3 of 3 rows\n$/)
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(
      'p, clerk, /api/v1/dept, POST\np, editor, /api/v1/sys-user/:id, GET\n',
    )
    expect(err).toMatch(/^warning: GET \/api\/v1\/dict\/type-option-select is commented out/)
    expect(err).toContain('PUT /api/v1/sys-user')
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('13 exclusions') })
    const exclusions = await readFile(join(cwd, 'imported/exclusions.yaml'), 'utf8')
    expect(exclusions).toContain('\n# - method: PUT\n#   path: /api/v1/sys-user\n')
  })

  test('takes business endpoints over as entries when told to, and check doubts them', async () => {
    const cwd = await given(
      `create table sys_casbin_rule (${columns}, v6 varchar(100), v7 varchar(100))`,
      insert('sys_casbin_rule', 'p, clerk, /api/v1/sys-user, GET'),
    )

    const { code, err } = await run(cwd, '--all-exclusions')
    const checked = await policy(['check', 'imported'], { cwd })

    expect(code).toBe(0)
    expect(err).toContain('warning: PUT /api/v1/sys-user is excluded: it changes any account')
    expect(checked.code).toBe(0)
    expect(checked.err).toMatch(
      /warning: PUT \/api\/v1\/sys-user is excluded, but imported\/policy\.csv:1 has a rule/,
    )
  })

  test('takes rows with a domain over, and says what the configuration needs', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', ...inDomains, 'p, clerk, /api/v1/x, GET'),
    )

    const { code, out, err } = await run(cwd)

    expect(out).toContain('imported 3 of 4 rows')
    expect(err).toContain('skipped: the row has no domain, but other rows have')
    expect(err).toContain('note: the rows have a domain: compare model.conf')
    expect(code).toBe(1)
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(tenantTable)
    expect(await readFile(join(cwd, 'imported/model.conf'), 'utf8')).toContain('g = _, _, _\n')
    const who = await policy(
      ['who', 'GET', '/orders/7', '--policies', 'imported', '--domain', 'north'],
      {
        cwd,
      },
    )
    expect(who.out).toContain('ann')
  })

  test('updates a directory whose model says what a domain means', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', ...inDomains, 'p, lead, *, /help, GET'),
    )
    const files = (modelText: string) => writeFolder(join(cwd, 'imported'), modelText)

    await files(tenants)
    expect((await run(cwd, '--update')).err).toContain('the domain "*" counts only for')
    await files(tenants.replace('r.dom == p.dom', '(r.dom == p.dom || p.dom == "*")'))
    expect(await run(cwd, '--update')).toMatchObject({ code: 0, err: '' })
    await files(formatModel(shippedModel))
    expect(await run(cwd, '--update')).toMatchObject({
      code: 3,
      err: expect.stringContaining('the rows have a domain, but the model has none'),
    })
  })

  test('lists rows that cannot be imported, with the reason, and takes the others', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert(
        'casbin_rule',
        'p, clerk, /api/v1/dept, GET',
        'p, clerk, /api/(dept|post), GET',
        'p, clerk, /api/v1/x, get',
        'p, clerk, api/v1/x, GET',
        'p, , /api/v1/x, GET',
        'p2, clerk, /api/v1/x, GET',
        'g, alice, clerk',
      ),
    )

    const { code, out, err } = await run(cwd)

    expect(code).toBe(1)
    expect(out).toContain('imported 1 of 7 rows')
    expect(err.match(/: skipped: /g)).toHaveLength(6)
    expect(err).toContain('(p, clerk, /api/(dept|post), GET)')
    expect(err).toContain('"g" is not defined in the model')
  })

  test.each([
    ['a row denies and cannot be imported', 3, ['p, a, /x, GET', 'p, a, /x/y, GET, deny']],
    ['there are no rows', 1, []],
  ])('writes nothing when %s', async (_, code, lines) => {
    const filled = lines.length === 0 ? [] : [insert('casbin_rule', ...lines)]
    const cwd = await given(`create table casbin_rule (${columns})`, ...filled)

    const ran = await run(cwd)

    expect(ran).toMatchObject({ code, out: '' })
    expect(await readdir(cwd)).toEqual(['x.yaml'])
  })

  test('asks which table is in use when both have rows', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      `create table sys_casbin_rule (${columns})`,
      insert('casbin_rule', 'p, new, /x, GET'),
      insert('sys_casbin_rule', 'p, old, /x, GET'),
    )

    const unsure = await run(cwd)
    const sure = await run(cwd, '--table', 'sys_casbin_rule')

    expect(unsure).toMatchObject({ code: 3, err: expect.stringContaining('--table') })
    expect(sure.code).toBe(0)
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe('p, old, /x, GET\n')
  })

  test('says that there is no such table', async () => {
    const { code, err } = await run(await given())

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('no table casbin_rule') })
  })

  test('leaves a directory that has something in it alone', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', 'p, a, /x, GET'),
    )
    await mkdir(join(cwd, 'imported'))
    await writeFile(join(cwd, 'imported/notes'), 'mine')

    const { code, err } = await run(cwd)

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('is not empty') })
    expect(await readdir(join(cwd, 'imported'))).toEqual(['notes'])
  })

  test('--update replaces the rules and keeps model, exclusions, other tables and tests', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', 'p, clerk, /api/v1/dept, GET', 'p, clerk, /api/v1/post, GET'),
    )
    await run(cwd)
    const own = {
      'exclusions.yaml': '- { method: GET, path: /api/v1/mine, reason: "Ours." }\n',
      'local.csv': 'p, clerk, /local, GET\n',
      'tests/clerk_test.yaml': '- { role: clerk, method: GET, path: /local, expect: allow }\n',
    }
    await mkdir(join(cwd, 'imported/tests'))
    for (const [name, text] of Object.entries(own))
      await writeFile(join(cwd, 'imported', name), text)
    const model = await readFile(join(cwd, 'imported/model.conf'), 'utf8')
    await given(
      `delete from casbin_rule where v1 = '/api/v1/post'`,
      insert('casbin_rule', 'p, editor, /api/v1/dept, GET'),
    )

    const { code, out, err } = await run(cwd, '--update')

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(
      'imported 2 of 2 rows: 1 line added, 1 removed; kept the rules in imported/local.csv\n',
    )
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(
      'p, clerk, /api/v1/dept, GET\np, editor, /api/v1/dept, GET\n',
    )
    for (const [name, text] of Object.entries({ ...own, 'model.conf': model })) {
      expect(await readFile(join(cwd, 'imported', name), 'utf8')).toBe(text)
    }
    expect((await readdir(join(cwd, 'imported'))).sort()).toEqual([
      'exclusions.yaml',
      'local.csv',
      'model.conf',
      'policy.csv',
      'tests',
    ])
  })

  test('--update writes nothing into a directory that is missing, or not valid with the rules', async () => {
    const cwd = await given(
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', 'p, clerk, /api/v1/dept, GET'),
    )

    const missing = await run(cwd, '--update')
    await run(cwd)
    await writeFile(join(cwd, 'imported/exclusions.yaml'), '- nonsense\n')
    await given(insert('casbin_rule', 'p, clerk, /api/v1/post, GET'))
    const broken = await run(cwd, '--update')
    const both = await run(cwd, '--update', '--all-exclusions')

    expect(missing).toMatchObject({
      code: 3,
      err: expect.stringContaining('imported: cannot be read'),
    })
    expect(broken).toMatchObject({ code: 3, err: expect.stringContaining('exclusions.yaml') })
    expect(both.code).toBe(2)
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(
      'p, clerk, /api/v1/dept, GET\n',
    )
  })
})

describe('postern policy import from PostgreSQL', () => {
  test('reads the table and makes nothing in the database', async () => {
    const server = await startPostgres()
    const options = { ...limits, url: server.url }
    const statements = [
      `create table casbin_rule (${columns})`,
      insert('casbin_rule', ...inDomains),
    ]
    await withForeignDatabase(options, async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db)
    })
    const cwd = await folder()

    const { code, out } = await policy(['import', 'database', 'imported', '--output', 'json'], {
      cwd,
      env: { POSTERN_DATABASE__URL: server.url },
    })
    const tables = await withForeignDatabase(options, async (db) => {
      const found = sql<{
        name: string
      }>`select tablename as name from pg_tables where schemaname = 'public'`
      return (await found.execute(db)).rows
    })
    await server.stop()

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ directory: 'imported', rows: 3, taken: 3, leftOut: [] })
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(tenantTable)
    expect(tables).toEqual([{ name: 'casbin_rule' }])
  })
})

describe('postern policy import redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  async function run(value: string | undefined, ...args: readonly string[]) {
    await redis.client.flushall()
    if (value !== undefined) await redis.client.set('policies', value)
    const cwd = await folder()
    const env = { POSTERN_REDIS__URL: redis.url }
    return { cwd, ...(await policy(['import', 'redis', 'imported', ...args], { cwd, env })) }
  }

  test('takes rules, inheritances and effects over, with the public endpoints excluded', async () => {
    const kept = [
      { ptype: 'p', v0: 'clerk', v1: '/orders', v2: 'GET' },
      { ptype: 'p', v0: 'clerk', v1: '/orders/:id', v2: '*', v3: 'deny' },
      { ptype: 'g', v0: 'lead', v1: 'clerk' },
    ]

    const { cwd, code, out } = await run(JSON.stringify(kept))
    const checked = await policy(['check', 'imported'], { cwd })

    expect(code).toBe(0)
    expect(out).toContain('imported 3 of 3 rows')
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(
      'g, lead, clerk\np, clerk, /orders, GET\np, clerk, /orders/:id, *, deny\n',
    )
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('4 exclusions') })
  })

  test.each([
    ['is not JSON', '[{"ptype":', 3, 'is not the JSON array'],
    ['is no array', '{}', 3, 'is not the JSON array'],
    ['is an array of something else', '[["p"]]', 3, 'is not the JSON array'],
    ['is not there', undefined, 5, 'Redis has no key "policies"'],
    [
      'has a list for a value',
      '[{"ptype":"p","v0":["a"],"v1":"/x","v2":"GET"}]',
      3,
      'is not the JSON array',
    ],
    [
      'has an object for a value',
      '[{"ptype":"p","v0":{},"v1":"/x","v2":"GET"}]',
      3,
      'is not the JSON array',
    ],
    ['is empty', '[]', 1, 'no rows'],
    [
      'has rules with a domain, and one without that denies',
      '[{"ptype":"p","v0":"a","v1":"/x","v2":"GET","v3":"deny"},{"ptype":"p","v0":"a","v1":"north","v2":"/x","v3":"GET","v4":"deny"}]',
      3,
      'policies[0]: skipped: the row has no domain, but other rows have',
    ],
    [
      'has a circle of roles',
      '[{"ptype":"g","v0":"a","v1":"b"},{"ptype":"g","v0":"b","v1":"a"}]',
      3,
      'already inherits',
    ],
  ])('writes nothing when the key %s', async (_, value, code, words) => {
    const ran = await run(value)

    expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(words) })
    expect(await readdir(ran.cwd)).toEqual([])
  })

  test('takes domains over, with inheritance in every domain and effects', async () => {
    const kept = [
      { ptype: 'p', v0: 'lead', v1: 'north', v2: '/orders', v3: 'GET' },
      { ptype: 'p', v0: 'lead', v1: 'north', v2: '/orders/:id', v3: '*', v4: 'deny' },
      { ptype: 'g', v0: 'ann', v1: 'lead' },
    ]

    const { cwd, code, out } = await run(JSON.stringify(kept))
    const model = await readFile(join(cwd, 'imported/model.conf'), 'utf8')

    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('3 of 3 rows') })
    expect(model).toContain('p = sub, dom, obj, act, eft\n')
    expect(model).toContain('g = _, _\n')
    expect(await policy(['check', 'imported'], { cwd })).toMatchObject({ code: 0 })
  })

  test('warns that the domain "*" is compared literally', async () => {
    const kept = [{ ptype: 'p', v0: 'lead', v1: '*', v2: '/orders', v3: 'GET' }]

    const { code, err } = await run(JSON.stringify(kept))

    expect(code).toBe(1)
    expect(err).toContain('warning: policies[0]: the domain "*" counts only for requests whose')
  })

  test('leaves out a role that is inherited in one domain only', async () => {
    const kept = [
      { ptype: 'p', v0: 'lead', v1: '/orders', v2: 'GET' },
      { ptype: 'g', v0: 'ann', v1: 'lead', v2: 'north' },
    ]

    const { cwd, code, err } = await run(JSON.stringify(kept))

    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('has a domain') })
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe('p, lead, /orders, GET\n')
  })

  // Read literally, a deny of casbin's leaves open what its regular expression closed.
  test.each(['/files/a.b', '/files/a:b', '/files/ab*'])(
    'warns that a deny of %s denies less',
    async (path) => {
      const kept = [
        { ptype: 'p', v0: 'clerk', v1: '/files/*', v2: 'GET', v3: 'allow' },
        { ptype: 'p', v0: 'clerk', v1: path, v2: 'GET', v3: 'deny' },
      ]

      const { code, out, err } = await run(JSON.stringify(kept), '--output', 'json')

      expect(code).toBe(1)
      expect(JSON.parse(out)).toMatchObject({ taken: 2, leftOut: [] })
      expect(err).toContain('warning: policies[1]: denies less than before')
    },
  )

  // A value with a comma or a line end must not become another column or another line.
  test('does not let a value break out of its column', async () => {
    const kept = [
      { ptype: 'p', v0: 'a, /*, GET', v1: '/x', v2: 'GET' },
      { ptype: 'p', v0: 'b\np, b, /*, *', v1: '/x', v2: 'GET' },
      { ptype: 'p', v0: 'c"', v1: '/x', v2: 'GET' },
    ]

    const { cwd, code } = await run(JSON.stringify(kept))

    expect(code).toBe(1)
    expect(await readFile(join(cwd, 'imported/policy.csv'), 'utf8')).toBe(
      'p, "a, /*, GET", /x, GET\n',
    )
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { findMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'
import { until } from '../support/until.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const limits = { directory: '', poolSize: 2, connectTimeoutMs: 5000, statementTimeoutMs: 5000 }

describe.skipIf(findMariadb() === undefined)('postern db migrate on MariaDB', () => {
  let server: MariadbServer
  let databases = 0
  let root: string
  beforeAll(async () => {
    server = await startMariadb()
    root = await mkdtemp(join(tmpdir(), 'postern-migrate-'))
  })
  afterAll(async () => {
    await server.stop()
    await rm(root, { recursive: true, force: true })
  })

  async function empty(): Promise<string> {
    const name = `shop_${databases++}`
    await server.query(`create database ${name}`)
    return name
  }

  /** Begins `postern db migrate` in a process of its own. */
  async function begin(url: string) {
    const directory = await mkdtemp(join(root, 'run-'))
    const secret = 'a secret of the test that is long enough for anybody'
    const settings = JSON.stringify({ jwt: { secret }, database: { url } })
    await writeFile(join(directory, 'postern.yaml'), settings)
    const args = [main, 'db', 'migrate', '--config', 'postern.yaml']
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_')),
    )
    const child = spawn(process.execPath, args, { cwd: directory, env })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const ended = once(child, 'close')
    return {
      kill: () => child.kill('SIGKILL'),
      result: async () => ({ code: (await ended)[0] as number | null, out, err }),
    }
  }
  const migrate = async (url: string) => (await begin(url)).result()

  /** Every table, column, index and trigger, and the first roles. */
  async function contentOf(name: string): Promise<unknown> {
    const of = (columns: string, table: string, schema: string) =>
      server.query(
        `select ${columns} from information_schema.${table} where ${schema} = '${name}' order by 1, 2, 3, 4`,
      )
    const column =
      'table_name, column_name, column_type, is_nullable, column_default, collation_name, generation_expression'
    const index = 'table_name, index_name, seq_in_index, column_name, non_unique'
    const trigger = 'trigger_name, event_object_table, event_manipulation, action_statement'
    return {
      columns: await of(column, 'columns', 'table_schema'),
      indexes: await of(index, 'statistics', 'table_schema'),
      triggers: await of(trigger, 'triggers', 'trigger_schema'),
      roles: await server.query('select role_id, role_key from sys_role order by 1', name),
      migrations: await server.query('select name from postern_migration order by 1', name),
    }
  }

  let expected: unknown
  let order: readonly string[]
  beforeAll(async () => {
    const name = await empty()
    const { code, out } = await migrate(server.urlOf(name))
    expect(code).toBe(0)
    const made = Array.from(out.matchAll(/^created table (\w+)$/gm), ([, table = '']) => table)
    const first = ['postern_lock', 'postern_migration']
    order = [...first, ...made.filter((table) => !first.includes(table))]
    expected = await contentOf(name)
    expect(await migrate(server.urlOf(name))).toEqual({
      ...{ code: 0, out: 'all tables exist and match\n', err: '' },
    })
    expect(await contentOf(name)).toEqual(expected)
  })

  test('by two processes at once makes everything once', async () => {
    const name = await empty()
    const both = await Promise.all([begin(server.urlOf(name)), begin(server.urlOf(name))])

    const results = await Promise.all(both.map(({ result }) => result()))

    expect(results.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(await contentOf(name)).toEqual(expected)
  })

  test('goes on where it was killed', async () => {
    const name = await empty()
    const first = await begin(server.urlOf(name))
    const count = async () => (await server.query('show tables', name)).length
    await until(async () => (await count()) > 3)
    first.kill()
    await first.result()
    expect(await count()).toBeGreaterThan(3)

    expect(await migrate(server.urlOf(name))).toMatchObject({ code: 0, err: '' })

    expect(await contentOf(name)).toEqual(expected)
  })

  test('goes on wherever it was interrupted: each statement commits by itself', async () => {
    const name = await empty()
    await migrate(server.urlOf(name))
    for (const at of order.keys()) {
      const rest = order.slice(at)
      await server.query(`drop table ${rest.join(', ')}`, name)
      const names = rest.map((table) => `'create ${table}'`).join(', ')
      if (!rest.includes('postern_migration')) {
        await server.query(`delete from postern_migration where name in (${names})`, name)
      }
      const database = await openDatabase({ url: server.urlOf(name), ...limits })
      await database.close()
    }
    await migrate(server.urlOf(name))

    expect(await contentOf(name)).toEqual(expected)
  })

  test('by a user without the right to create tables says which are missing, and what to do', async () => {
    const name = await empty()
    await server.query(`create user weak@'127.0.0.1'`)
    await server.query(`grant select, insert, update, delete on ${name}.* to weak@'127.0.0.1'`)
    const url = server.urlOf(name, 'weak')

    const denied = await migrate(url)
    expect([denied.code, denied.out]).toEqual([5, ''])
    expect(denied.err).toMatch(/CREATE command denied/)
    expect(await server.query('show tables', name)).toEqual([])

    await migrate(server.urlOf(name))
    expect(await migrate(url)).toEqual({ code: 0, out: 'all tables exist and match\n', err: '' })
    await server.query('drop table postern_session', name)
    const optional = await migrate(url)
    expect(optional.code).toBe(5)
    expect(optional.err).toMatch(/^postern: table postern_session is still missing: run this/)
  })
})

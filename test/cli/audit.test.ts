import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordChange } from '../../src/stores/audit/audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { tableOf } from '../../src/stores/database/dialect.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

const ada = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

describe('postern audit list', () => {
  let directory: string
  /** A gateway's: as long as it is open, every command works through it. */
  let gateway: Database

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-audit-'))
    const { database, settings } = await seededDatabase(directory)
    gateway = database
    const secret = 'a secret of the test that is long enough for anybody'
    await writeFile(join(directory, 'postern.yaml'), `jwt: { secret: ${secret} }\n${settings}`)
    await recordChange(gateway, {
      ...{ actor: ada, action: 'user.role', subject: 'alice' },
      before: { roleKey: 'editor' },
      after: { roleKey: 'viewer' },
    })
    await recordChange(gateway, {
      actor: { kind: 'user', name: 'alice', origin: '192.0.2.7' },
      ...{ action: 'user.password', subject: 'alice' },
    })
    await recordChange(gateway, {
      actor: { kind: 'gateway', name: 'postern', origin: 'pod-1' },
      ...{ action: 'keys.load', subject: '\u001b[31mkeys' },
      before: { kids: ['a'], signer: null, unchanged: [1] },
      after: { kids: ['a', 'b'], signer: 'b', unchanged: [1] },
    })
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  function list(...args: readonly string[]) {
    return runCommand(['audit', 'list', ...args, '--config', 'postern.yaml'], { cwd: directory })
  }

  test('prints a table, newest first, without control characters', async () => {
    const { code, out, err } = await list('--limit', '3')

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replaceAll(/\d{4}-[-\dT:.]+Z/g, 'TIME').replaceAll(/ +/g, ' ')).toBe(
      `AT BY FROM ACTION SUBJECT CHANGE
TIME postern (gateway) pod-1 keys.load \\u{1b}[31mkeys kids a -> a, b; signer null -> b
TIME alice (user) 192.0.2.7 user.password alice
TIME ada host-1 user.role alice roleKey editor -> viewer
`,
    )
  })

  test('prints one JSON document, or a line for each entry', async () => {
    const one = await list('--output', 'json', '--actor', 'ada')
    const lines = await list('--output', 'jsonl', '--subject', 'alice')

    expect(JSON.parse(one.out)).toEqual([
      {
        ...{ id: expect.any(String), at: expect.stringMatching(/Z$/), actor: ada },
        ...{ action: 'user.role', subject: 'alice' },
        before: { roleKey: 'editor' },
        after: { roleKey: 'viewer' },
      },
    ])
    expect(
      lines.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).action),
    ).toEqual(['user.password', 'user.role'])
  })

  test('says that nothing was found, and prints an empty list as JSON', async () => {
    expect(await list('--subject', 'zed')).toEqual({
      code: 0,
      out: '',
      err: 'no changes recorded\n',
    })
    expect(await list('--subject', 'zed', '--output', 'json')).toMatchObject({ out: '[]\n' })
  })

  test.each([
    [['--action', 'user.rol'], '--action: "user.rol" is not valid', 'did you mean user.role?'],
    [['--action', 'user.banana'], '--action: "user.banana" is not valid', 'use user.add, user.'],
    [['--action', 'banana'], '--action: "banana" is not valid', 'use role, user, login, '],
    [['--since', 'monday'], '--since: "monday" is not a duration', 'such as 30m, 1h or 7d'],
    [['--limit', '0'], '--limit: "0" is not a whole number', 'of at least 1'],
  ])('%j is bad usage', async (args, what, hint) => {
    const { code, err } = await list(...args)

    expect(code).toBe(2)
    expect(err).toContain(what)
    expect(err).toContain(hint)
  })

  test('has the keys that commands generate and choose', async () => {
    const run = (...args: readonly string[]) =>
      runCommand([...args, '--config', 'postern.yaml'], { cwd: directory, userName: 'kim' })
    const generated = await run('keys', 'generate', '--out', 'keys', '--kid', 'k1')
    const used = await run('keys', 'use', 'k1', 'keys')

    const { out } = await list('--actor', 'kim', '--output', 'json')

    expect([generated, used]).toMatchObject([{ code: 0 }, { code: 0 }])
    expect(`${generated.err}${used.err}`).not.toContain('not recorded')
    expect(JSON.parse(out)).toMatchObject([
      {
        ...{ action: 'keys.use', subject: 'k1', before: { signer: null } },
        after: { signer: 'k1', directory: 'keys' },
      },
      {
        actor: { kind: 'operator', name: 'kim', origin: hostname() },
        ...{ action: 'keys.generate', subject: 'k1', before: null },
        after: { algorithm: 'ES256', directory: 'keys' },
      },
    ])
  })

  test('says when a key could not be recorded', async () => {
    const cwd = join(directory, 'elsewhere')
    await mkdir(cwd)

    const { code, err } = await runCommand(['keys', 'generate', '--out', 'keys'], { cwd })

    expect(code).toBe(0)
    expect(err).toContain(
      '\nnote: not recorded in the audit log: postern.yaml: configuration file does not exist; fix it, or name the configuration of the gateway with --config\n',
    )
  })

  test('creates no database where none exists', async () => {
    if (gateway.kind !== 'embedded') return
    const { code, err } = await runCommand(
      ['audit', 'list', '--config', join(directory, 'postern.yaml')],
      { cwd: tmpdir() },
    )

    expect(code).toBe(5)
    expect(err).toContain('has no embedded database')
  })

  test('reads more than a page', async () => {
    const names = Array.from({ length: 2500 }, (_, at) => ({ name: String(at + 1) }))
    await sql`
      insert into postern_audit (actor_kind, actor, origin, action, subject)
      select 'operator', 'many', 'h', 'user.add', name
      from ${tableOf('names', { name: 'text' }, names)}`.execute(gateway.db)

    const { out } = await list('--actor', 'many', '--limit', '2200', '--output', 'jsonl')

    const subjects = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).subject)
    expect([subjects.length, subjects[0], subjects.at(-1)]).toEqual([2200, '2500', '301'])
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AttemptOutcome, loginOutcomes, toRecord } from '../../src/login/login-record.ts'
import { loginList } from '../../src/operations/logins/descriptions.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createLoginLogTable } from '../../src/stores/login-log/login-log-table.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000)

describe('postern login list', () => {
  let directory: string
  /** A gateway's: as long as it is open, every command works through it. */
  let gateway: Database

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-logins-'))
    const { database, settings } = await seededDatabase(directory)
    gateway = database
    const secret = 'a secret of the test that is long enough for anybody'
    await writeFile(join(directory, 'off.yaml'), `jwt: { secret: ${secret} }\n${settings}`)
    await writeFile(
      join(directory, 'on.yaml'),
      `jwt: { secret: ${secret} }\nlogger: { enableddb: true }\n${settings}`,
    )
    const attempts: readonly [name: string, address: string, AttemptOutcome, minutes: number][] = [
      ['editor', '192.0.2.7', 'logged-in', 3000],
      ['Editor', '192.0.2.7', 'logged-in', 50],
      ['hunter2', '192.0.2.9', 'wrong-credentials', 40],
      ['admin', '2001:db8::7', 'wrong-credentials', 30],
      ['', '::ffff:192.0.2.8', 'bad-login-request', 20],
      ['admin\u001b[2J', '198.51.100.1', 'too-many-requests', 10],
    ]
    const records = attempts.map(([name, address, outcome, minutes]) =>
      toRecord({ address, userAgent: 'curl/8.5.0' }, name, outcome, minutesAgo(minutes)),
    )
    await createLoginLogTable(gateway).insert(records)
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  function list(args: readonly string[] = [], config = 'on.yaml') {
    const argv = ['login', 'list', ...args, '--config', config]
    return runCommand(argv, { cwd: directory, now: () => now })
  }
  const users = async (...args: readonly string[]) => {
    const { out } = await list([...args, '--output', 'json'])
    return JSON.parse(out).attempts.map(({ username }: { username: string | null }) => username)
  }

  test('shows a day, newest first, and masks names that match no account', async () => {
    const { code, out, err } = await list()

    expect(code).toBe(0)
    expect(out).toBe(
      [
        'TIME                      USER            OUTCOME            ADDRESS           CLIENT',
        '2026-03-04T11:50:00.000Z  (unknown name)  too-many-requests  198.51.100.1      curl 8.5.0',
        '2026-03-04T11:40:00.000Z                  bad-login-request  ::ffff:192.0.2.8  curl 8.5.0',
        '2026-03-04T11:30:00.000Z  admin           wrong-credentials  2001:db8::7       curl 8.5.0',
        '2026-03-04T11:20:00.000Z  (unknown name)  wrong-credentials  192.0.2.9         curl 8.5.0',
        '2026-03-04T11:10:00.000Z  Editor          logged-in          192.0.2.7         curl 8.5.0',
        '',
      ].join('\n'),
    )
    expect(err).toBe(
      'postern: masked 2 names that match no account; --show-names shows them, and they may be passwords\n',
    )
  })

  test('shows every name with --show-names, escaped', async () => {
    const { out, err } = await list(['--show-names'])

    expect(out).toContain('hunter2')
    expect(out).toContain('admin\\u{1b}[2J')
    expect(err).toBe('')
  })

  test('prints the same as JSON, with null for a masked name', async () => {
    const { out } = await list(['--outcome', 'wrong-credentials', '--output', 'json'])

    const failed = { outcome: 'wrong-credentials', via: 'gateway', succeeded: false }
    const client = { client: 'curl 8.5.0', userAgent: 'curl/8.5.0' }
    const shared = { ...failed, message: 'wrong username or password', ...client }
    expect(JSON.parse(out)).toEqual({
      since: '2026-03-03T12:00:00.000Z',
      recording: true,
      attempts: [
        { at: '2026-03-04T11:30:00.000Z', username: 'admin', address: '2001:db8::7', ...shared },
        { at: '2026-03-04T11:20:00.000Z', username: null, address: '192.0.2.9', ...shared },
      ],
      more: false,
    })
  })

  test('finds attempts by user, address, range and time', async () => {
    expect(await users('--user', 'editor')).toEqual(['Editor'])
    expect(await users('--user', 'editor', '--since', '30d')).toEqual(['Editor', 'editor'])
    expect(await users('--address', '192.0.2.7')).toEqual(['Editor'])
    expect(await users('--address', '192.0.2.8')).toEqual([''])
    expect(await users('--address', '192.0.2.0/24')).toEqual(['', null, 'Editor'])
    expect(await users('--address', '2001:db8::/32')).toEqual(['admin'])
    expect(await users('--since', '25m')).toEqual([null, ''])
  })

  test('says when there are more, and when nothing matches', async () => {
    const some = await list(['--limit', '1'])
    const nothing = await list(['--user', 'nobody'])

    expect(some.out.split('\n')).toHaveLength(3)
    expect(some.err).toContain('postern: the newest 1 only: raise --limit or narrow the search\n')
    expect(nothing).toEqual({
      code: 0,
      out: '',
      err: 'postern: no login attempts since 2026-03-03T12:00:00.000Z match\n',
    })
  })

  test('offers every outcome', () => {
    expect(loginList.input.outcome.choices).toEqual(loginOutcomes)
  })

  test('survives times that no calendar shows', async () => {
    // MySQL has none.
    if (gateway.kind === 'mysql') return
    await sql`insert into sys_login_log (username, ipaddr, msg, login_time, created_at) values
      ('editor', '203.0.113.9', 'x', 'infinity', '2026-03-04T11:00:00Z'),
      ('editor', '203.0.113.9', 'x', '200000-01-01', '2026-03-04T11:00:00Z'),
      ('editor', '203.0.113.9', 'x', '-infinity', '-infinity')`.execute(gateway.db)

    const { code, out } = await list([
      ...['--address', '203.0.113.9', '--since', '999999d', '--output', 'json'],
    ])

    expect(code).toBe(0)
    const { since, attempts } = JSON.parse(out)
    expect(since).toBe('1970-01-01T00:00:00.000Z')
    expect(attempts.map(({ at }: { at: string }) => at)).toEqual(
      Array.from({ length: 2 }, () => '2026-03-04T11:00:00.000Z'),
    )
    await sql`delete from sys_login_log where ipaddr = '203.0.113.9'`.execute(gateway.db)
  })

  test('says when gateways record nothing', async () => {
    const { out, err } = await list(['--user', 'editor'], 'off.yaml')

    expect(out).toContain('Editor')
    expect(err).toBe(
      'postern: logger.enableddb is false: gateways with this configuration record no attempts\n',
    )
  })

  test.each([
    [
      ['--outcome', 'wrong-credential'],
      '--outcome: "wrong-credential" is not valid, use',
      'did you mean wrong-credentials?',
    ],
    [['--address', '192.0.2.300'], '--address: "192.0.2.300" is not an address or a range', ''],
    [['--address', '192.0.2.0/33'], '--address: "192.0.2.0/33" is not an address or a range', ''],
    [['--address', '192.0.2.0/8/8'], 'is not an address or a range', ''],
    [['--since', 'yesterday'], '--since: "yesterday" is not a time', ''],
    [['--limit', '0'], '--limit: "0" is not a whole number', ''],
  ])('refuses %j', async (args, message, hint) => {
    const { code, out, err } = await list(args)

    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(message)
    expect(err).toContain(hint)
  })
})

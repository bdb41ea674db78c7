import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createRedisSessions } from '../../src/stores/sessions/redis-sessions.ts'
import { startConsoleApi } from '../support/console-api.ts'
import { prefix, testRedis } from '../support/published-policies.ts'
import { connectRedis } from '../support/redis-client.ts'
import { runCommand } from '../support/run-command.ts'
import { serverUrl } from '../support/seeded-database.ts'
import {
  liveToken,
  overEverywhere,
  type Replicas,
  startReplicas,
  tokenFrom,
  verdictOn,
} from '../support/session-replicas.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

interface Listed {
  readonly total: number
  readonly sessions: readonly Readonly<Record<string, string>>[]
}

async function listed({ postern }: Replicas, options = ''): Promise<Listed> {
  const { code, out, err } = await postern(`session list --output json${options}`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** The sessions of a user, once there are so many. */
async function sessionsOf(replicas: Replicas, name: string, number: number) {
  let found: Listed['sessions'] = []
  await until(async () => {
    found = (await listed(replicas, ` --user ${name}`)).sessions
    return found.length === number
  })
  return found
}

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti

const stores = [
  ['Redis', async () => ({ redis: await testRedis() })],
  ['the embedded database', async () => ({ ownDatabase: true })],
] as const

describe.each(stores)('sessions in %s', (_, storeOptions) => {
  test('are listed from login to logout, or to another revocation', async () => {
    const replicas = await startReplicas(await storeOptions())
    const gateway = await replicas.start()
    const [ann, bob] = [await replicas.addUser('editor'), await replicas.addUser('viewer')]
    const token = await tokenFrom(gateway, ann)
    await tokenFrom(gateway, bob)

    const [session] = await sessionsOf(replicas, ann.name, 1)
    expect(session).toMatchObject({
      ...{ id: jtiOf(token), userId: ann.id, username: ann.name, roleKey: 'editor' },
      ...{ address: '127.0.0.1', expiresAt: expect.stringMatching(/^21\d\d-.*T.*\.000Z$/) },
      issuedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      seenAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
    })
    expect((await listed(replicas, ` --user ${ann.id}`)).sessions).toEqual([session])
    const { out, err } = await replicas.postern('session list --limit 1')
    expect(out).toMatch(/^ID +USER +ROLE +ADDRESS +AGENT +ISSUED +EXPIRES +LAST SEEN\n/)
    expect(out.trim().split('\n')).toHaveLength(2)
    expect(err).toBe('postern: 1 of 2 sessions: raise --limit to see more\n')

    await gateway.call('POST /api/v1/logout', { token })
    expect(await sessionsOf(replicas, ann.name, 0)).toEqual([])
    const { err: none } = await replicas.postern(`session list --user ${ann.name}`)
    expect(none).toBe(`postern: no sessions of "${ann.name}"\n`)

    await sessionsOf(replicas, bob.name, 1)
    expect((await replicas.postern(`user show ${bob.name}`)).out).toMatch(/^sessions +1$/m)
    await replicas.postern(`user role ${bob.name} editor`)
    expect((await listed(replicas)).sessions).toEqual([])
  })

  test('end one by one, by user, or all at once, with an audit row each', async () => {
    const options = await storeOptions()
    const service = { enabled: true }
    const replicas = await startReplicas({ ...options, tokens: { service } })
    const gateways = [await replicas.start(), await replicas.start()]
    const [first] = gateways
    if (first === undefined) return
    const [ann, bob] = [await replicas.addUser('editor'), await replicas.addUser('editor')]
    const tokens = [await liveToken(gateways, ann), await liveToken(gateways, ann)]
    const other = await liveToken(gateways, bob)
    const [one = '', two = ''] = tokens
    await sessionsOf(replicas, ann.name, 2)

    const ended = await replicas.postern(`session end ${jtiOf(one)}`)
    expect(ended).toMatchObject({ code: 0, out: '' })
    expect(ended.err).toBe(`postern: ended session ${jtiOf(one)} of ${ann.name} from 127.0.0.1\n`)
    await overEverywhere(gateways, one)
    expect(await verdictOn(first, two)).toBe('live')
    expect((await sessionsOf(replicas, ann.name, 1))[0]?.['id']).toBe(jtiOf(two))
    const again = await replicas.postern(`session end ${jtiOf(one)}`)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('does not exist') })

    expect(await replicas.postern(`session end --user ${ann.name}`)).toMatchObject({ code: 0 })
    await overEverywhere(gateways, two)
    expect(await verdictOn(first, other)).toBe('live')

    const unrecorded = tokenOf('editor', { identity: 77, exp: nowSeconds() + 600 })
    const program = tokenOf('editor', { identity: 78, exp: nowSeconds() + 600, kind: 'service' })
    for (const token of [unrecorded, program]) expect(await verdictOn(first, token)).toBe('live')
    await replicas.postern('service add sessions-ci --role editor')
    const ofService = await replicas.postern('session end --user sessions-ci')
    expect(ofService.code).toBe(1)
    expect(ofService.err).toMatch(
      /sessions-ci is a service account.*"postern token revoke --user sessions-ci"/,
    )

    const refused = await replicas.postern('session end --all')
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/not a terminal: run again with --yes to end 1 session of 1 user/)
    expect(await verdictOn(first, other)).toBe('live')

    const all = await replicas.postern('session end --all --yes --output json')
    expect(JSON.parse(all.out)).toEqual({ ended: [jtiOf(other)], users: 'all' })
    for (const token of [other, unrecorded]) await overEverywhere(gateways, token)
    expect(await verdictOn(first, program)).toBe('live')
    expect((await listed(replicas)).total).toBe(0)
    await liveToken(gateways, bob)

    const { out } = await replicas.postern('audit list --action session.end --output json')
    const rows = JSON.parse(out) as readonly { readonly subject: string; readonly after: unknown }[]
    expect(rows.filter(({ subject }) => subject === ann.name).map(({ after }) => after)).toEqual([
      { users: [ann.id] },
      { session: jtiOf(one), address: '127.0.0.1' },
    ])
    expect(rows).toContainEqual(
      expect.objectContaining({ subject: 'all users', after: { users: 'all' } }),
    )
  })
})

describe('postern session end', () => {
  test('--all asks at a terminal, and ends nothing without a yes', async () => {
    const redis = await testRedis()
    const { file } = await startReplicas({ redis })
    const run = (types: string) =>
      runCommand(['session', 'end', '--all', '--config', file], { types })

    expect(await run('no')).toEqual({
      ...{ code: 1, out: '' },
      err: 'End 0 sessions of 0 users? They must log in again. Type yes: ',
    })
    expect(await redis.client.exists(`${prefix}revoked`)).toBe(0)
    expect((await run('yes')).code).toBe(0)
    expect(await redis.client.hkeys(`${prefix}revoked`)).toEqual(['u:*'])
  })

  test('over the network, ends nothing without exactly one session or user', async () => {
    const redis = await testRedis()
    const { file } = await startReplicas({ redis })
    const api = await startConsoleApi({ cwd: dirname(file), config: file })

    for (const body of [{}, { id: 'one', user: 'ann' }]) {
      expect((await api.post('session/end', body)).status).toBe(400)
    }
    expect(await redis.client.exists(`${prefix}revoked`)).toBe(0)
  })

  test('--user finds sessions whose account another program deleted or renamed', async () => {
    const redis = await testRedis()
    const { file } = await startReplicas({ redis })
    const client = await connectRedis(redis)
    const now = Date.now()
    await createRedisSessions(client).add([
      {
        ...{ id: 'one', userId: '4711', username: 'gone', roleKey: 'editor', address: '192.0.2.1' },
        ...{ agent: '', issuedAt: now - 60_000, expiresAt: now + 60_000, seenAt: now },
      },
    ])
    const run = () => runCommand(['session', 'end', '--user', 'gone', '--config', file])

    expect((await run()).err).toMatch(/^postern: ended 1 session of user gone, /)
    expect(await redis.client.hkeys(`${prefix}revoked`)).toEqual(['u:4711'])
    expect((await run()).code).toBe(1)
  })

  test('revokes nothing where the audit log is missing, and token revoke says so', async () => {
    const redis = await testRedis()
    // On a server, its suites have the same case.
    if ((await serverUrl('shared')) !== undefined) return
    const { file } = await startReplicas({ redis, ownDatabase: true })
    const never = `${file}.never`
    const text = await readFile(file, 'utf8')
    await writeFile(never, `${text}database: { migrate: never }\n`)
    const directory = join(dirname(file), 'data')
    const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }
    const database = await openDatabase({ directory, ...limits })
    onTestFinished(database.close)
    await sql`drop table postern_audit`.execute(database.db)
    const run = (line: string) => runCommand([...line.split(' '), '--config', never])
    const missing = 'table postern_audit is missing, '

    const ended = await run('session end --user editor')
    expect(ended.code).toBe(5)
    expect(ended.err).toContain(`postern: ${missing}`)
    expect(await redis.client.exists(`${prefix}revoked`)).toBe(0)

    const revoked = await run('token revoke --user editor')
    expect(revoked.code).toBe(0)
    expect(revoked.err).toContain(`note: not recorded in the audit log: ${missing}`)
    expect(await redis.client.exists(`${prefix}revoked`)).toBe(1)
  })

  test.each([
    ['session end', 2, /missing argument ID/],
    ['session end abc --all', 2, /--all replaces ID/],
    ['session end --user ann --all', 2, /--user and --all cannot be combined/],
    ['session end nothing', 1, /session "nothing" does not exist: "postern session list" shows/],
    ['session end --user nobody', 1, /user "nobody" does not exist: "postern user list" shows/],
    ['session list --limit 0', 2, /--limit/],
  ])('%s exits with %i and says why', async (line, code, reason) => {
    const { postern } = await startReplicas({})
    const ran = await postern(line)
    expect(ran.code).toBe(code)
    expect(ran.err).toMatch(reason)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { dev, logIn } from '../support/log-in.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import {
  liveToken,
  overEverywhere,
  startReplicas,
  tokenFrom,
  type User,
  verdictOn,
} from '../support/session-replicas.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const path = '/api/v1/user/password'
const json = 'Content-Type: application/json'
const newPassword = 'a few words are better'

interface Sent {
  readonly token?: string
  readonly headers?: readonly string[]
  readonly from?: string
}

async function change(gateway: TestPostern, fields: unknown, { headers = [], ...sent }: Sent) {
  const body = typeof fields === 'string' ? fields : JSON.stringify(fields)
  const options = { ...sent, headers: [json, ...headers], body }
  let answer = await gateway.call(`POST ${path}`, options)
  // On busy cores a store can miss its timeout. Clients retry a 503 too.
  while (answer.status === 503) answer = await gateway.call(`POST ${path}`, options)
  return answer
}

const withNew = (user: User): User => ({ ...user, password: newPassword })

describe('POST /api/v1/user/password', () => {
  test('changes the password and ends the other sessions, but not this one', async () => {
    const replicas = await startReplicas({})
    const [here, there] = [await replicas.start(), await replicas.start()]
    const user = await replicas.addUser()
    const [mine, other] = [await liveToken([here, there], user), await liveToken([there], user)]
    const stranger = await liveToken([here], await replicas.addUser())

    const fields = { oldPassword: user.password, newPassword }
    const answer = await change(here, fields, { token: mine })

    expect(answer.status).toBe(200)
    expect(answer.json()).toEqual({ code: 200, msg: 'password changed' })
    await overEverywhere([here, there], other)
    for (const gateway of [here, there]) {
      expect(await verdictOn(gateway, mine)).toBe('live')
      expect(await verdictOn(gateway, stranger)).toBe('live')
    }
    await expect(tokenFrom(there, user)).rejects.toThrow('incorrect username or password')
    await liveToken([there, here], withNew(user))
    expect(here.logText()).toContain('"ended":"everywhere"')
  })

  test('appends one row to the audit log, without the password, and none to the login log', async () => {
    const replicas = await startReplicas({})
    const gateway = await replicas.start()
    const user = await replicas.addUser()
    const token = await tokenFrom(gateway, user)

    await change(gateway, { oldPassword: 'wrong', newPassword }, { token, from: '127.0.0.7' })
    const fields = { oldPassword: user.password, newPassword }
    await change(gateway, fields, { token, from: '127.0.0.7' })

    const listed = await replicas.postern(
      `audit list --action user.password --subject ${user.name} --output jsonl`,
    )
    const rows = listed.out.trim().split('\n')
    expect(rows).toHaveLength(1)
    expect(JSON.parse(rows[0] ?? '')).toMatchObject({
      actor: { kind: 'user', name: user.name, origin: '127.0.0.7' },
      action: 'user.password',
      subject: user.name,
    })
    for (const secret of [user.password, newPassword, '$2']) {
      expect(listed.out + gateway.logText()).not.toContain(secret)
    }
    const attempts = await replicas.postern(`login list --user ${user.name} --output json`)
    expect(attempts.out).not.toContain('127.0.0.7')
  })

  test('names the rule that a new password breaks, with code 400, and changes nothing', async () => {
    const replicas = await startReplicas({})
    const gateway = await replicas.start()
    const user = await replicas.addUser()
    const [token, other] = [await tokenFrom(gateway, user), await tokenFrom(gateway, user)]
    const old = user.password
    const cases: readonly (readonly [kind: string, msg: string, old: string, wanted: string])[] = [
      ['wrong-password', 'the old password is wrong', 'not the old one', newPassword],
      ['password-length', '8 to 72 bytes', old, 'short'],
      ['password-length', '8 to 72 bytes', old, 'é'.repeat(37)],
      ['password-text', 'one line of valid UTF-8 text', old, 'two lines\nof text'],
      ['password-common', 'too common', old, 'Password1!'],
      ['password-name', 'the user name', old, `${user.name}!`],
      ['password-unchanged', 'equals the old one', old, old],
    ]

    for (const [kind, msg, oldPassword, wanted] of cases) {
      const answer = await change(gateway, { oldPassword, newPassword: wanted }, { token })

      expect(answer.status).toBe(200)
      expect(answer.json(), kind).toEqual({ code: 400, msg: expect.stringContaining(msg) })
      expect(gateway.logText()).toContain(`"outcome":"${kind}"`)
    }
    expect(await verdictOn(gateway, other)).toBe('live')
    await liveToken([gateway], user)
  })

  test('answers code 400 to a malformed request', async () => {
    const gateway = await startPostern()
    const cases: readonly (readonly [string, unknown])[] = [
      ['no body', ''],
      ['no JSON', 'oldPassword=a&newPassword=b'],
      ['an array', '[]'],
      ['no old password', { newPassword }],
      ['no new password', { oldPassword: 'a' }],
      ['an empty old password', { oldPassword: '', newPassword }],
      ['a number', { oldPassword: 12_345_678, newPassword }],
      ['an old password beyond 72 bytes', { oldPassword: 'x'.repeat(73), newPassword }],
      ['an old password with NUL', { oldPassword: 'a\0b', newPassword }],
      ['too much', { oldPassword: 'a', newPassword: 'x'.repeat(20_000) }],
    ]

    for (const [what, fields] of cases) {
      const answer = await change(gateway, fields, { token: tokenOf('editor') })

      const msg = 'oldPassword and newPassword are needed, as JSON'
      expect(answer.json(), what).toEqual({ code: 400, msg })
    }
  })

  test('accepts one content type only', async () => {
    const gateway = await startPostern()
    const token = tokenOf('editor')

    const sent = { token, headers: ['Content-Type: text/plain'], body: '{}' }
    const answer = await gateway.call(`POST ${path}`, sent)

    expect(answer.json()).toMatchObject({ code: 400 })
  })

  test('needs a token and no permission, and no other method', async () => {
    const gateway = await startPostern({ rules: [], exclusions: [] })

    const anonymous = await change(gateway, {}, {})
    const allowed = await change(gateway, {}, { token: tokenOf('stranger') })
    const read = await gateway.call(`GET ${path}`, { as: 'admin' })

    expect(anonymous.json()).toEqual({ code: 401, msg: 'please log in' })
    expect(allowed.json()).toMatchObject({ code: 400 })
    expect(read.status).toBe(405)
    expect(read.headers).toContainEqual(['allow', 'POST'])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('refuses a service token, and an account that does not exist', async () => {
    const gateway = await startPostern({ config: { tokens: { service: { enabled: true } } } })
    const fields = { oldPassword: 'a', newPassword }

    const service = await change(gateway, fields, {
      token: tokenOf('editor', { kind: 'service', identity: 1 }),
    })
    const gone = await change(gateway, fields, { token: tokenOf('editor', { identity: 999_999 }) })

    expect(service.json()).toEqual({ code: 403, msg: 'only users who log in here have a password' })
    expect(gone.json()).toEqual({ code: 401, msg: 'please log in again' })
  })

  test('is not a second way to guess: wrong passwords here and at login share their limits', async () => {
    const replicas = await startReplicas({})
    const gateway = await replicas.start()
    const user = await replicas.addUser()
    const token = await tokenFrom(gateway, user)
    const wrong = { oldPassword: 'wrong', newPassword }

    const codes: unknown[] = []
    for (let turn = 1; turn <= 6; turn++) {
      const answer = await change(gateway, wrong, { token, from: `127.0.8.${turn}` })
      codes.push((answer.json() as { code: number }).code)
    }
    const right = { oldPassword: user.password, newPassword }
    const strange = await change(gateway, right, { token, from: '127.0.8.99' })
    const login = await gateway.call('POST /api/v1/login', {
      headers: [json],
      body: JSON.stringify({ username: user.name, password: user.password, uuid: '-', code: '-' }),
      from: '127.0.8.98',
    })
    // The address of the login is known for the account.
    const known = await change(gateway, right, { token })

    expect(codes).toEqual([400, 400, 400, 400, 400, 429])
    expect(strange.json()).toMatchObject({ code: 429 })
    expect(strange.headers.map(([name]) => name)).toContain('retry-after')
    expect(login.json()).toMatchObject({ code: 429 })
    expect(known.json()).toMatchObject({ code: 200 })
  })

  test('counts as an attempt of its address, whatever the result', async () => {
    const gateway = await startPostern({ config: { login: { perAddressPerMinute: 2 } } })

    const codes: unknown[] = []
    for (let turn = 0; turn < 3; turn++) {
      const answer = await change(gateway, '{}', { token: tokenOf('editor'), from: '127.0.9.1' })
      codes.push((answer.json() as { code: number }).code)
    }

    expect(codes).toEqual([400, 400, 429])
  })

  test('is refused from another site where the token is in the cookie', async () => {
    const replicas = await startReplicas({})
    const gateway = await replicas.start()
    const user = await replicas.addUser()
    const cookie = `Cookie: jwt=${await tokenFrom(gateway, user)}`
    const fields = { oldPassword: user.password, newPassword }

    const forced = await change(gateway, fields, { headers: [cookie, 'Sec-Fetch-Site: same-site'] })
    const own = await change(gateway, fields, { headers: [cookie, 'Sec-Fetch-Site: same-origin'] })

    expect(forced.json()).toMatchObject({ code: 401 })
    expect(own.json()).toMatchObject({ code: 200 })
  })

  test('goes to an upstream where endpoints.password names one', async () => {
    const gateway = await startPostern({ config: { endpoints: { password: 'backend' } } })

    const answer = await change(gateway, { old: 'a' }, { token: tokenOf('viewer') })

    expect(answer.json()).toEqual({ ok: true })
    expect(gateway.upstream.requests.map(({ target }) => target)).toEqual([path])
  })

  test('answers 503 and changes nothing where the audit log is missing', async () => {
    const gateway = await startPostern({ config: dev, ownDatabase: true })
    const token = await logIn(gateway)
    const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }
    const database = await openDatabase({ directory: gateway.dataDirectory, ...limits })
    await database.db.schema.dropTable('postern_audit').execute()
    await database.close()

    const body = JSON.stringify({ oldPassword: gateway.passwords['editor'], newPassword })
    const answer = await gateway.call(`POST ${path}`, { token, headers: [json], body })

    expect(answer.status).toBe(503)
    for (const each of [token, await logIn(gateway)]) {
      expect(await verdictOn(gateway, each)).toBe('live')
    }
  })
})

describe('POST /api/v1/user/password with Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('ends the other sessions on every gateway, and here while Redis is unreachable', async () => {
    const replicas = await startReplicas({ redis })
    const [here, there] = [await replicas.start(), await replicas.start()]
    const user = await replicas.addUser()
    const mine = await liveToken([here, there], user)
    const other = await liveToken([here, there], user)

    const fields = { oldPassword: user.password, newPassword }
    const first = await change(here, fields, { token: mine })
    await overEverywhere([here, there], other)
    expect(first.json()).toMatchObject({ msg: 'password changed' })
    expect(await verdictOn(there, mine)).toBe('live')

    const later = await liveToken([here, there], withNew(user))
    await redis.kill()
    const back = { oldPassword: newPassword, newPassword: 'other words, again' }
    const second = await change(here, back, { token: mine })

    expect(second.json()).toEqual({
      code: 200,
      msg: 'password changed; other gateways do not know yet',
    })
    expect(here.logText()).toContain('"ended":"here"')
    expect(await verdictOn(here, later)).toBe('over')
    expect(await verdictOn(here, mine)).toBe('live')
    expect(await verdictOn(there, later)).toBe('live')
    await redis.start()
    await overEverywhere([here, there], later)
    for (const gateway of [here, there]) expect(await verdictOn(gateway, mine)).toBe('live')
  })
})

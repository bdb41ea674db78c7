import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { newRecoveryCodes } from '../../src/login/second-factor/recovery-codes.ts'
import { sealSecret } from '../../src/login/second-factor/sealed-secret.ts'
import { createSecondFactor, maxFailures } from '../../src/login/second-factor/second-factor.ts'
import { newTotpSecret } from '../../src/login/second-factor/totp-codes.ts'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { seedRoles } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createEnrollmentChanges } from '../../src/stores/second-factor/enrollment-changes.ts'
import { enrolledAccounts } from '../../src/stores/second-factor/enrollment-directory.ts'
import { createSecondFactorStore } from '../../src/stores/second-factor/second-factor-store.ts'
import type { DerivedKeys } from '../../src/token/derived-keys.ts'
import { type RunningDatabase, testDatabases } from '../stores/test-databases.ts'
import { totpCode, wrongCode } from '../support/totp.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const
const start = 1_800_000_000_000

function keysOf(...ids: readonly [string, ...string[]]): DerivedKeys {
  const key = (id: string) => Buffer.alloc(32, id).toString('base64url')
  return {
    current: () => ({ id: ids[0], key: key(ids[0]) }),
    find: (id) => (ids.includes(id) ? key(id) : undefined),
  }
}

describe.each(testDatabases())('one-time codes in $name', ({ start: startDatabase }) => {
  let server: RunningDatabase
  let database: Database
  let nextName = 0
  beforeAll(async () => {
    server = await startDatabase()
    database = await server.fresh()
    await seedRoles(database, actor)
  })
  afterAll(() => server.stop())

  /** A new account, enrolled unless told otherwise, and the check of its logins at a time of its own. */
  async function enrolled({ roleKey = 'editor', keys = keysOf('k'), enroll = true } = {}) {
    const username = `user-${++nextName}`
    await createAccountChanges(database, actor).add({ username, roleKey, passwordHash: 'h' })
    const account = await createAccounts(database).findByUsername(username)
    if (account === undefined) throw new Error('no account')
    const { caller } = account
    const { userId } = caller
    const secret = newTotpSecret()
    const codes = newRecoveryCodes(secret)
    const changes = createEnrollmentChanges(database, actor)
    const recoveryDigests = codes.map(({ digest }) => digest)
    const lastStep = 0
    const enrolling = { username, userId, secret: sealSecret(keys, userId, secret), lastStep }
    if (enroll) expect(await changes.enroll({ ...enrolling, recoveryDigests })).toBe('done')

    const lines: string[] = []
    const log = createLog('info', { write: (line: string) => void lines.push(line) })
    const store = createSecondFactorStore(database)
    const clock = { ms: start }
    const check = (otp: string | undefined, others: DerivedKeys = keys) =>
      createSecondFactor({
        ...{ store, keys: others, roles: ['admin'], log },
        now: () => clock.ms / 1000,
      })(caller, otp, '192.0.2.7').then(
        () => 'ok',
        (error) => error.kind ?? error.part,
      )
    const code = () => totpCode(secret, clock.ms)
    const row = async () => (await enrolledAccounts(database, userId))[0]
    return { caller, userId, username, secret, codes, changes, check, clock, code, row, lines }
  }

  test('are needed by an enrolled account, whatever its role', async () => {
    const { check, code } = await enrolled()

    expect(await check(undefined)).toBe('otp-needed')
    expect(await check('  ')).toBe('otp-needed')
    expect(await check(code())).toBe('ok')
  })

  test('are not needed by others, unless the role needs them', async () => {
    expect(await (await enrolled({ enroll: false })).check(undefined)).toBe('ok')
    expect(await (await enrolled({ enroll: false })).check('123456')).toBe('ok')
    const admin = await enrolled({ enroll: false, roleKey: 'admin' })
    expect(await admin.check(undefined)).toBe('otp-not-enrolled')
    expect(await admin.check('123456')).toBe('otp-not-enrolled')
  })

  test('work once, also in twenty logins at once', async () => {
    const { check, code, clock } = await enrolled()

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => check(code())))

    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'wrong-otp')).toHaveLength(19)
    clock.ms += 30_000
    expect(await check(`${code().slice(0, 3)} ${code().slice(3)}`)).toBe('ok')
  })

  test('of an earlier step do not work after those of a later one', async () => {
    const { check, secret } = await enrolled()

    expect(await check(totpCode(secret, start + 30_000))).toBe('ok')
    expect(await check(totpCode(secret, start))).toBe('wrong-otp')
  })

  test.each([
    ['two steps late', (secret: Uint8Array) => totpCode(secret, start - 61_000)],
    ['two steps early', (secret: Uint8Array) => totpCode(secret, start + 61_000)],
    ['full-width digits', () => '０１２３４５'],
    ['letters', () => 'abcdef'],
    ['five digits', () => '12345'],
    ['seven digits', () => '1234567'],
    ['signs that a number may have', () => '+12345'],
    ['a NUL', () => '12345\0'],
  ])('are wrong with %s', async (_, typed) => {
    const { check, secret, row } = await enrolled()

    expect(await check(typed(secret))).toBe('wrong-otp')
    expect((await row())?.failures).toBe(1)
  })

  test(`end after ${maxFailures} wrong ones in a row, until a recovery code is used`, async () => {
    const { check, code, clock, secret, codes, row, userId } = await enrolled()
    const count = sql`update postern_totp set failures = ${maxFailures - 1}
      where user_id = ${userId}`

    await count.execute(database.db)
    expect(await check(code())).toBe('ok')
    expect((await row())?.failures).toBe(0)
    await count.execute(database.db)
    expect(await check(wrongCode(secret, clock.ms))).toBe('wrong-otp')
    clock.ms += 30_000
    expect(await check(code())).toBe('wrong-otp')
    expect(await check(codes[0]?.code)).toBe('ok')
    expect(await check(code())).toBe('ok')
  })

  test('have recovery codes that each work once, with an audit row and a log line', async () => {
    const { check, codes, row, lines, username } = await enrolled()

    const twice = await Promise.all([check(codes[0]?.code), check(codes[0]?.code)])
    expect(twice.toSorted()).toEqual(['ok', 'wrong-otp'])
    for (const { code } of codes.slice(1)) expect(await check(code)).toBe('ok')

    expect((await row())?.recoveryCodesLeft).toBe(0)
    const logged = lines.map((line) => JSON.parse(line) as { level: string; left: number })
    expect(logged.map(({ level, left }) => `${level} ${left}`)).toEqual([
      ...['info 9', 'info 8', 'info 7', 'info 6', 'info 5', 'info 4'],
      ...['warn 3', 'warn 2', 'warn 1', 'warn 0'],
    ])
    const { rows } = await sql<{ actor: string; origin: string; after: string }>`
      select actor, origin, after from postern_audit
      where subject = ${username} and actor_kind = 'user' order by id`.execute(database.db)
    expect(rows).toHaveLength(10)
    expect(rows[0]).toEqual({
      ...{ actor: username, origin: '192.0.2.7', after: '{"recoveryCodes":9}' },
    })
  })

  test('of another account do not work, nor do its recovery codes', async () => {
    const [ann, bob] = [await enrolled(), await enrolled()]

    expect(await bob.check(ann.code())).toBe('wrong-otp')
    expect(await bob.check(ann.codes[0]?.code)).toBe('wrong-otp')
    // As an attacker could who writes to the database but lacks the keys.
    const { rows } = await sql<{ sealed: string }>`
      select sealed from postern_totp where user_id = ${ann.userId}`.execute(database.db)
    await sql`update postern_totp set sealed = ${rows[0]?.sealed}
      where user_id = ${bob.userId}`.execute(database.db)
    expect(await bob.check(ann.code())).toBe('second-factor')
  })

  test('survive a rotation of keys, and move to the new key at the next login', async () => {
    const { check, code, clock, codes, row } = await enrolled({ keys: keysOf('old') })

    expect(await check(code(), keysOf('new'))).toBe('second-factor')
    expect(await check(undefined, keysOf('new'))).toBe('otp-needed')
    expect(await check('000000', keysOf('new', 'old'))).toMatch(/ok|wrong-otp/)
    expect((await row())?.keyId).toBe('old')
    expect(await check(code(), keysOf('new', 'old'))).toBe('ok')
    expect((await row())?.keyId).toBe('new')
    clock.ms += 30_000
    expect(await check(code(), keysOf('new'))).toBe('ok')
    expect(await check(codes[0]?.code, keysOf('newer', 'new'))).toBe('ok')
    expect((await row())?.keyId).toBe('newer')
    expect(await check(codes[1]?.code, keysOf('newer'))).toBe('ok')
  })

  test('replace each other, and the old recovery codes with them', async () => {
    const { check, code, clock, codes, changes, username, userId } = await enrolled()
    const secret = newTotpSecret()
    const whose = { username, userId, secret: sealSecret(keysOf('k'), userId, secret) }
    const [first, second] = [newRecoveryCodes(secret), newRecoveryCodes(secret)]
    const digests = (of: typeof first) => of.map(({ digest }) => digest)

    const step = Math.floor(start / 30_000)
    await changes.enroll({ ...whose, lastStep: step, recoveryDigests: digests(first) })
    expect(await check(code())).toBe('wrong-otp')
    expect(await check(codes[0]?.code)).toBe('wrong-otp')
    // The code that confirmed the enrollment.
    expect(await check(totpCode(secret, clock.ms))).toBe('wrong-otp')
    clock.ms += 30_000
    expect(await check(totpCode(secret, clock.ms))).toBe('ok')
    await changes.replaceRecoveryCodes({ ...whose, recoveryDigests: digests(second) })
    expect(await check(first[0]?.code)).toBe('wrong-otp')
    expect(await check(second[0]?.code)).toBe('ok')
    expect(await changes.remove(whose)).toBe('done')
    expect(await changes.remove(whose)).toBe('not-enrolled')
    expect(await check(undefined)).toBe('ok')
  })

  test('follow an account that is renamed and end with one that is deleted', async () => {
    const { check, code, changes, row, username, userId } = await enrolled()
    const accounts = createAccountChanges(database, actor)

    await accounts.rename(username, `${username}-new`)
    expect(await check(code())).toBe('ok')
    expect(await changes.remove({ username, userId })).toBe('no-such-user')
    await accounts.remove(`${username}-new`)

    expect(await row()).toBeUndefined()
    const { rows } = await sql`
      select user_id from postern_totp where user_id = ${userId}
      union all
      select user_id from postern_recovery_code where user_id = ${userId}`.execute(database.db)
    expect(rows).toEqual([])
  })

  test('are asked for although the table was unknown at the start', async () => {
    const { check, code, caller } = await enrolled()
    const shapes = async () => ({ ...(await database.shapes()), optional: new Set<never>() })
    const store = createSecondFactorStore({ ...database, shapes })

    expect(await store.find(caller.userId)).toMatchObject({ keyId: 'k' })
    await sql`alter table postern_totp rename to hidden`.execute(database.db)
    expect(await store.find(caller.userId)).toBeUndefined()
    // A table that was there is not forgotten: else an error would switch the second factor off.
    expect(await check(undefined)).toBe('database')
    await sql`alter table hidden rename to postern_totp`.execute(database.db)
    expect(await check(code())).toBe('ok')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addEnrolledUser, type EnrolledUser } from '../support/enrolled-user.ts'
import { dev, logInFrom, postLogin } from '../support/log-in.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { totpCode, wrongCode } from '../support/totp.ts'

let redis: RedisServer
let ann: EnrolledUser
beforeAll(async () => {
  redis = await startRedis()
  ann = await addEnrolledUser()
})
afterAll(() => redis.stop())

let prefixes = 0

/** Two replicas that share their stores, and a clock of their own. */
async function startReplicas({ roles = [] as string[], callers = [ann.caller] } = {}) {
  const clock = { ms: Date.now() }
  const prefix = `{second-factor-${++prefixes}}:`
  const login = { perAddressPerMinute: 1000, secondFactor: { roles } }
  const options = {
    config: { ...dev, redis: { url: redis.url, prefix }, login },
    now: () => clock.ms / 1000,
    verifyPassword: async ({ username, password }: { username: string; password: string }) =>
      password === 'right' ? callers.find((caller) => caller.username === username) : undefined,
  }
  const [here, there] = [await startPostern(options), await startPostern(options)]
  return { here, there, clock }
}

function fieldsOf({ caller }: Pick<EnrolledUser, 'caller'>, otp?: unknown, password = 'right') {
  const named = { username: caller.username, password, uuid: '-', code: '-' }
  return { ...named, ...(otp !== undefined && { otp }) }
}

async function message(postern: TestPostern, fields: ReturnType<typeof fieldsOf>) {
  const answer = await postLogin(postern, fields)
  expect(answer.status).toBe(200)
  return (answer.json() as { msg: string }).msg
}

/** One step later each time: every test uses codes of its own of the one account. */
let minutes = 0
function later(clock: { ms: number }): number {
  clock.ms = Date.now() + ++minutes * 60_000
  return clock.ms
}

const needed = 'a one-time code is needed'
const wrong = 'wrong one-time code'

describe('an account with one-time codes', () => {
  test('needs one, and no code works on a second replica', async () => {
    const { here, there, clock } = await startReplicas()
    const code = totpCode(ann.secret, later(clock))

    expect(await message(here, fieldsOf(ann))).toBe(needed)
    expect(await logInFrom(here, '127.0.0.1', fieldsOf(ann, code))).toBe(200)
    expect(await message(there, fieldsOf(ann, code))).toBe(wrong)
    const [recovery] = ann.recoveryCodes
    expect(await logInFrom(there, '127.0.0.1', fieldsOf(ann, recovery))).toBe(200)
    expect(await message(here, fieldsOf(ann, recovery))).toBe(wrong)
    const logs = `${here.logText()}${there.logText()}`
    for (const secret of [code, recovery, Buffer.from(ann.secret).toString('base64url')]) {
      expect(logs).not.toContain(secret)
    }
  })

  test('uses no code up, and says nothing about one, without the right password', async () => {
    const { here, clock } = await startReplicas()
    const code = totpCode(ann.secret, later(clock))
    const bad = 'incorrect username or password'

    expect(await message(here, fieldsOf(ann, code, 'bad'))).toBe(bad)
    expect(await message(here, fieldsOf(ann, '000000', 'bad'))).toBe(bad)
    expect(await message(here, fieldsOf(ann, undefined, 'bad'))).toBe(bad)
    expect(await logInFrom(here, '127.0.0.1', fieldsOf(ann, code))).toBe(200)
  })

  test('gets five wrong codes, at once or not, then right ones are refused too', async () => {
    const { here, there, clock } = await startReplicas()
    const now = later(clock)
    const bad = fieldsOf(ann, wrongCode(ann.secret, now))

    const codes = await Promise.all(
      Array.from({ length: 40 }, (_, turn) =>
        logInFrom(turn % 2 ? here : there, `127.0.4.${turn + 1}`, bad),
      ),
    )

    expect(codes.filter((code) => code === 400)).toHaveLength(5)
    expect(codes.filter((code) => code === 429)).toHaveLength(35)
    const right = fieldsOf(ann, totpCode(ann.secret, now))
    expect(await logInFrom(here, '127.0.5.1', right)).toBe(429)
  })

  test('forgives a missing code, and a missing code forgives no wrong one', async () => {
    const { here, clock } = await startReplicas()
    const now = later(clock)
    const bad = fieldsOf(ann, wrongCode(ann.secret, now))

    for (let turn = 0; turn < 8; turn++) expect(await message(here, fieldsOf(ann))).toBe(needed)
    for (let turn = 0; turn < 4; turn++) {
      expect(await message(here, bad)).toBe(wrong)
      expect(await message(here, fieldsOf(ann))).toBe(needed)
    }
    expect(await message(here, bad)).toBe(wrong)
    expect(await message(here, fieldsOf(ann))).toBe('too many requests, try again later')
  })

  test('refuses whatever else is sent as its code with 400 or 428, never with a fault', async () => {
    const { here } = await startReplicas()
    const odd: readonly unknown[] = [
      ...[null, 123456, ['123456'], { toString: '123456' }, true, '1'.repeat(65)],
      ...['1'.repeat(2_000_000), '\ud800', '１２３４５６', "' or 1=1 --"],
    ]

    for (const otp of odd) {
      const answer = await postLogin(here, fieldsOf(ann, otp))
      // 428: null is a missing code.
      expect([400, 428]).toContain((answer.json() as { code: number }).code)
    }
  })
})

describe('a role that needs one-time codes', () => {
  test('refuses an account that is not enrolled, and that after the password only', async () => {
    const bob = await addEnrolledUser({ enroll: false })
    const { here } = await startReplicas({ roles: ['editor'], callers: [bob.caller] })
    const others = await startReplicas({ callers: [bob.caller] })

    expect(await message(here, fieldsOf(bob))).toBe(
      'your role needs one-time codes, ask an administrator',
    )
    expect(await message(here, fieldsOf(bob, '123456', 'bad'))).toBe(
      'incorrect username or password',
    )
    expect(await logInFrom(others.here, '127.0.0.1', fieldsOf(bob))).toBe(200)
  })

  test('that does not exist is named in the log', async () => {
    const { here } = await startReplicas({ roles: ['editr'] })

    expect(here.logText()).toContain('second factor required')
    await expect
      .poll(() => here.logText())
      .toContain('role \\"editr\\" does not exist; did you mean editor?')
  })
})

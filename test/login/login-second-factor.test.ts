import { expect, test } from 'vitest'
import { Fault, Refusal } from '../../src/kernel/errors.ts'
import { Fields } from '../../src/login/fields.ts'
import { createLogin } from '../../src/login/login.ts'

const caller = {
  ...{ userId: '7', roleId: '1', roleKey: 'editor', roleName: '', username: 'ann', dataScope: '' },
}

/** One login by a method with or without second factor. Says what became of it and of the guess. */
async function logIn(secondFactor: boolean, outcome?: Error) {
  const asked: unknown[] = []
  const told: string[] = []
  const login = createLogin({
    throttle: {
      address: async () => {},
      captcha: async () => {},
      password: async () => ({
        succeeded: async () => void told.push('succeeded'),
        notChecked: async () => void told.push('not checked'),
      }),
    },
    findMethod: () => ({
      ...{ name: 'any', captcha: false, secondFactor },
      bind: () => ({ name: 'ann', verify: async () => ({ caller }) }),
    }),
    checkSecondFactor: async (...given) => {
      asked.push(given)
      if (outcome !== undefined) throw outcome
    },
    issueToken: async () => {
      told.push('issued')
      return { token: 't', id: 'i', expiresAt: new Date() } as never
    },
    now: () => 0,
    record: () => {},
    onIssued: () => {},
  })
  const fields = () => new Fields('bad-login-request', [['otp', '123456']])
  const attempt = { fields, cookie: () => undefined, address: '192.0.2.7', userAgent: '' }
  const failed = await login({ ...attempt, foreign: false }).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { asked, told, failed }
}

test('a method with second factor issues a token after the code, and never before', async () => {
  const { asked, told } = await logIn(true)

  expect(asked).toEqual([[caller, '123456', '192.0.2.7']])
  expect(told).toEqual(['succeeded', 'issued'])
})

test('a method without one, such as an identity provider, asks for no code', async () => {
  const { asked, told } = await logIn(false)

  expect(asked).toEqual([])
  expect(told).toEqual(['succeeded', 'issued'])
})

test.each([
  [new Refusal('wrong-otp'), []],
  [new Refusal('otp-needed'), ['not checked']],
  [new Refusal('otp-not-enrolled'), ['not checked']],
  [new Fault('second-factor'), ['not checked']],
  [new Fault('database'), ['not checked']],
])('%s issues no token, and only a wrong code counts as a guess', async (outcome, guess) => {
  const { told, failed } = await logIn(true, outcome)

  expect(failed).toBe(outcome)
  expect(told).toEqual(guess)
})

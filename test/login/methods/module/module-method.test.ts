import { describe, expect, test } from 'vitest'
import { Fault } from '../../../../src/kernel/errors.ts'
import { Fields } from '../../../../src/login/fields.ts'
import type { LoginAttempt } from '../../../../src/login/login-attempt.ts'
import type { LoginResult } from '../../../../src/login/methods/module/contract.ts'
import { readDeclaration } from '../../../../src/login/methods/module/declaration.ts'
import { createModuleMethod } from '../../../../src/login/methods/module/module-method.ts'

const caller = {
  userId: '7',
  roleId: '3',
  roleKey: 'editor',
  roleName: 'Editor',
  username: 'ann',
  dataScope: '5',
}
const attempt = { address: '192.0.2.7' } as LoginAttempt

/** A method whose module gives this result, and what was asked of it. */
function method(result: LoginResult | Error, exported: Readonly<Record<string, unknown>> = {}) {
  const verifyCredentials = () => undefined
  const fields = { phone: { maxBytes: 16 }, smsCode: { maxBytes: 6, optional: true } }
  const requests: unknown[] = []
  const outcomes: string[] = []
  const signedIn: unknown[] = []
  const created = createModuleMethod({
    module: {
      declaration: readDeclaration({ verifyCredentials, fields, ...exported }, 'sms'),
      async verify({ request }) {
        requests.push(request)
        if (result instanceof Error) throw result
        return result
      },
    },
    async findAccount(username) {
      if (username !== 'ann' && username !== 'off') return undefined
      return { caller, passwordHash: '', enabled: username === 'ann' }
    },
    async signIn(user) {
      signedIn.push(user)
      return { caller }
    },
    onResult: (outcome) => outcomes.push(outcome),
  })
  const bind = (fields: Readonly<Record<string, unknown>>) =>
    created.bind(new Fields('bad-login-request', Object.entries(fields)), attempt)
  const verify = () => bind({ phone: '+1' }).verify()
  return { created, bind, verify, requests, outcomes, signedIn }
}

describe('the login method of a module', () => {
  test('has the name and the steps that the module declares', () => {
    const { created } = method(undefined, { name: 'mail', captcha: false, secondFactor: false })

    expect(created).toMatchObject({ name: 'mail', captcha: false, secondFactor: false })
  })

  test('gives the module its fields and no others', async () => {
    const { bind, requests } = method(undefined)
    await bind({ phone: '+1', smsCode: '', password: 'x', uuid: 'u', code: 'c' }).verify()
    await bind({ phone: '+1', smsCode: '123456' }).verify()

    expect(requests).toEqual([{ phone: '+1' }, { phone: '+1', smsCode: '123456' }])
  })

  test.each([
    [{}],
    [{ phone: '' }],
    [{ phone: 5 }],
    [{ phone: ['+1'] }],
    [{ phone: { maxBytes: 1 } }],
    [{ phone: '+1'.repeat(9) }],
    [{ phone: '+1\0' }],
    [{ phone: '+1', smsCode: '1234567' }],
    [{ phone: '+1', smsCode: 123456 }],
  ])('refuses the fields %j before the module sees them', (fields) => {
    const { bind, requests } = method({ username: 'ann' })

    expect(() => bind(fields)).toThrow('bad-login-request')
    expect(requests).toEqual([])
  })

  test('counts guesses by the declared field, however it is spelled, and apart from account names', () => {
    const { bind } = method(undefined)
    const spellings = [
      '+49170123',
      '0049170123',
      '+49 170-123',
      '+49(170)123',
      '＋４９170123',
      '49170123',
    ]

    expect(new Set(spellings.map((phone) => bind({ phone }).name))).toEqual(
      new Set(['sms:49170123']),
    )
    expect(bind({ phone: 'Admin' }).name).toBe('sms:admin')
    expect(bind({ phone: '+++' }).name).toBe('sms:')
  })

  test('logs in an enabled account of this name', async () => {
    const { verify, outcomes } = method({ username: 'ann' })

    expect(await verify()).toEqual({ caller })
    expect(outcomes).toEqual(['accepted'])
  })

  test.each([
    ['nobody', 'no-account'],
    ['off', 'account-disabled'],
  ])('refuses the account %s: %s', async (username, kind) => {
    await expect(method({ username }).verify()).rejects.toMatchObject({ name: 'Refusal', kind })
  })

  test('links an account to a user with a subject', async () => {
    const user = { subject: 's-1', username: 'ann', role: 'editor' }
    const { verify, signedIn } = method(user)

    expect(await verify()).toEqual({ caller })
    expect(signedIn).toEqual([user])
  })

  test('asks for a code, and refuses wrong credentials', async () => {
    const asking = method('otp-needed')
    const wrong = method(undefined)

    await expect(asking.verify()).rejects.toMatchObject({ name: 'Refusal', kind: 'otp-needed' })
    expect(await wrong.verify()).toBeUndefined()
    expect([asking.outcomes, wrong.outcomes]).toEqual([['otp-needed'], ['wrong']])
  })

  test('passes on a fault of the module', async () => {
    const { verify, outcomes } = method(new Fault('login-module'))

    await expect(verify()).rejects.toMatchObject({ name: 'Fault', part: 'login-module' })
    expect(outcomes).toEqual(['failed'])
  })
})

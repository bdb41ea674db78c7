import { describe, expect, test } from 'vitest'
import { Fault, Refusal } from '../../src/kernel/errors.ts'
import { createChangePassword, type OwnAccount } from '../../src/login/change-password.ts'
import { readJsonFields } from '../../src/login/json-fields.ts'
import type { VerifiedToken } from '../../src/token/tokens.ts'

type Parts = Parameters<typeof createChangePassword>[0]

const account: OwnAccount = {
  ...{ userId: '7', username: 'alice', passwordHash: 'hash of old words' },
  ...{ hasPassword: true, enabled: true },
}
const caller = { userId: '7', roleId: '1', roleKey: 'x', roleName: '', username: 'alice' }
const token: VerifiedToken = {
  ...{ kind: 'user', id: 'token-1', userId: '7', caller: { ...caller, dataScope: '' } },
  ...{ key: { kid: undefined, identity: 'k' }, expiresAt: 2e9, notBefore: undefined, issuedAt: 1 },
}
const fields = { oldPassword: 'old words', newPassword: 'new words' }

/** Runs a change of which every step succeeds and is noted, but for those given. */
function attempt(changes: Partial<Parts> = {}, sent: unknown = fields, of: object = {}) {
  const steps: string[] = []
  const note =
    <Result>(step: string, result: Result) =>
    async () => {
      steps.push(step)
      return result
    }
  const guess = { succeeded: note('right', undefined), notChecked: note('not checked', undefined) }
  const change = createChangePassword({
    throttle: {
      address: note('limit by address', undefined),
      captcha: note('captcha', undefined),
      password: note('limit by account', guess),
    },
    local: true,
    findAccount: note('read', account),
    passwordHash: {
      verify: async (password, hash, enabled) => {
        steps.push('verify')
        return enabled === true && hash === `hash of ${password}`
      },
      hash: async (password) => {
        steps.push('hash')
        return `hash of ${password}`
      },
    },
    replacePassword: note('store', true),
    revokeOthers: note('revoke', 'everywhere'),
    ...changes,
  })
  const bytes = Buffer.from(JSON.stringify(sent))
  const result = change({
    fields: () =>
      readJsonFields({ contentType: 'application/json', bytes }, 'bad-password-request'),
    ...{ token, address: '192.0.2.1', foreign: false, ...of },
  }).then(
    (where) => where as unknown,
    (error: unknown) => (error instanceof Refusal ? error.kind : (error as Fault).part),
  )
  return result.then((answer) => ({ answer, steps }))
}

const failing = async () => {
  throw new Fault('database')
}

describe('a change of password', () => {
  test('takes its steps in order: limits before a password is hashed, tokens last', async () => {
    expect(await attempt()).toEqual({
      answer: 'everywhere',
      steps: [
        ...['limit by address', 'read', 'limit by account', 'verify', 'right'],
        ...['hash', 'store', 'revoke'],
      ],
    })
  })

  test.each([
    ['a malformed request', {}, {}, 'bad-password-request', ['limit by address']],
    ['a service', fields, { token: { ...token, kind: 'service' } }, 'no-password', 1],
    ['another issuer', fields, { token: { ...token, kind: 'issuer' } }, 'no-password', 1],
    ['no token', fields, { token: undefined }, 'no-password', 1],
    ['a new password that is too short', { ...fields, newPassword: 'x' }, {}, 'password-length', 2],
    ['a wrong old password', { ...fields, oldPassword: 'x' }, {}, 'wrong-password', 4],
  ])('stops at %s, which costs no more than it must', async (_, sent, of, kind, steps) => {
    const found = await attempt({}, sent, of)

    expect(found.answer).toBe(kind)
    expect(found.steps.length).toBe(typeof steps === 'number' ? steps : steps.length)
    expect(found.steps).not.toContain('right')
  })

  test('of an account that has a password elsewhere only counts as no guess', async () => {
    const findAccount = async () => ({ ...account, passwordHash: '!x', hasPassword: false })

    expect(await attempt({ findAccount })).toMatchObject({
      ...{ answer: 'no-password', steps: ['limit by address'] },
    })
    expect(await attempt({ local: false })).toMatchObject({
      ...{ answer: 'no-password', steps: ['limit by address'] },
    })
  })

  test('of a disabled account is refused as a wrong password', async () => {
    const findAccount = async () => ({ ...account, enabled: false })

    expect(await attempt({ findAccount })).toMatchObject({ answer: 'wrong-password' })
  })

  test('does not count a password that could not be checked', async () => {
    const verify = async () => {
      throw new Fault('password-check')
    }
    const found = await attempt({ passwordHash: { verify, hash: async () => '' } })

    expect(found.answer).toBe('password-check')
    expect(found.steps.at(-1)).toBe('not checked')
  })

  test('revokes nothing if another change came first, or the database fails', async () => {
    const late = await attempt({ replacePassword: async () => false })
    const failed = await attempt({ replacePassword: failing })

    expect([late.answer, failed.answer]).toEqual(['wrong-password', 'database'])
    expect([...late.steps, ...failed.steps]).not.toContain('revoke')
  })

  test('revokes the other tokens if the connection broke after the commit', async () => {
    let reads = 0
    const findAccount = async () =>
      ++reads === 1 ? account : { ...account, passwordHash: 'hash of new words' }

    const found = await attempt({ findAccount, replacePassword: failing })

    expect(found.answer).toBe('everywhere')
    expect(found.steps.at(-1)).toBe('revoke')
  })

  test('reports the first failure if the database stays unreachable', async () => {
    let reads = 0
    const findAccount = async () => (++reads === 1 ? account : failing())

    const found = await attempt({ findAccount, replacePassword: failing })

    expect(found.answer).toBe('database')
    expect(found.steps).not.toContain('revoke')
  })
})

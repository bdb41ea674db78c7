import { describe, expect, test } from 'vitest'
import { readResult } from '../../../../src/login/methods/module/module-result.ts'

describe('the result of a login module', () => {
  test('is wrong credentials, a request for a code, an account, or a user of another system', () => {
    const user = { subject: '1', username: 'ann', role: 'editor', displayName: 'Ann', email: 'a@b' }

    expect(readResult(undefined)).toBeUndefined()
    expect(readResult('otp-needed')).toBe('otp-needed')
    expect(readResult({ username: 'ann', role: undefined })).toEqual({ username: 'ann' })
    expect(readResult(user)).toEqual(user)
    const claims = { groups: ['a', 'b'], unit: 'x' }
    expect(readResult({ ...user, claims })).toEqual({ ...user, claims })
    expect(readResult({ ...user, claims: undefined })).toEqual(user)
  })

  test.each<[unknown, string]>([
    [true, 'returned a boolean'],
    [null, 'returned null; return { username }'],
    ['ann', 'returned a string'],
    [1, 'returned a number'],
    [['ann'], 'returned an array'],
    [{}, 'without username'],
    [{ username: '' }, 'not a text, or is empty'],
    [{ username: {} }, 'not a text, or is empty'],
    [{ username: null }, 'not a text, or is empty'],
    [{ username: 'é'.repeat(65) }, 'a username of more than 128 bytes'],
    [{ username: 'admin\0' }, 'not plain text'],
    [{ username: '\ud800' }, 'not plain text'],
    [{ subject: '1' }, 'without username'],
    [{ username: 'ann', role: 'admin' }, 'returned role without subject'],
    [{ username: 'ann', claims: { groups: [] } }, 'returned claims without subject'],
    [{ subject: '1', username: 'ann', claims: ['a'] }, 'claims that are not an object'],
    [{ subject: '1', username: 'ann', claims: 'a' }, 'claims that are not an object'],
    [{ subject: '1', username: 'ann', claim: {} }, 'did you mean claims?'],
    [{ subject: '', username: 'ann' }, 'a subject that is not a text, or is empty'],
    [{ subject: 5, username: 'ann' }, 'a subject that is not a text, or is empty'],
    [{ subject: '1', username: 'ann', rol: 'admin' }, 'did you mean role?'],
    [{ username: 'ann', constructor: 'x' }, 'unknown member "constructor"'],
    [new Map([['username', 'ann']]), 'without username'],
  ])('is never %j', (value, message) => {
    expect(() => readResult(value)).toThrow(message)
  })
})

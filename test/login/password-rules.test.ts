import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brokenPasswordRule, commonPasswords } from '../../src/login/passwords/password-rules.ts'
import { randomPassword } from '../../src/stores/accounts/random-password.ts'

const ruleOf = (text: string, username = 'alice', oldPassword?: string) =>
  brokenPasswordRule(text, { username, ...(oldPassword === undefined ? {} : { oldPassword }) })

describe('the rules of a new password', () => {
  test.each([
    ['7 bytes', 'kq7zx0v', 'password-length'],
    ['8 bytes', 'kq7zx0vw', undefined],
    ['8 bytes of 2 characters', '☕☕é', undefined],
    ['72 bytes', 'kq7zx0vw'.repeat(9), undefined],
    ['73 bytes', `${'kq7zx0vw'.repeat(9)}x`, 'password-length'],
    ['73 bytes of fewer characters', 'é'.repeat(37), 'password-length'],
    ['nothing', '', 'password-length'],
  ])('count bytes: %s', (_, text, rule) => {
    expect(ruleOf(text)).toBe(rule)
  })

  test.each(['\0', '\n', '\r', '\ufffd', '\ud800'])('refuse %j inside', (character) => {
    expect(ruleOf(`kq7zx${character}0vw29`)).toBe('password-text')
  })

  test.each([
    ['password'],
    ['Password1!'],
    ['PASSWORD'],
    ['ｐａｓｓｗｏｒｄ'],
    ['iloveyou1'],
    ['letmein123'],
    ['changeme'],
    ['pa$$w0rd'],
    ['12345678'],
    ['Summer2026!'],
    ['qwerty 2026'],
    ['postern2026'],
    ['Postern!'],
  ])('refuse the common %s', (text) => {
    expect(ruleOf(text)).toBe('password-common')
  })

  test.each([
    ['correct horse battery staple'],
    ['summer in Lisbon'],
    ['2026Summer!x'],
    ['from stdin ☕'],
    ['trustno1isbetter'],
  ])('accept %s', (text) => {
    expect(ruleOf(text)).toBeUndefined()
  })

  test.each([
    ['alice.liddell', 'alice.liddell'],
    ['alice.liddell', 'Alice.Liddell'],
    ['alice', 'alice2026!'],
    ['alice7', 'ALICE1234'],
    ['20261116', '20261116'],
  ])('refuse the name %s as %s', (username, text) => {
    expect(ruleOf(text, username)).toBe('password-name')
  })

  test('compare nothing with a name of digits after the digits are removed', () => {
    expect(ruleOf('83920174', '5')).toBeUndefined()
  })

  test('refuse the old password again, and only that', () => {
    expect(ruleOf('kq7zx0vw', 'alice', 'kq7zx0vw')).toBe('password-unchanged')
    expect(ruleOf('kq7zx0vw', 'alice', 'kq7zx0vW')).toBeUndefined()
  })

  test('refuse every listed password, however it is written and whatever follows it', () => {
    const listed = [...commonPasswords()]
    expect(listed.length).toBeGreaterThan(20_000)

    const long = listed.filter((text) => text.length >= 8)
    expect(long.filter((text) => ruleOf(text, 'x') !== 'password-common')).toEqual([])
    const words = fc.constantFrom(...listed.filter((text) => /^[a-z]{4,30}$/.test(text)))
    const tail = fc.stringMatching(/^[0-9!?.#+$ -]{8,16}$/)
    fc.assert(
      fc.property(words, tail, fc.boolean(), (word, after, upper) => {
        const text = (upper ? word.toUpperCase() : word) + after
        expect(ruleOf(text, 'x')).toBe('password-common')
      }),
    )
  })

  test('accept every password that Postern generates', () => {
    for (let time = 0; time < 1000; time++) expect(ruleOf(randomPassword())).toBeUndefined()
  })
})

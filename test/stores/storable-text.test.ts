import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exactNumber } from '../../src/stores/accounts/profile.ts'
import { randomPassword } from '../../src/stores/accounts/random-password.ts'
import { isStorable, toStorable } from '../../src/stores/database/dialect.ts'

describe('a storable text', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 300 })
  const brokenText = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 })
    .map((units) => String.fromCharCode(...units))

  test('is made of any text: no NUL, well formed, no longer than asked', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, brokenText), fc.nat(130), (text, most) => {
        const stored = toStorable(text, most)

        expect(isStorable(stored)).toBe(true)
        expect([...stored].length).toBeLessThanOrEqual(most)
      }),
    )
  })

  test('is the text itself where that fits, and else its beginning', () => {
    fc.assert(
      fc.property(anyText, fc.nat(130), (text, most) => {
        const clean = text.replaceAll('\0', '')

        expect(toStorable(text, most)).toBe([...clean].slice(0, most).join(''))
      }),
    )
  })
})

describe('an exact number', () => {
  test('is written in JSON digit by digit, however large', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(JSON.stringify({ id: exactNumber(id.toString()) })).toBe(`{"id":${id}}`)
      }),
    )
  })
})

describe('a random password', () => {
  test('is long, plain to copy and never the same', () => {
    const made = Array.from({ length: 1000 }, randomPassword)

    expect(made.every((password) => /^[a-zA-Z2-9]{16}$/.test(password))).toBe(true)
    expect(new Set(made).size).toBe(1000)
  })
})

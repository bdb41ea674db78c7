import { describe, expect, test } from 'vitest'
import { readDeclaration } from '../../../../src/login/methods/module/declaration.ts'

const verifyCredentials = () => undefined
const read = (exported: Readonly<Record<string, unknown>>) =>
  readDeclaration({ verifyCredentials, fields: { phone: {} }, ...exported }, 'sms-login')

describe('what a login module declares', () => {
  test('has safe defaults', () => {
    const fields = { phone: { maxBytes: 32 }, smsCode: { optional: true } }

    expect(read({ fields })).toEqual({
      name: 'sms-login',
      fields: [
        { name: 'phone', maxBytes: 32, optional: false },
        { name: 'smsCode', maxBytes: 256, optional: true },
      ],
      captcha: true,
      countBy: 'phone',
      secondFactor: true,
    })
  })

  test('may use the names of the captcha and the second factor without those steps', () => {
    const fields = { phone: {}, code: {}, otp: {} }

    expect(read({ fields, captcha: false, secondFactor: false, countBy: 'otp' }).countBy).toBe(
      'otp',
    )
  })

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no function', { verifyCredentials: true }, 'exports no function verifyCredentials'],
    [
      'a misspelled function',
      { verifyCredentials: undefined, verifyCredential: 1 },
      'did you mean verifyCredentials?',
    ],
    ['a misspelled option', { captha: false }, 'did you mean captcha?'],
    ['a text for a flag', { captcha: 'no' }, 'captcha: use true or false'],
    ['a number for a flag', { secondFactor: 0 }, 'secondFactor: use true or false'],
    ['a name with capitals', { name: 'SMS' }, 'name: "SMS" is not a valid name'],
    ['no fields', { fields: undefined }, 'fields: declare the fields of a login'],
    ['a list of fields', { fields: ['phone'] }, 'fields: declare the fields of a login'],
    ['an empty object of fields', { fields: {} }, 'declare 1 to 16 fields'],
    [
      'too many fields',
      { fields: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`f${at}`, {}])) },
      'declare 1 to 16 fields',
    ],
    [
      'the field of the captcha',
      { fields: { phone: {}, code: {} } },
      '"code" belongs to the captcha; use another name, such as smsCode',
    ],
    [
      'the field of the second factor',
      { fields: { otp: {} } },
      '"otp" belongs to the second factor',
    ],
    [
      'the field that chooses the method',
      { fields: { provider: {} } },
      '"provider" chooses the login method',
    ],
    [
      'a field that objects inherit',
      { fields: { constructor: {} } },
      '"constructor" is a name that every object has',
    ],
    ['a field with a dot', { fields: { 'a.b': {} } }, '"a.b" is not a valid name'],
    ['a field that is no object', { fields: { phone: 32 } }, 'fields.phone: use an object'],
    [
      'an unknown option of a field',
      { fields: { phone: { maxbyte: 3 } } },
      'did you mean maxBytes?',
    ],
    [
      'a field without a limit',
      { fields: { phone: { maxBytes: Infinity } } },
      'fields.phone.maxBytes: use a whole number from 1 to 8192',
    ],
    [
      'an unclear optional',
      { fields: { phone: { optional: 1 } } },
      'fields.phone.optional: use true or false',
    ],
    [
      'a field to count by that it does not have',
      { countBy: 'phon' },
      'countBy: "phon" is not a field (phone); did you mean phone?',
    ],
    [
      'a field to count by that may be absent',
      { fields: { a: { optional: true } } },
      'countBy: "a" is optional',
    ],
  ])('is refused with %s', (_, exported, message) => {
    expect(() => read(exported)).toThrow(message)
  })
})

import { createCipheriv, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { newRecoveryCodes, recoveryDigest } from '../../src/login/second-factor/recovery-codes.ts'
import { openSecret, sealSecret } from '../../src/login/second-factor/sealed-secret.ts'
import {
  matchingStep,
  newTotpSecret,
  totpInvitation,
} from '../../src/login/second-factor/totp-codes.ts'
import type { DerivedKeys } from '../../src/token/derived-keys.ts'
import { totpCode } from '../support/totp.ts'

const at = 1_800_000_000_000

describe('one-time codes', () => {
  test('are those of RFC 6238, appendix B', async () => {
    const secret = Buffer.from('12345678901234567890')
    const vectors: readonly (readonly [seconds: number, code: string])[] = [
      [59, '287082'],
      [1111111109, '081804'],
      [1234567890, '005924'],
      [2000000000, '279037'],
      [20000000000, '353130'],
    ]
    for (const [seconds, code] of vectors) {
      expect(totpCode(secret, seconds * 1000)).toBe(code)
      expect(await matchingStep(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
    }
  })

  test('are right one step early or late, and wrong two steps off', async () => {
    const secret = newTotpSecret()
    const step = at / 30_000

    expect(secret).toHaveLength(20)
    expect(await matchingStep(secret, totpCode(secret, at - 29_000), at)).toBe(step - 1)
    expect(await matchingStep(secret, totpCode(secret, at + 31_000), at)).toBe(step + 1)
    expect(await matchingStep(secret, totpCode(secret, at - 61_000), at)).toBeUndefined()
    expect(await matchingStep(secret, totpCode(secret, at + 61_000), at)).toBeUndefined()
  })

  test('come to an app by an address that keeps issuer and name apart', async () => {
    const secret = newTotpSecret()

    const { uri, text } = await totpInvitation(secret, { issuer: 'A & B', username: 'a:b/ü?' })

    const url = new URL(uri)
    expect(uri).toMatch(/^otpauth:\/\/totp\/A%20%26%20B:a%3Ab%2F%C3%BC%3F\?/)
    expect(url.searchParams.get('issuer')).toBe('A & B')
    expect(url.searchParams.get('secret')).toBe(text.replaceAll(' ', ''))
    expect(totpCode(text, at)).toBe(totpCode(secret, at))
  })
})

describe('recovery codes', () => {
  test('are ten different ones of 80 bits, found however people write them', () => {
    const secret = newTotpSecret()
    const codes = newRecoveryCodes(secret)

    expect(new Set(codes.map(({ digest }) => digest)).size).toBe(10)
    for (const { code, digest } of codes) {
      expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
      const lookAlike = code.replaceAll('0', 'O').replaceAll('1', 'l')
      const spellings = [code, code.toUpperCase(), code.replaceAll('-', ' '), lookAlike]
      for (const spelling of spellings) expect(recoveryDigest(secret, spelling)).toBe(digest)
    }
  })

  test('have digests of one account only, and nothing else is a code', () => {
    const [first] = newRecoveryCodes(newTotpSecret())

    expect(recoveryDigest(newTotpSecret(), first?.code ?? '')).not.toBe(first?.digest)
    for (const text of ['', '123456', 'abcd', `${first?.code}0`, 'ｂ2ym-htdb-2csz-vtb2']) {
      expect(recoveryDigest(newTotpSecret(), text)).toBeUndefined()
    }
  })
})

describe('a sealed secret', () => {
  const keysOf = (current: string, all: Readonly<Record<string, Buffer>>): DerivedKeys => ({
    current: () => ({ id: current, key: all[current]?.toString('base64url') ?? '' }),
    find: (id) => all[id]?.toString('base64url'),
  })
  const [a, b] = [randomBytes(32), randomBytes(32)]
  const secret = newTotpSecret()
  const keys = keysOf('a', { a })

  test('opens with the key that its row names, also after a rotation', () => {
    const sealed = sealSecret(keys, '7', secret)

    expect(sealed.keyId).toBe('a')
    expect(sealed.sealed).not.toContain(Buffer.from(secret).toString('base64url'))
    expect(sealSecret(keys, '7', secret).sealed).not.toBe(sealed.sealed)
    expect(Buffer.from(openSecret(keysOf('b', { a, b }), '7', sealed))).toEqual(secret)
  })

  test.each([
    ['a removed key', keysOf('b', { b }), '7', /key a, which is not loaded: restore it, or run/],
    ['another key of that name', keysOf('a', { a: b }), '7', /cannot be decrypted with key a/],
    ['the row of another account', keys, '8', /cannot be decrypted/],
  ])('is a fault with %s', (_, others, userId, reason) => {
    const sealed = sealSecret(keys, '7', secret)

    expect(() => openSecret(others, userId, sealed)).toThrow(
      expect.objectContaining({ part: 'second-factor', message: expect.stringMatching(reason) }),
    )
  })

  test.each([
    ['changed', (text: string) => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`],
    ['cut', (text: string) => text.slice(0, 30)],
    ['empty', () => ''],
    ['of an unknown version', (text: string) => text.replace('v1.', 'v2.')],
    ['sealed with a tag of four bytes', () => withShortTag(a)],
  ])('is a fault when it is %s', (_, change) => {
    const { keyId, sealed } = sealSecret(keys, '7', secret)

    expect(() => openSecret(keys, '7', { keyId, sealed: change(sealed) })).toThrow(
      expect.objectContaining({ part: 'second-factor' }),
    )
  })

  test('is a fault under the name of another key', () => {
    const { sealed } = sealSecret(keys, '7', secret)

    expect(() => openSecret(keysOf('a', { a, b: a }), '7', { keyId: 'b', sealed })).toThrow(
      expect.objectContaining({ part: 'second-factor' }),
    )
  })

  /** What an attacker who writes to the database can forge in 2^32 tries where short tags are accepted. */
  function withShortTag(key: Buffer): string {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 4 })
    cipher.setAAD(Buffer.from(JSON.stringify(['postern_totp', 'sealed', '7', 'a'])))
    const text = Buffer.concat([cipher.update(secret), cipher.final()])
    return `v1.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`
  }
})

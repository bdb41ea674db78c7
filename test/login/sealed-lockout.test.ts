import { describe, expect, test } from 'vitest'
import { openLockout, sealLockout } from '../../src/login/lockouts/sealed-lockout.ts'

const secret = 'a secret derived from the signing key'
const lockout = {
  kind: 'pair',
  ...{ key: 'login:pair:abc', name: 'hunter2', block: '192.0.2.7' },
  ...{ lockoutMs: 60_000, attempts: 5 },
} as const

describe('a sealed lock-out', () => {
  const { key, kind } = lockout

  test('says who is locked out to holders of the secret', () => {
    const sealed = sealLockout(secret, lockout)

    expect(openLockout(secret, { key, kind, sealed })).toEqual({
      ...{ kind, name: 'hunter2', block: '192.0.2.7', attempts: 5 },
    })
  })

  test('says nothing without the secret, and never the same twice', () => {
    const sealed = sealLockout(secret, lockout)

    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('hunter2')
    expect(sealLockout(secret, lockout)).not.toBe(sealed)
    expect(openLockout('another secret', { key, kind, sealed })).toBeUndefined()
  })

  test('is worthless under another key or kind, changed, cut, or of somebody else', () => {
    const sealed = sealLockout(secret, lockout)
    const changed = `${sealed.slice(0, 40)}${sealed[40] === 'A' ? 'B' : 'A'}${sealed.slice(41)}`

    expect(openLockout(secret, { key: 'login:pair:other', kind, sealed })).toBeUndefined()
    expect(openLockout(secret, { key, kind: 'account', sealed })).toBeUndefined()
    expect(openLockout(secret, { key, kind: 'nothing', sealed })).toBeUndefined()
    expect(openLockout(secret, { key, kind, sealed: changed })).toBeUndefined()
    for (const length of [0, 10, 37, sealed.length - 4]) {
      expect(openLockout(secret, { key, kind, sealed: sealed.slice(0, length) })).toBeUndefined()
    }
  })

  test('is short, however long the name', () => {
    const sealed = sealLockout(secret, { ...lockout, name: 'x'.repeat(100_000) })

    expect(sealed.length).toBeLessThan(400)
  })
})

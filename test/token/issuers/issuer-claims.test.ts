import { describe, expect, test } from 'vitest'
import type { Issuer } from '../../../src/token/issuers/issuer.ts'
import { readIssuerClaims } from '../../../src/token/issuers/issuer-claims.ts'

const issuer: Issuer = {
  issuer: 'https://sso.example.com/realms/shop',
  name: 'sso',
  audience: ['postern', 'shop'],
  algorithms: ['ES256'],
  claims: {
    userId: 'sub',
    userName: 'preferred_username',
    roleKey: '/realm_access/roles',
    dataScope: 'scope_of_rows',
  },
  roles: [
    { value: 'shop-admin', role: 'admin', dataScope: '1' },
    { value: 'shop-editor', role: 'editor' },
  ],
  userIdPrefix: 'sso:',
  maxLifetimeSeconds: 3600,
}
const claims = {
  iss: issuer.issuer,
  aud: 'postern',
  sub: 'f3a1',
  preferred_username: 'ann',
  realm_access: { roles: ['offline_access', 'shop-editor'] },
  exp: 2000,
  iat: 1000,
  nbf: 1000,
  jti: 'j1',
}
const read = (changes: object, change: Partial<Issuer> = {}) =>
  readIssuerClaims({ ...claims, ...changes }, { ...issuer, ...change })
const reasonOf = (...given: Parameters<typeof read>) => {
  try {
    read(...given)
    return undefined
  } catch (error) {
    return (error as { detail: { reason: string } }).detail.reason
  }
}

describe('the claims of another issuer', () => {
  test('become a caller with a prefixed user ID and the least data scope', () => {
    expect(read({})).toEqual({
      caller: {
        ...{ userId: 'sso:f3a1', username: 'ann', roleKey: 'editor' },
        ...{ roleId: '0', roleName: '', dataScope: '5' },
      },
      ...{ subject: 'f3a1', tokenId: 'j1' },
      ...{ expiresAt: 2000, issuedAt: 1000, notBefore: 1000 },
    })
  })

  test('give the first role in the order of the configuration, whatever the order of the token', () => {
    const held = { roles: ['shop-editor', 'shop-admin'] }

    expect(read({ realm_access: held }).caller).toMatchObject({ roleKey: 'admin', dataScope: '1' })
  })

  test('may have the role as one text', () => {
    const names = { userId: 'sub', roleKey: 'sub' }
    const roles = [{ value: 'system:serviceaccount:shop:ci', role: 'editor' }]
    const { caller } = read(
      { sub: 'system:serviceaccount:shop:ci' },
      { claims: names, roles, userIdPrefix: 'k8s:' },
    )

    expect(caller).toMatchObject({
      userId: 'k8s:system:serviceaccount:shop:ci',
      username: 'system:serviceaccount:shop:ci',
      roleKey: 'editor',
    })
  })

  test.each([
    ['a name with a dot and slashes', 'https://example.com/id', { 'https://example.com/id': 'x' }],
    [
      'a pointer',
      '/kubernetes.io/serviceaccount/name',
      { 'kubernetes.io': { serviceaccount: { name: 'x' } } },
    ],
    ['a pointer with escapes', '/a~1b/c~0d', { 'a/b': { 'c~d': 'x' } }],
    ['a pointer to a name with a slash', '/a~1b', { 'a/b': 'x' }],
    ['a number', 'id', { id: 42 }],
  ])('are found by %s', (_, userId, more) => {
    const { subject } = read(more, { claims: { ...issuer.claims, userId } })

    expect(subject).toBe(userId === 'id' ? '42' : 'x')
  })

  test.each(['/a/0', '/a/length', 'constructor', '/__proto__/x', '/sub/length', '/'])(
    'have nothing at %s',
    (userId) => {
      const names = { ...issuer.claims, userId }

      expect(reasonOf({ a: ['x'] }, { claims: names })).toMatch(/is not a user ID/)
    },
  )

  test.each([
    ['another audience', { aud: 'other' }, /audience/],
    ['no audience', { aud: undefined }, /audience/],
    ['an audience that is not a text', { aud: [['postern']] }, /audience/],
    ['a part of the audience', { aud: 'post' }, /audience/],
    ['no expiry', { exp: undefined }, /exp is missing/],
    ['its expiry as text', { exp: '2000' }, /exp is not a time/],
    ['its start as text', { nbf: '1' }, /nbf is not a time/],
    ['its issue time as text', { iat: '1' }, /iat is not a time/],
    ['no user ID', { sub: undefined }, /sub is not a user ID/],
    ['an empty user ID', { sub: '' }, /sub is not a user ID/],
    ['a long user ID', { sub: 'x'.repeat(256) }, /sub is not a user ID/],
    ['a user ID with a line break', { sub: 'a\nb' }, /sub is not a user ID/],
    ['a user ID with half a character', { sub: 'a\ud800' }, /sub is not a user ID/],
    ['a list as user ID', { sub: ['a'] }, /sub is not a user ID/],
    ['a fraction as user ID', { sub: 1.5 }, /sub is not a user ID/],
    [
      'a user name that is not a text',
      { preferred_username: {} },
      /preferred_username is not a text/,
    ],
    ['no role claim', { realm_access: undefined }, /with the role is missing/],
    ['no role', { realm_access: { roles: [] } }, /no entry of roles matches/],
    ['an unmapped role', { realm_access: { roles: ['admin'] } }, /no entry of roles matches/],
    ['a role in other letters', { realm_access: { roles: ['Shop-Admin'] } }, /no entry/],
    ['a role in a list in the list', { realm_access: { roles: [['shop-admin']] } }, /no entry/],
    ['an invalid data scope', { scope_of_rows: 'everything' }, /is not a data scope/],
  ])('are refused with %s', (_, changes, reason) => {
    expect(reasonOf(changes)).toMatch(reason)
  })

  test('may list several audiences', () => {
    expect(read({ aud: ['account', 'shop'] }).subject).toBe('f3a1')
  })

  test.each([
    ['3', '3'],
    [4, '4'],
    ['all', '1'],
  ])('may name the data scope: %s', (claimed, scope) => {
    expect(read({ scope_of_rows: claimed }).caller.dataScope).toBe(scope)
  })

  test('leave the data scope to the role where that has one', () => {
    const changes = { realm_access: { roles: 'shop-admin' }, scope_of_rows: '3' }

    expect(read(changes).caller.dataScope).toBe('1')
  })

  test('keep the user ID as it is only where the configuration says so', () => {
    expect(read({ sub: '1' }, { userIdPrefix: '' }).caller.userId).toBe('1')
    expect(read({ sub: '1' }).caller.userId).toBe('sso:1')
  })
})

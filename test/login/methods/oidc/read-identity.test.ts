import { expect, test } from 'vitest'
import { readIdentity } from '../../../../src/login/methods/oidc/read-identity.ts'

const settings = {
  ...{ name: 'corp', issuer: 'https://idp.example', clientId: 'postern' },
  ...{
    redirectUri: 'https://app.example/callback',
    appRedirectUris: [],
    idTokenAlgorithm: 'RS256',
  },
  claims: { username: 'preferred_username', displayName: 'name', email: 'email', groups: 'groups' },
  roles: [
    { value: 'admins', role: 'admin' },
    { value: 'staff', role: 'editor' },
  ],
  ...{ create: true, linkByUsername: true },
}

const read = (claims: Record<string, unknown>, username = 'preferred_username') =>
  readIdentity(
    { sub: 's', preferred_username: 'ada', email: 'ada@corp.example', groups: 'staff', ...claims },
    { ...settings, claims: { ...settings.claims, username } },
  )

test.each([
  [['staff', 'admins'], 'admin'],
  [['staff'], 'editor'],
  ['admins', 'admin'],
])('the first entry of roles that a group equals wins: %j', (groups, role) => {
  expect(read({ groups }).roleKey).toBe(role)
})

test.each([
  [undefined],
  [null],
  [[]],
  ['staff admins'],
  ['staff,admins'],
  ['Admins'],
  [' admins'],
  [['ADMINS', 'admins ', 'ａdmins']],
  [[['admins']]],
  [{ admins: true }],
  [{ 0: 'admins', length: 1 }],
  [[{ value: 'admins' }]],
])('nothing that merely resembles a group gives a role: %j', (groups) => {
  const { roleKey, roleProblem } = read({ groups })
  expect({ roleKey, roleProblem }).toEqual({
    ...{ roleKey: undefined, roleProblem: expect.stringContaining('claim groups that roles') },
  })
})

test('an email address is a user name only if the provider has verified it', () => {
  for (const claim of ['email', '/email']) {
    const isDoubtful = (value: unknown) => read({ email_verified: value }, claim).hasUnverifiedName
    expect([true, 'true'].map(isDoubtful)).toEqual([false, false])
    expect([undefined, false, 'false', null, 1, {}].filter(isDoubtful)).toHaveLength(6)
  }
  expect(read({ email_verified: false }).hasUnverifiedName).toBe(false)
})

import { expect, test } from 'vitest'
import { Fault } from '../../../../src/kernel/errors.ts'
import { createDirectoryCredentials } from '../../../../src/login/methods/ldap/directory-credentials.ts'

const caller = {
  ...{ userId: '1', username: 'ann', roleId: '2', roleKey: 'editor', roleName: '', dataScope: '' },
}

test('the directory decides while the hashing of passwords is busy, so that a guess counts', async () => {
  const base = 'ou=groups,dc=x'
  const person = {
    ...{ subject: 's', username: 'ann', displayName: 'Ann Lee', email: undefined },
    groups: [`cn=Staff,${base}`, `cn=admins,ou=other,${base}`, 'managers'],
    entry: { dn: 'uid=ann', values: new Map([['ou', ['Sales', Buffer.of(1)]]]) },
  }
  const picked: unknown[] = []
  const verify = createDirectoryCredentials({
    name: 'ldap',
    verifyInDirectory: async ({ password }) => (password === 'right' ? person : undefined),
    linkedAccounts: { signIn: async () => ({ caller }), isLocal: async () => false },
    verifyPassword: undefined,
    passwordHash: {
      async verifyDummy() {
        throw new Fault('password-check', { reason: 'too many logins at once' })
      },
    },
    rules: { create: false, linkByUsername: false },
    groups: { base },
    pick(whose, find) {
      const names = ['name', 'email', 'groups', 'OU', 'constructor', 'toString']
      picked.push(whose, ...names.map(find))
      return { claims: { name: 'Ann Lee' } }
    },
  })

  expect(await verify({ username: 'ann', password: 'wrong' })).toBeUndefined()
  expect(await verify({ username: 'ann', password: 'right' })).toEqual({
    ...{ caller, claims: { name: 'Ann Lee' } },
  })
  // Another group may have the name of one that is not right below the base.
  const groups = ['Staff', `cn=admins,ou=other,${base}`, 'managers']
  expect(picked).toEqual(['ann', 'Ann Lee', undefined, groups, ['Sales'], [], []])
})

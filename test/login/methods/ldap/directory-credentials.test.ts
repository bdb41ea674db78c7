import { expect, test } from 'vitest'
import { Fault } from '../../../../src/kernel/errors.ts'
import { createDirectoryCredentials } from '../../../../src/login/methods/ldap/directory-credentials.ts'

const caller = {
  ...{ userId: '1', username: 'ann', roleId: '2', roleKey: 'editor', roleName: '', dataScope: '' },
}

test('the directory decides while the hashing of passwords is busy, so that a guess counts', async () => {
  const person = { subject: 's', username: 'ann', displayName: undefined, email: undefined }
  const verify = createDirectoryCredentials({
    name: 'ldap',
    verifyInDirectory: async ({ password }) =>
      password === 'right' ? { ...person, groups: [] } : undefined,
    linkedAccounts: { signIn: async () => ({ caller }), isLocal: async () => false },
    verifyPassword: undefined,
    passwordHash: {
      async verifyDummy() {
        throw new Fault('password-check', { reason: 'too many logins at once' })
      },
    },
    rules: { create: false, linkByUsername: false },
  })

  expect(await verify({ username: 'ann', password: 'wrong' })).toBeUndefined()
  expect(await verify({ username: 'ann', password: 'right' })).toEqual({ caller })
})

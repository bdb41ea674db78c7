import { expect, test } from 'vitest'
import { Fault } from '../../../../src/kernel/errors.ts'
import { createBackChannelLogout } from '../../../../src/login/methods/oidc/open-logouts.ts'

test('a logout that failed here can be repeated by the provider, and one that succeeded cannot', async () => {
  const claimed = new Set<string>()
  const revoked: string[] = []
  let isDown = true
  const end = createBackChannelLogout({
    provider: 'corp',
    verify: async () => ({
      ...{ tokenId: 'jti', subject: 'ada', session: undefined, expiresAt: 1000 },
    }),
    claim: async (name) => claimed.size < claimed.add(name).size,
    async tokensOf() {
      if (isDown) throw new Fault('database')
      return [{ id: 'token', userId: '1' }]
    },
    revoke: async ({ id }) => revoked.push(id),
    record: async () => {},
  })

  await expect(end('logout token')).rejects.toBeInstanceOf(Fault)
  isDown = false
  expect(await end('logout token')).toBe(1)
  await expect(end('logout token')).rejects.toMatchObject({ kind: 'bad-logout-token' })
  expect(revoked).toEqual(['token'])
})

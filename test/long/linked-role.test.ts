import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { createLinkedAccounts } from '../../src/stores/identities/linked-accounts.ts'
import { createDatabaseRevocations } from '../../src/stores/revocations/database-revocations.ts'
import { createRevocationFeed } from '../../src/stores/revocations/revocation-feed.ts'
import { secretAlone } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import { createRevocations } from '../../src/token/revocations.ts'
import { createTokens } from '../../src/token/tokens.ts'
import { userRevocation } from '../../src/token/user-marks.ts'
import { type RunningDatabase, testDatabases } from '../stores/test-databases.ts'
import { testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const rules = { create: true, linkByUsername: false, syncRole: true }
const ann = { provider: 'corp', subject: 's', username: 'ann' }

describe.each(testDatabases())('a login that changes the role, in $name', ({ start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  test.each([0, -20_000, 20_000])(
    'revokes the tokens before it and not its own, with a clock that is %i ms off',
    async (offMs) => {
      const database = await server.fresh()
      await seedAccounts(database, async () => 'hash')
      const keys = secretAlone(await secretKey(testSecret))
      const replica = async (now: () => number) => {
        const revocations = createRevocations(now)
        const store = createDatabaseRevocations(database)
        const feed = createRevocationFeed({
          ...{ store, revocations, now, maxAgeMs: 60_000, whenStale: 'serve' },
          log: { info: () => {}, warn: () => {} },
        })
        await feed.start()
        onTestFinished(feed.close)
        const tokens = createTokens({
          ...{ keys: () => keys, revocations, now: () => now() / 1000 },
          ...{ lifetimeSeconds: 3600, maxLifetimeSeconds: undefined },
          ...{ maxTokenBytes: 4096, clockSkewSeconds: 60 },
        })
        const { signIn } = createLinkedAccounts(database, {
          now: () => now() / 1000,
          revokeTokensOf: (userId) =>
            feed.revokeUser(userRevocation(userId, { longestLifetimeSeconds: 3600 }, now())),
        })
        const logIn = async (roleKey: string | undefined) => {
          const role = roleKey === undefined ? { roleProblem: 'no group' } : { roleKey }
          const { caller, readAt } = await signIn({ ...ann, ...role }, rules)
          return (await tokens.issue(caller, readAt)).token
        }
        const isAccepted = (token: string) =>
          Promise.resolve(token)
            .then(tokens.verify)
            .then(
              () => true,
              () => false,
            )
        return { logIn, isAccepted }
      }
      const here = await replica(() => Date.now() + offMs)
      const there = await replica(Date.now)

      const old = await here.logIn('viewer')
      const elsewhere = await there.logIn('viewer')
      expect(await here.isAccepted(old)).toBe(true)
      const changed = await here.logIn('editor')

      expect(await here.isAccepted(changed)).toBe(true)
      for (const { isAccepted } of [here, there]) {
        await until(async () => !(await isAccepted(old)) && !(await isAccepted(elsewhere)))
        expect(await isAccepted(changed)).toBe(true)
      }
      const back = await here.logIn('viewer')
      for (const { isAccepted } of [here, there]) {
        await until(async () => !(await isAccepted(changed)))
        expect(await isAccepted(back)).toBe(true)
      }
      // Without a role, or with one that does not exist, there is no new token, and no old one either.
      for (const [at, lost] of [undefined, 'no-such-role'].entries()) {
        const held = await here.logIn(at === 0 ? 'viewer' : 'editor')
        await expect(here.logIn(lost)).rejects.toMatchObject({ kind: 'no-role' })
        for (const { isAccepted } of [here, there]) {
          await until(async () => !(await isAccepted(held)))
        }
      }
    },
  )
})

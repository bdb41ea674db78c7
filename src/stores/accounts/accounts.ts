import type { Account } from '../../login/method-kind.ts'
import { type Database, withFaults } from '../database/database.ts'
import { isStorable, live } from '../database/dialect.ts'
import {
  accountOf,
  callerColumns,
  callerIn,
  isService,
  liveAccounts,
  status,
} from './account-queries.ts'
import { createBounded } from './bounded.ts'
import { toProfile } from './profile.ts'

const highestId = 2n ** 63n - 1n

/**
 * The queries of login and profile. Every error of the driver becomes a Fault. Reads go-admin's
 * `sys_user` and `sys_role`. Nothing takes longer than `timeoutMs`: a client waits for both a
 * connection and its answer.
 */
export function createAccounts({ db, shapes }: Database, timeoutMs = 10_000) {
  const bounded = createBounded(timeoutMs)

  async function find(username: string): Promise<Account | undefined> {
    const shape = await shapes()
    const row = await accountOf(db, shape, username)
      .select([...callerColumns, 'u.password', 'u.status'])
      // Whatever go-admin wrote into its row: programs get tokens from operators only.
      .where(({ not }) => not(isService(shape)))
      .executeTakeFirst()

    // The policy decides by role key: without one it cannot decide.
    if (!row?.role_key) return undefined
    return {
      caller: callerIn(row),
      passwordHash: row.password ?? '',
      enabled: row.status === status.enabled,
    }
  }

  async function readState(userId: string) {
    const shape = await shapes()
    const row = await liveAccounts(db, shape)
      .select(['u.status', 'r.role_key'])
      .where('u.user_id', '=', userId)
      .where(({ not }) => not(isService(shape)))
      .executeTakeFirst()
    if (!row?.role_key) return undefined
    return { roleKey: row.role_key, enabled: row.status === status.enabled }
  }

  async function readProfile(userId: string) {
    const { users, roles } = await shapes()
    const user = await db
      .selectFrom('sys_user as u')
      .selectAll()
      .where('u.user_id', '=', userId)
      .where(live('u', users))
      .executeTakeFirst()
    if (user === undefined) return undefined

    const role = await db
      .selectFrom('sys_role as r')
      .selectAll()
      .where('r.role_id', '=', user.role_id)
      .where(live('r', roles))
      .executeTakeFirst()
    return toProfile(user, role)
  }

  async function passwordCosts(): Promise<number[]> {
    const { users } = await shapes()
    const rows = await db
      .selectFrom('sys_user as u')
      .select(({ fn, lit }) =>
        fn<string | null>('substring', ['u.password', lit(1), lit(7)]).as('start'),
      )
      .where(live('u', users))
      .distinct()
      .execute()
    const costs = rows.map(({ start }) => /^\$2[aby]\$(\d{2})\$$/.exec(start ?? '')?.[1])
    return [...new Set(costs.flatMap((cost) => (cost === undefined ? [] : [Number(cost)])))]
  }

  return {
    /** The bcrypt costs of the passwords of all live accounts, each once. */
    passwordCosts: () => withFaults(passwordCosts),
    // No account has a name that no column can hold; the server would report an error.
    /** The live account of this name with its live role, or `undefined` when either is missing. */
    findByUsername: async (username: string) =>
      isStorable(username) ? bounded(() => find(username)) : undefined,
    /** Role and state of the live account with this ID; `undefined` without a live role. */
    currentState: async (userId: string) =>
      isId(userId) ? bounded(() => readState(userId)) : undefined,
    /** The account's data as its owner may see it, without password and salt. */
    profile: async (userId: string) =>
      isId(userId) ? bounded(() => readProfile(userId)) : undefined,
  }
}

/** Whether a token's user ID can be that of an account. */
export function isId(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) <= highestId
}

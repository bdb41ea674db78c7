import type { SqlBool } from 'kysely'
import { type Database, withFaults } from '../database/database.ts'
import { isStorable, live, same, utcText } from '../database/dialect.ts'
import {
  hasSecondFactor,
  inOrderOfLogin,
  isService,
  liveAccounts,
  status,
} from './account-queries.ts'
import { hasPassword } from './unusable-password.ts'

/** One line of the list of accounts. The role key is empty when the role is missing. */
interface AccountSummary {
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly enabled: boolean
  readonly kind: 'user' | 'service'
  /** Whether it has one-time codes. */
  readonly secondFactor: boolean
}

/** An account as operators see it, without password and salt. */
export interface AccountDetails extends AccountSummary {
  /** False for people whom another system vouches for, and for service accounts. */
  readonly hasPassword: boolean
  readonly roleName: string
  /** As stored: go-admin's number, or what else someone wrote. */
  readonly dataScope: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/** Which accounts to list; absent: all. */
interface SomeAccounts {
  /** How their names begin, in any case. */
  readonly startsWith?: string | undefined
  readonly limit?: number | undefined
}

/**
 * Which accounts and roles exist. Every error of the driver becomes a Fault. Reads go-admin's
 * `sys_user` and `sys_role` for operators.
 */
export function createAccountDirectory({ db, shapes }: Database) {
  async function idsOf(username: string): Promise<readonly string[]> {
    const rows = await liveAccounts(db, await shapes())
      .select('u.user_id as id')
      .where(same('u.username', username))
      .orderBy('u.user_id')
      .execute()
    return rows.map(({ id }) => id)
  }

  async function list({ startsWith = '', limit }: SomeAccounts = {}) {
    const shape = await shapes()
    if (!isStorable(startsWith)) return []
    const rows = await liveAccounts(db, shape)
      .select(['u.user_id', 'u.username', 'u.status', 'r.role_key'])
      .select([isService(shape).as('service'), hasSecondFactor(shape).as('secondFactor')])
      .$if(startsWith !== '', (query) =>
        query.where(({ eb, fn, val }) => {
          const start = fn('left', ['u.username', val([...startsWith].length)])
          return eb(fn('lower', [start]), '=', fn('lower', [val(startsWith)]))
        }),
      )
      .$if(limit !== undefined, (query) => query.limit(limit ?? 1))
      .orderBy('u.user_id')
      .execute()
    return rows.map(summary)
  }

  async function show(username: string): Promise<readonly AccountDetails[]> {
    const shape = await shapes()
    const rows = await inOrderOfLogin(liveAccounts(db, shape))
      .select(['u.username', 'u.status', 'r.role_key', 'r.role_name', 'r.data_scope'])
      .select(['u.user_id', 'u.password'])
      .select([isService(shape).as('service'), hasSecondFactor(shape).as('secondFactor')])
      .select([utcText('u.created_at').as('createdAt'), utcText('u.updated_at').as('updatedAt')])
      .where(same('u.username', username))
      .execute()
    return rows.map((row) => ({
      ...summary(row),
      hasPassword: hasPassword(row.password),
      roleName: row.role_name ?? '',
      dataScope: row.data_scope ?? '',
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    }))
  }

  async function roleKeys(): Promise<readonly string[]> {
    const { roles } = await shapes()
    const rows = await db
      .selectFrom('sys_role as r')
      .select('r.role_key')
      .where(live('r', roles))
      .orderBy('r.role_id')
      .execute()
    return rows.flatMap(({ role_key: key }) => key || [])
  }

  return {
    // No account has a name that no column can hold; the server would report an error.
    /** The ids of every live account of this name. */
    idsOf: async (username: string): Promise<readonly string[]> =>
      isStorable(username) ? withFaults(() => idsOf(username)) : [],
    /** Every live account of this name, first the one that login would choose. */
    show: async (username: string): Promise<readonly AccountDetails[]> =>
      isStorable(username) ? withFaults(() => show(username)) : [],
    list: (some?: SomeAccounts): Promise<readonly AccountSummary[]> => withFaults(() => list(some)),
    /** The keys of the live roles. */
    roleKeys: () => withFaults(roleKeys),
  }
}

type AccountRow = { readonly user_id: string } & Readonly<
  Record<'username' | 'role_key' | 'status', string | null> &
    Record<'service' | 'secondFactor', SqlBool>
>

function summary(row: AccountRow): AccountSummary {
  return {
    userId: row.user_id,
    username: row.username ?? '',
    roleKey: row.role_key ?? '',
    enabled: row.status === status.enabled,
    kind: row.service ? 'service' : 'user',
    secondFactor: Boolean(row.secondFactor),
  }
}

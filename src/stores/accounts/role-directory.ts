import type { Expression, SqlBool } from 'kysely'
import { type Database, type TableShapes, withFaults } from '../database/database.ts'
import { isStorable, live, same, utcText } from '../database/dialect.ts'
import { isService, liveAccounts, status } from './account-queries.ts'

/** How many names of a role's accounts one answer carries. */
const mostNames = 100

/** A live role. The data scope is as stored: go-admin's number, or what else someone wrote. */
export interface RoleSummary {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  readonly dataScope: string
  /** The live accounts of people that have it. */
  readonly users: { readonly enabled: number; readonly disabled: number }
  readonly services: number
}

/**
 * Which roles exist. Every error of the driver becomes a Fault. Reads go-admin's `sys_role` for
 * operators.
 */
export function createRoleDirectory({ db, shapes }: Database) {
  async function read(shape: TableShapes, roleKey?: string) {
    const counted = db
      .selectFrom('sys_user as u')
      .select(({ and, case: when, eb, fn, lit, not, val }) => {
        const isEnabled = eb(fn.coalesce('u.status', val('')), '=', status.enabled)
        const service = isService(shape)
        const many = (condition: Expression<SqlBool>) =>
          fn.count<string>(when().when(condition).then(lit(1)).end())
        return [
          'u.role_id',
          many(and([not(service), isEnabled])).as('enabled'),
          many(and([not(service), not(isEnabled)])).as('disabled'),
          many(service).as('services'),
        ]
      })
      .where(live('u', shape.users))
      .groupBy('u.role_id')
    return db
      .selectFrom('sys_role as r')
      .leftJoin(counted.as('counted'), 'counted.role_id', 'r.role_id')
      .select(['r.role_id', 'r.role_key', 'r.role_name', 'r.data_scope'])
      .select([utcText('r.created_at').as('createdAt'), utcText('r.updated_at').as('updatedAt')])
      .select(['counted.enabled', 'counted.disabled', 'counted.services'])
      .where(live('r', shape.roles))
      .$if(roleKey !== undefined, (all) => all.where(same('r.role_key', roleKey ?? '')))
      .orderBy('r.role_id')
      .execute()
  }

  async function accountsWith(shape: TableShapes, roleId: string) {
    const rows = await liveAccounts(db, shape)
      .select('u.username')
      .select(isService(shape).as('service'))
      .where('u.role_id', '=', roleId)
      .orderBy('u.user_id')
      .limit(mostNames)
      .execute()
    return rows.map(({ username, service }) => {
      return { username: username ?? '', kind: service ? ('service' as const) : ('user' as const) }
    })
  }

  return {
    list: (): Promise<readonly RoleSummary[]> =>
      withFaults(async () => (await read(await shapes())).map((row) => summary(row))),
    /** Every live role with this key: old databases can hold a key twice. */
    show: (roleKey: string) =>
      withFaults(async () => {
        if (!isStorable(roleKey)) return []
        const shape = await shapes()
        const rows = await read(shape, roleKey)
        return Promise.all(
          rows.map(async (row) => ({
            ...summary(row),
            createdAt: row.createdAt,
            updatedAt: row.updatedAt,
            /** The first of its accounts by ID; compare with the counts. */
            accounts: await accountsWith(shape, row.role_id),
          })),
        )
      }),
  }
}

/** The counts are NULL for a role without accounts. */
type RoleRow = { readonly role_id: string } & Readonly<
  Record<
    'role_key' | 'role_name' | 'data_scope' | 'enabled' | 'disabled' | 'services',
    string | null
  >
>

function summary(row: RoleRow): RoleSummary {
  return {
    roleId: row.role_id,
    roleKey: row.role_key ?? '',
    name: row.role_name ?? '',
    dataScope: row.data_scope ?? '',
    users: { enabled: Number(row.enabled), disabled: Number(row.disabled) },
    services: Number(row.services),
  }
}
